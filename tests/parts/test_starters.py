"""The starters keep their contract: they answer, end with their parent, leave nothing, and say what is missing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.parts.needs import ABSENT, NEEDS

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]

ASKS_FOR_STRACE = """
import pytest

@pytest.mark.part("strace")
def test_that_traces():
    pass
"""


@pytest.mark.parametrize("part", ["gitremote", "mediawiki", "wordpress"])
def test_a_starter_without_its_programs_ends_with_69_and_names_the_packages(part):
    done = _run([sys.executable, HERE / f"{part}.py"], env={"PATH": "/nowhere"})

    assert done.returncode == ABSENT
    assert f"install: {' '.join(NEEDS[part].packages)}" in done.stderr
    assert done.stdout == ""


@pytest.mark.part("gitremote")
def test_nothing_of_a_part_outlives_the_process_that_started_it():
    starts_and_prints = f"""
import subprocess, sys
starter = subprocess.Popen([sys.executable, {str(HERE / "gitremote.py")!r}], stdout=subprocess.PIPE, text=True)
print(starter.stdout.readline(), flush=True)
starter.wait()
"""
    with subprocess.Popen([sys.executable, "-c", starts_and_prints], stdout=subprocess.PIPE, text=True) as parent:
        facts = json.loads(parent.stdout.readline())

        parent.kill()

    assert _is_gone(facts)


@pytest.mark.part("gitremote")
def test_nothing_of_a_part_outlives_a_starter_that_was_killed():
    with subprocess.Popen([sys.executable, HERE / "gitremote.py"], stdout=subprocess.PIPE, text=True) as starter:
        facts = json.loads(starter.stdout.readline())

        os.kill(facts["pid"], signal.SIGKILL)

    assert _is_gone(facts)


@pytest.mark.part("gitremote")
def test_a_folder_that_is_to_be_kept_is_kept(tmp_path):
    command = [sys.executable, HERE / "gitremote.py", "--keep", "--data", tmp_path / "here"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as starter:
        starter.stdout.readline()

        starter.terminate()

    assert starter.returncode == 0
    assert (tmp_path / "here" / "repos" / "demo.git" / "HEAD").exists()


@pytest.mark.parametrize(
    ("wanted", "code", "count"),
    [
        ("", pytest.ExitCode.OK, "1 skipped"),
        ("all", pytest.ExitCode.TESTS_FAILED, "1 error"),
    ],
)
def test_an_absent_part_is_told_and_fails_only_when_all_are_wanted(tmp_path, wanted, code, count):
    (tmp_path / "test_asking.py").write_text(ASKS_FOR_STRACE)
    command = [sys.executable, "-m", "pytest", "-p", "tests.parts.plugin", "-q", tmp_path / "test_asking.py"]
    environment = {"PATH": "/nowhere", "HABILIS_PARTS": wanted, "PYTHONPATH": str(PROJECT)}

    done = _run(command, cwd=tmp_path, env=environment)

    assert done.returncode == code
    assert "Real counterparts absent: strace (install: strace)" in done.stdout
    assert count in done.stdout.splitlines()[-1]


def test_wordpress_answers_and_knows_its_people(wordpress):
    with urllib.request.urlopen(f"{wordpress.rest}/users", timeout=20) as answer:
        assert [person["slug"] for person in json.load(answer)] == ["admin"]


def test_mediawiki_answers_and_lets_nobody_edit_who_has_not_signed_in(mediawiki):
    form = b"action=edit&title=Mine&text=x&format=json&token=%2B%5C"
    with urllib.request.urlopen(mediawiki.api, data=form, timeout=20) as answer:
        assert json.load(answer)["error"]["code"] == "permissiondenied"


def test_a_starter_without_its_modules_says_how_to_get_them(tmp_path):
    for name in ("oidc.py", "counterpart.py", "needs.py"):
        shutil.copy(HERE / name, tmp_path)

    done = _run([sys.executable, tmp_path / "oidc.py"])

    assert (done.returncode, done.stdout) == (ABSENT, "")
    assert "oidc-provider is missing (run: npm ci --prefix tests/parts)" in done.stderr


def test_the_lock_of_modules_has_a_hash_for_each_and_names_no_address():
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))["packages"]

    assert lock.pop("")["dependencies"].keys() == {name for need in NEEDS.values() for name in need.modules}
    assert all(package["integrity"].startswith("sha512-") and "resolved" not in package for package in lock.values())


VERIFIER = "v" * 43


def _code(oidc, client, scope="openid"):
    """Sign in as a browser does; returns the parameters of the return."""
    challenge = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    asked = {"client_id": client, "response_type": "code", "redirect_uri": oidc.callback, "scope": scope, "state": "s"}
    pkce = {"code_challenge": challenge, "code_challenge_method": "S256"}
    back = oidc.sign_in(f"{oidc.authorize_url}?{urlencode(asked | pkce)}", oidc.callback)
    return dict(parse_qsl(urlsplit(back).query))


def _post(url, token="", **form):
    request = urllib.request.Request(url, urlencode(form).encode() if form else None)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def _exchange(oidc, client, code, **more):
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": oidc.callback, "code_verifier": VERIFIER}
    return _post(oidc.token_url, client_id=client, **form | more)


def test_the_provider_gives_tokens_for_a_code_and_a_refresh_token_once(oidc):
    client = oidc.register(oidc.callback, token_endpoint_auth_method="none", application_type="native")["client_id"]

    back = _code(oidc, client, "openid notes.read")
    status, tokens = _exchange(oidc, client, back["code"])
    again = {"grant_type": "refresh_token", "client_id": client, "refresh_token": tokens["refresh_token"]}
    renewed = _post(oidc.token_url, **again)
    reused = _post(oidc.token_url, **again)
    dead = _post(oidc.token_url, **again | {"refresh_token": renewed[1]["refresh_token"]})

    assert (back["iss"], back["state"], status, tokens["expires_in"]) == (oidc.issuer, "s", 200, 3600)
    assert (renewed[0], reused[0], dead[0]) == (200, 400, 400)
    assert reused[1]["error"] == dead[1]["error"] == "invalid_grant"
    assert [event["event"] for event in oidc.events(client)] == [
        "authorization.success", "grant.success", "grant.success", "grant.revoked", "grant.error", "grant.error"
    ]  # fmt: skip


def test_the_provider_wants_the_verifier_of_the_challenge(oidc):
    code = _code(oidc, "native")["code"]

    status, answer = _exchange(oidc, "native", code, code_verifier="w" * 43)

    assert (status, answer["error"]) == (400, "invalid_grant")


def test_a_client_says_how_the_person_and_the_tokens_are(oidc):
    native = {"token_endpoint_auth_method": "none", "application_type": "native"}
    denied = oidc.register(oidc.callback, denies=True, **native)["client_id"]
    brief = oidc.register(oidc.callback, access_ttl_s=1, withholds="notes.write", **native)["client_id"]

    refusal = _code(oidc, denied)
    tokens = _exchange(oidc, brief, _code(oidc, brief, "openid notes.read notes.write")["code"])[1]
    at_once = _post(oidc.whoami, tokens["access_token"])
    time.sleep(1.1)
    later = _post(oidc.whoami, tokens["access_token"])

    assert (refusal["error"], refusal["iss"]) == ("access_denied", oidc.issuer)
    assert (tokens["expires_in"], tokens["scope"]) == (1, "openid notes.read")
    assert (at_once, later[0]) == ((200, {"sub": "ada"}), 401)


def _statement(jwtbearer, **claims):
    now = int(time.time())
    key = json.loads(jwtbearer.key_file.read_text())
    good = {"iss": jwtbearer.email, "sub": jwtbearer.email, "aud": jwtbearer.token_url, "scope": "notes.read"}
    return jwt.encode(
        {"alg": "RS256"}, {**good, "iat": now, "exp": now + 3600, **claims}, RSAKey.import_key(key["private_key"])
    )


def _token(jwtbearer, statement):
    return _post(jwtbearer.token_url, grant_type="urn:ietf:params:oauth:grant-type:jwt-bearer", assertion=statement)


def test_the_endpoint_of_service_accounts_gives_a_token_for_a_statement(jwtbearer):
    status, answer = _token(jwtbearer, _statement(jwtbearer))

    assert (status, answer["expires_in"], answer.get("refresh_token")) == (200, 3600, None)
    assert _post(f"{jwtbearer.whoami}?scope=notes.read", answer["access_token"])[0] == 200
    assert _post(f"{jwtbearer.whoami}?scope=notes.write", answer["access_token"])[0] == 403
    assert _post(jwtbearer.whoami, "another")[0] == 401


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"aud": "https://elsewhere.test/token"}, "invalid_grant"),
        ({"iss": "somebody@else.test"}, "invalid_grant"),
        ({"exp": 1}, "invalid_grant"),
        ({"exp": int(time.time()) + 7200}, "invalid_grant"),
        ({"scope": "everything"}, "invalid_scope"),
    ],
    ids=lambda wrong: next(iter(wrong)) if isinstance(wrong, dict) else wrong,
)
def test_the_endpoint_of_service_accounts_takes_no_other_statement(jwtbearer, wrong, code):
    status, answer = _token(jwtbearer, _statement(jwtbearer, **wrong))

    assert (status, answer["error"]) == (400, code)


def test_a_repository_made_by_a_test_is_served_at_once(gitremote):
    address = gitremote.make("served-at-once").replace("://", f"://writer:{gitremote.passwords['writer']}@")

    seen = _run(["git", "ls-remote", address])

    assert (seen.returncode, seen.stdout) == (0, "")


def _run(command: list, **how) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **how)


def _is_gone(facts: dict) -> bool:
    """Whether, within five seconds, nobody listens at the part's port and its folder is removed."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not Path(facts["data"]).exists() and not _listens(facts["url"]):
            return True
        time.sleep(0.02)
    return False


def _listens(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=1).close()
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False
    return True
