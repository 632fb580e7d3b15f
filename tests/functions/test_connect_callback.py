import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

import pytest
from tests.functions.site import error

CALLBACK = "/api/connect/callback"
ACCOUNT = "/api/projects/acme/connections/sample-blog"


class Stay(HTTPErrorProcessor):
    def http_response(self, request, response):
        return response


def start(site):
    """Add an account that knows its site, begin its sign-in, and return the state that waits."""
    keys = {"SAMPLE_SITE": site.service.url}
    site.send("account", "POST", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": keys})
    site.send("account", "POST", f"{ACCOUNT}/private-hosts", {"host": site.service.host})
    reply = site.send("account", "POST", f"{ACCOUNT}/connect", role="operator")
    assert reply.json["returns_by_itself"]
    return site.browse("connect_callback", urlsplit(reply.json["url"]).path).headers["Location"]


def start_again(site):
    """Begin another sign-in of the account, and return the service's page."""
    reply = site.send("account", "POST", f"{ACCOUNT}/connect", role="operator")
    return site.browse("connect_callback", urlsplit(reply.json["url"]).path).headers["Location"]


def state_of(page):
    callback = parse_qs(urlsplit(page).query)["callback"][0]
    return parse_qs(urlsplit(callback).query)["state"][0]


def allow(page):
    """Press "Allow" on the service's page and return where it sends the browser, path and query."""
    callback = parse_qs(urlsplit(page).query)["callback"][0]
    form = urlencode({"callback": callback, "approved": "yes"}).encode()
    with build_opener(Stay).open(Request(f"{page.partition('?')[0]}", data=form, method="POST")) as answer:
        target = urlsplit(answer.headers["Location"])
    assert f"{target.scheme}://{target.netloc}" == "https://habilis.example"
    return f"{target.path}?{target.query}"


def address(site, page, /, **query):
    return f"{CALLBACK}?" + urlencode(
        {"state": state_of(page), "site": site.service.url, "token": "tok-0123456789", **query}
    )


def is_ready(site):
    return site.send("account", "GET", ACCOUNT).json["account"]["is_ready"]


def shown(site, reply):
    """Follow the browser to the page that says how it ended."""
    assert reply.status_code == 303
    target = urlsplit(reply.headers["Location"])
    assert (target.scheme, target.netloc, target.query) == ("https", "habilis.example", "")
    return site.browse("connect_callback", target.path)


def test_a_sign_in_ends_with_keys_and_a_page_whose_address_holds_none(site):
    page = start(site)

    reply = site.browse("connect_callback", allow(page))
    ending = shown(site, reply)

    assert ending.status_code == 200
    assert "Publish to the sample blog is signed in" in ending.text
    assert is_ready(site)
    assert site.call("list_posts").status_code == 200


def test_nothing_of_a_sign_in_stays_in_replies_logs_or_waiting_records(site, capfd):
    page = start(site)
    target = allow(page)
    values = [value for value in parse_qs(urlsplit(target).query).values() if value != [site.service.url]]

    reply = site.browse("connect_callback", target)
    ending = shown(site, reply)

    left = "".join(data.decode() for name, data in site.files().items() if not name.endswith(".env"))
    seen = reply.text + str(reply.headers) + ending.text + str(ending.headers) + left + "".join(capfd.readouterr())
    assert [value for (value,) in values if value in seen] == []
    for answer in (reply, ending):
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
    assert ending.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_the_page_of_an_ending_may_be_loaded_again_for_ten_minutes(site):
    reply = site.browse("connect_callback", allow(start(site)))
    path = urlsplit(reply.headers["Location"]).path

    again = site.browse("connect_callback", path)
    site.move_clock(timedelta(minutes=10, seconds=1))
    late = site.browse("connect_callback", path)

    assert (again.status_code, late.status_code) == (200, 404)


@pytest.mark.parametrize("query", ["", "?state=", "?state=unknown", "?token=tok-0123456789", "?state=a&state=a"])
def test_a_return_that_nothing_waits_for_is_refused_on_the_spot(site, query):
    start(site)
    before = site.files()

    reply = site.browse("connect_callback", CALLBACK + query)

    assert reply.status_code == 400
    assert "No sign-in is waiting for this answer" in reply.text
    assert site.files() == before


def test_a_state_counts_once(site):
    target = allow(start(site))
    site.browse("connect_callback", target)
    keys = site.key_text("sample-blog")

    again = site.browse("connect_callback", target.replace("token=", "token=other"))

    assert again.status_code == 400
    assert site.key_text("sample-blog") == keys


def test_of_two_returns_at_the_same_instant_one_counts(site):
    page = start(site)
    targets = [address(site, page, token=f"tok-{number}-0123456789") for number in range(8)]
    (mark,) = (cookie for cookie in site.clients["connect_callback"]._cookies.values())
    marked = {"Cookie": f"{mark.key}={mark.value}"}

    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda target: site.raw("connect_callback", target, method="GET", headers=marked), targets)
        )

    winners = [number for number, reply in enumerate(replies) if reply.status_code == 303]
    assert len(winners) == 1
    assert sorted({reply.status_code for reply in replies}) == [303, 400]
    assert f"tok-{winners[0]}-0123456789" in site.key_text("sample-blog")


