import base64
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from tests.functions.site import error

TARGET = "http://127.0.0.1:8321/api/connect/callback?state=abc"


ENGINE = "engine@https://relayed.example,https://second.example:8443"


def register(site, target=TARGET, role="engine"):
    """Register a target and return the path of its address."""
    reply = site.send("relay", "POST", "/r", {"target": target}, role=role)
    assert reply.status_code == 201, reply.text
    url = urlsplit(reply.json["url"])
    assert f"{url.scheme}://{url.netloc}" == "https://habilis.example"
    return url.path


def test_the_browser_is_sent_on_with_what_the_service_added(site):
    path = register(site)

    reply = site.browse("relay", f"{path}?site=https%3A%2F%2Fblog.example&token=a%2Bb+c")

    assert reply.status_code == 303
    assert reply.headers["Location"] == f"{TARGET}&site=https%3A%2F%2Fblog.example&token=a%2Bb+c"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert reply.headers["Cache-Control"] == "no-store"


def test_it_is_sent_on_once_and_told_so_afterwards(site):
    path = register(site)
    site.browse("relay", f"{path}?token=tok-0123456789")

    again = site.browse("relay", f"{path}?token=tok-0123456789")
    unknown = site.browse("relay", "/r/unknown")

    assert (again.status_code, unknown.status_code) == (410, 404)
    assert again.text == unknown.text
    assert "Location" not in again.headers


def test_an_address_lives_for_ten_minutes(site):
    path = register(site)
    site.move_clock(timedelta(minutes=10, seconds=1))

    late = site.browse("relay", path)
    again = site.browse("relay", path)

    assert (late.status_code, again.status_code) == (410, 410)


def test_of_many_browsers_at_once_one_is_sent_on(site):
    path = register(site)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: site.clients["relay"].application.test_client().get(path), range(8)))

    assert [reply.status_code for reply in replies].count(303) == 1


def test_the_target_is_only_what_was_registered(site):
    path = register(site)
    headers = {"Host": "evil.test", "X-Forwarded-Host": "evil.test"}

    reply = site.clients["relay"].get(f"{path}?next=https://evil.test&target=//evil.test", headers=headers)

    assert reply.headers["Location"].startswith(TARGET)


def test_no_other_method_uses_an_address_up(site):
    path = register(site)

    for method in ("HEAD", "POST", "OPTIONS", "DELETE"):
        assert site.raw("relay", path, method=method, headers={}).status_code == 401
    reply = site.browse("relay", path)

    assert reply.status_code == 303


def test_odd_bytes_of_a_query_are_written_anew(site):
    path = register(site)

    reply = site.clients["relay"].get(path, environ_overrides={"QUERY_STRING": 'a=\xc3\xa9"<b>\x7f|`&c=%zz'})

    assert reply.headers["Location"] == f"{TARGET}&a=%C3%A9%22%3Cb%3E%7F%7C%60&c=%zz"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.test/cb",
        "http://127.0.0.1.evil.test/",
        "http://127.0.0.1@evil.test/",
        "http://127.0.0.1\\@evil.test/",
        "http://127.0.0.1\\.evil.test/",
        "http://127.0.0.1:80\t80/cb",
        "http://127.0.0.1\t.evil.test/",
        "http://127.0.0.1/cb\r\nSet-Cookie: a=b",
        "http://127.0.0.1/cb#",
        "http://127.0.0.1",
        "http://localhost.evil.test/cb",
        "http://[::1].evil.test/cb",
        "http://0.0.0.0/cb",
        "http://2130706433/cb",
        "http://habilis.example/cb",
        "https://habilis.example/cb",
        "https://relayed.example.evil.test/cb",
        "https://relayed.example@evil.test/cb",
        "https://relayed.example:8443/cb",
        "HTTPS://relayed.example/cb",
        "//127.0.0.1/cb",
        "javascript:alert(1)",
        "javascript://127.0.0.1/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "",
        " http://127.0.0.1/cb",
        "http://127.0.0.1/é",
    ],
)
def test_other_targets_are_not_registered(site, target):
    before = site.files()

    reply = site.send("relay", "POST", "/r", {"target": target}, role=ENGINE)

    assert (reply.status_code, error(reply)["code"]) == (400, "bad_input")
    assert site.files() == before


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:8321/api/connect/callback?state=a-b_c",
        "http://localhost/api/connect/callback",
        "https://[::1]:9000/x?y=%2F",
        "https://relayed.example/api/connect/callback?state=abc",
        "https://second.example:8443/cb",
    ],
)
def test_loopback_and_the_engines_own_origins_are(site, target):
    reply = site.browse("relay", register(site, target, ENGINE))

    assert reply.headers["Location"] == target


@pytest.mark.parametrize("role", ["engine", "operator", "admin"])
def test_an_origin_is_good_for_the_engine_that_it_was_registered_for_only(site, role):
    reply = site.send("relay", "POST", "/r", {"target": "https://relayed.example/cb"}, role=role)

    assert (reply.status_code, error(reply)["code"]) == (400, "bad_input")


@pytest.mark.parametrize(("role", "status"), [("operator", 201), ("admin", 201), (ENGINE, 400)])
def test_the_relays_own_origin_is_that_of_its_operators(site, role, status):
    reply = site.send("relay", "POST", "/r", {"target": "https://habilis.example/api/connect/callback"}, role=role)

    assert reply.status_code == status


def test_a_page_that_leads_nowhere_takes_what_a_service_sent_out_of_the_address_bar(site):
    reply = site.browse("relay", "/r/unknown?code=code-0123456789")

    script = re.search(r"<script>(.*?)</script>", reply.text)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == "history.replaceState(null,'',location.pathname)"
    assert f"script-src 'sha256-{digest}';" in reply.headers["Content-Security-Policy"]
    assert "code-0123456789" not in reply.text
    assert (reply.headers["Referrer-Policy"], reply.headers["Cache-Control"]) == ("no-referrer", "no-store")


def test_a_relay_that_is_named_says_its_own_address(site, monkeypatch):
    monkeypatch.setenv("HABILIS_RELAY_URL", "https://relay.example/")

    reply = site.send("relay", "POST", "/r", {"target": TARGET})

    assert reply.json["url"].startswith("https://relay.example/r/")


def test_neither_the_target_nor_the_id_can_be_read_from_the_home_or_the_log(site, capfd):
    path = register(site)

    site.browse("relay", f"{path}?token=tok-0123456789")
    site.browse("relay", f"{path}?token=tok-0123456789")

    left = "".join(f"{name}{data.decode()}" for name, data in site.files().items() if "/relay" in name)
    seen = left + "".join(capfd.readouterr())
    assert path.removeprefix("/r/") not in seen
    assert "tok-0123456789" not in seen