def test_the_start_page_marks_the_browser_with_a_cookie_that_only_this_site_can_set_and_read(site):
    keys = {"SAMPLE_SITE": site.service.url}
    site.send("account", "POST", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": keys})
    site.send("account", "POST", f"{ACCOUNT}/private-hosts", {"host": site.service.host})
    url = site.send("account", "POST", f"{ACCOUNT}/connect").json["url"]

    reply = site.browse("connect_callback", urlsplit(url).path)
    again = site.browse("connect_callback", urlsplit(url).path)

    name, *rest = reply.headers["Set-Cookie"].split("; ")
    assert name.startswith("__Host-habilis-sign-in=")
    assert set(rest) >= {"Secure", "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=1200"}
    assert reply.status_code == 303
    assert reply.headers["Location"].startswith(f"{site.service.url}/connect?")
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert again.status_code == 404


@pytest.mark.parametrize("cookie", ["", "__Host-habilis-sign-in=" + "x" * 43, "habilis-sign-in=" + "x" * 43])
def test_another_browser_does_not_end_a_sign_in(site, cookie):
    target = allow(start(site))
    keys = site.key_text("sample-blog")
    stranger = site.clients["connect_callback"].application.test_client()

    reply = stranger.get(target, headers={"Cookie": cookie})
    own = site.browse("connect_callback", target)

    assert "begun in another browser" in shown(site, reply).text
    assert own.status_code == 400
    assert site.key_text("sample-blog") == keys


def test_a_pasted_address_ends_the_sign_in_of_its_account_alone(site):
    target = allow(start(site))
    site.add_account(id="other")
    wrong = site.send("account", "POST", ACCOUNT.replace("sample-blog", "other") + "/connect", {"address": target})
    fresh = allow(start_again(site))

    done = site.send("account", "POST", f"{ACCOUNT}/connect", {"address": f"https://habilis.example{fresh}"})

    assert (wrong.status_code, error(wrong)["code"]) == (400, "signin_state_invalid")
    assert done.json == {
        "project": "acme",
        "account": "sample-blog",
        "label": "Publish to the sample blog",
        "notes": [],
    }
    assert is_ready(site)


@pytest.mark.parametrize("address", ["x", "https://habilis.example/", "https://[", "x" * 70_000, "?state=unknown"])
def test_what_is_no_address_of_a_return_ends_nothing(site, address):
    start(site)

    reply = site.send("account", "POST", f"{ACCOUNT}/connect", {"address": address})

    assert reply.status_code == 400
    assert not is_ready(site)


def test_a_return_after_ten_minutes_is_too_late(site):
    page = start(site)
    site.move_clock(timedelta(minutes=10, seconds=1))

    ending = shown(site, site.browse("connect_callback", allow(page)))
    again = site.browse("connect_callback", address(site, page))

    assert ending.status_code == 400
    assert "longer than ten minutes" in ending.text
    assert again.status_code == 400
    assert not is_ready(site)


def test_a_refusal_on_the_services_page_is_told_and_stores_nothing(site):
    page = start(site)
    keys = site.key_text("sample-blog")

    ending = shown(site, site.browse("connect_callback", address(site, page, approved="no")))

    assert ending.status_code == 400
    assert "refused on the service" in ending.text
    assert site.key_text("sample-blog") == keys


@pytest.mark.parametrize(
    "query",
    [
        {"token": ""},
        {"site": "https://evil.test"},
        {"site": "javascript:alert(1)"},
        {"token": "x" * 9000},
        {"site": "http://169.254.169.254"},
    ],
)
def test_a_return_that_does_not_fit_stores_nothing_and_shows_no_value(site, query):
    page = start(site)
    keys = site.key_text("sample-blog")

    ending = shown(site, site.browse("connect_callback", address(site, page, **query)))

    assert ending.status_code == 400
    assert "tok-0123456789" not in ending.text
    assert site.key_text("sample-blog") == keys
    assert not is_ready(site)


def test_further_parameters_change_neither_the_account_nor_where_the_browser_goes(site):
    site.add_account("beta", id="other")
    theirs = site.key_text("other", "beta")
    page = start(site)
    more = {
        "connection": "other",
        "account": "other",
        "project": "beta",
        "redirect": "https://evil.test",
        "next": "//evil.test",
    }

    ending = shown(site, site.browse("connect_callback", address(site, page, **more)))

    assert ending.status_code == 200
    assert site.key_text("other", "beta") == theirs
    assert is_ready(site)


def test_the_browser_is_sent_to_the_configured_address_whatever_it_asked_for(site):
    page = start(site)
    headers = {
        "Host": "evil.test",
        "X-Forwarded-Host": "evil.test",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=evil.test",
    }

    reply = site.clients["connect_callback"].get(address(site, page), headers=headers)

    assert reply.headers["Location"].startswith(f"https://habilis.example{CALLBACK}/")


def test_an_account_that_was_removed_meanwhile_does_not_come_back(site):
    page = start(site)
    site.send("account", "DELETE", ACCOUNT)

    ending = shown(site, site.browse("connect_callback", address(site, page)))

    assert ending.status_code == 400
    assert "was cancelled" in ending.text
    assert not (site.folder / "projects/acme/connections/sample-blog").exists()


def test_nothing_of_the_services_text_becomes_markup(site):
    page = start(site)
    path = site.folder / "projects/acme/connections/sample-blog/connection.yaml"
    path.write_text(path.read_text().replace("Publish to the sample blog", "'<img src=x onerror=alert(1)>'"))

    ending = shown(site, site.browse("connect_callback", address(site, page)))

    assert "&lt;img src=x onerror=alert(1)&gt; is signed in" in ending.text
    assert "<img" not in ending.text


def test_without_a_public_address_the_person_pastes(site, monkeypatch):
    monkeypatch.delenv("HABILIS_PUBLIC_URL")
    keys = {"SAMPLE_SITE": site.service.url}
    site.send("account", "POST", "/api/projects/acme/connections", {"ability": "sample-blog", "keys": keys})
    site.send("account", "POST", f"{ACCOUNT}/private-hosts", {"host": site.service.host})

    reply = site.send("account", "POST", f"{ACCOUNT}/connect")

    assert reply.json["returns_by_itself"] is False
    assert "callback=" not in reply.json["url"]


def test_a_sign_in_needs_what_its_page_is_on(site):
    site.send("account", "POST", "/api/projects/acme/connections", {"ability": "sample-blog"})

    reply = site.send("account", "POST", f"{ACCOUNT}/connect")

    assert (reply.status_code, error(reply)["code"]) == (409, "secret_missing")
    assert "SAMPLE_SITE" in json.dumps(error(reply))
