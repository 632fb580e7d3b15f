"""Starts the real counterparts that tests ask for, and says at the end which ones were absent.

A test says what it needs by the mark `part("git", "strace")` or by taking one of the fixtures `wordpress`, `mediawiki`,
`gitremote`, `exim`, `oidc` and `jwtbearer` (which mark it by themselves: `pytest -m "not part"` leaves all of them
out). What the machine lacks is skipped, with what to install as the reason; with HABILIS_PARTS=all it fails.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from pathlib import Path
from urllib.parse import urljoin

import pytest
from tests.parts.needs import NEEDS, how_to_install, missing

HERE = Path(__file__).resolve().parent
_wanted = pytest.StashKey[Counter[str]]()
_absent = pytest.StashKey[Counter[str]]()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPress:
    """A running WordPress.

    Attributes:
        url: The site's address, without a slash at the end.
        rest: Where its REST API begins.
        login: The address of its sign-in page.
        authorize: The address of the page that grants application passwords.
        people: `admin`, `author` and `reader`; the last may not post.
        password: The password of each of them.
        data: Its folder; `php.log` lies there.
    """

    url: str
    rest: str
    login: str
    authorize: str
    people: tuple[str, ...]
    password: str
    data: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaWiki:
    """A running MediaWiki.

    Attributes:
        url: The site's address, without a slash at the end.
        api: The address of its action API.
        user: Who signs in there: a bot that may edit and create pages.
        password: The bot's password.
    """

    url: str
    api: str
    user: str
    password: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """A running Ghost.

    Attributes:
        url: The site's address, without a slash at the end.
        key: An integration's key for the Admin API: its id, a colon and its secret.
    """

    url: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GitRemote:
    """Running git remotes, as `tests/parts/gitremote.py` describes them.

    Attributes:
        url: Where the repositories lie, over http: `{url}/demo.git`.
        https_url: The same, over https.
        ca: The certificate to trust for https.
        passwords: Of `writer`, who may push, and `reader`.
        repos: The folder of the bare repositories.
        moved: `{moved}/demo.git` answers with a redirect.
    """

    url: str
    https_url: str
    ca: Path
    passwords: dict[str, str]
    repos: Path
    moved: str

    def make(self, name: str, *, hook: str | None = None) -> str:
        """Make an empty repository and return its http address.

        Args:
            name: Without `.git`; unused so far.
            hook: A shell script to run before a push is taken.
        """
        folder = self.repos / f"{name}.git"
        clean = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True, env=clean)
        subprocess.run(["git", "-C", folder, "config", "http.receivepack", "true"], check=True, env=clean)
        if hook is not None:
            script = folder / "hooks" / "pre-receive"
            script.write_text(hook)
            script.chmod(0o755)
        return f"{self.url}/{name}.git"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exim:
    """A running Exim, as `tests/parts/exim.py` describes it.

    Attributes:
        port: Where encryption begins with STARTTLS.
        tls_port: Where it begins with the first byte.
        ca: The certificate to trust; it is for localhost.
        maildir: The folder of all mail; see `mails`.
        largest_bytes: The largest mail that is taken.
    """

    port: int
    tls_port: int
    user: str
    password: str
    ca: str
    maildir: Path
    largest_bytes: int

    def mails(self, subject: str, *, count: int = 1) -> list[bytes]:
        """Wait until as many mails of that subject have come in, and return them as they lie there."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            raws = [path.read_bytes() for path in sorted((self.maildir / "new").glob("*"))]
            found = [raw for raw in raws if message_from_bytes(raw, policy=policy.default)["Subject"] == subject]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        pytest.fail(f"no mail {subject!r} came in", pytrace=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenId:
    """A running OpenID provider, as `tests/parts/oidc.py` describes it.

    Attributes:
        issuer: Its name for itself, as `iss` says it: its address, without a slash at the end.
        callback: Where the ready made clients are sent back to; `native` on any port.
        client_secret: Of the ready made clients `web` (basic) and `web-post` (in the body); `native` has none.
    """

    issuer: str
    callback: str
    client_secret: str
    log: Path

    @property
    def authorize_url(self) -> str:
        return f"{self.issuer}/auth"

    @property
    def token_url(self) -> str:
        return f"{self.issuer}/token"

    @property
    def whoami(self) -> str:
        """What a call with a token that has the scope `openid` is answered by."""
        return f"{self.issuer}/me"

    def register(self, *redirects: str, **says: object) -> dict:
        """Register a client and return what the provider knows of it, `client_id` and `client_secret` among it."""
        request = urllib.request.Request(
            f"{self.issuer}/reg",
            json.dumps({"redirect_uris": redirects, **says}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def events(self, client: str) -> list[dict]:
        """What happened to a client so far: each has `event`, `grant` (the type that was asked for) and `error`."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [event for event in map(json.loads, lines) if event["client"] == client]

    def sign_in(self, url: str, stop: str) -> str:
        """Open an address as a browser does, up to the first one that begins with `stop`; returns it unopened."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), _NoRedirect())
        for _ in range(10):
            try:
                browser.open(url, timeout=20).close()
            except urllib.error.HTTPError as answer:
                with answer:
                    if "Location" not in answer.headers:
                        pytest.fail(f"{answer.code}: {answer.read().decode()[:2000]}", pytrace=False)
                    url = urljoin(url, answer.headers["Location"])
            if url.startswith(stop):
                return url
        pytest.fail(f"the browser ended at {url}", pytrace=False)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtBearer:
    """A running token endpoint for service accounts, as `tests/parts/jwtbearer.py` describes it.

    Attributes:
        whoami: Answers a token with whose it is.
        key_file: The service account's, in Google's form.
        email: The service account's name.
    """

    token_url: str
    whoami: str
    key_file: Path
    email: str


@pytest.fixture(scope="session")
def oidc() -> Iterator[OpenId]:
    """A real OpenID provider, started for the first test that takes it."""
    with _started("oidc") as facts:
        yield OpenId(
            issuer=facts["url"],
            callback=facts["callback"],
            client_secret=facts["client_secret"],
            log=Path(facts["events"]),
        )


@pytest.fixture(scope="session")
def jwtbearer() -> Iterator[JwtBearer]:
    """A real token endpoint for service accounts, started for the first test that takes it."""
    with _started("jwtbearer") as facts:
        yield JwtBearer(
            token_url=facts["token_url"],
            whoami=facts["whoami"],
            key_file=Path(facts["key_file"]),
            email=facts["email"],
        )


@pytest.fixture(scope="session")
def exim() -> Iterator[Exim]:
    """A real mail server, started for the first test that takes it."""
    with _started("exim") as facts:
        yield Exim(
            port=facts["port"],
            tls_port=facts["tls_port"],
            user=facts["user"],
            password=facts["password"],
            ca=facts["ca"],
            maildir=Path(facts["maildir"]),
            largest_bytes=facts["largest_bytes"],
        )


@pytest.fixture(scope="session")
def wordpress() -> Iterator[WordPress]:
    """A real WordPress, started for the first test that takes it."""
    with _started("wordpress") as facts:
        yield WordPress(
            url=facts["url"],
            rest=facts["rest"],
            login=facts["login"],
            authorize=facts["authorize"],
            people=tuple(facts["people"]),
            password=facts["password"],
            data=Path(facts["data"]),
        )


@pytest.fixture(scope="session")
def mediawiki() -> Iterator[MediaWiki]:
    """A real MediaWiki, started for the first test that takes it."""
    with _started("mediawiki") as facts:
        yield MediaWiki(url=facts["url"], api=facts["api"], user=facts["user"], password=facts["password"])


@pytest.fixture(scope="session")
def ghost() -> Iterator[Ghost]:
    """A real Ghost, where a person installed one: started for the first test that takes it."""
    with _started("ghost") as facts:
        yield Ghost(url=facts["url"], key=facts["key"])


@pytest.fixture(scope="session")
def gitremote() -> Iterator[GitRemote]:
    """Real git remotes, started for the first test that takes them."""
    with _started("gitremote") as facts:
        yield GitRemote(
            url=facts["url"],
            https_url=facts["https_url"],
            ca=Path(facts["ca"]),
            passwords=facts["passwords"],
            repos=Path(facts["repos"]),
            moved=facts["moved"],
        )


@contextmanager
def _started(part: str) -> Iterator[dict]:
    """Yield what a starter says about its service, and end it afterwards."""
    with tempfile.TemporaryFile("w+") as words:
        starter = subprocess.Popen(
            [sys.executable, HERE / f"{part}.py"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
            start_new_session=True,  # Ctrl-C is for pytest, which ends the starter in its turn
        )
        with starter:
            line = starter.stdout.readline()
            if not line:
                words.seek(0)
                pytest.fail(f"{part} did not start ({starter.wait()}):\n{words.read()}", pytrace=False)
            try:
                yield json.loads(line)
            finally:
                starter.terminate()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_wanted] = Counter()
    config.stash[_absent] = Counter()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for part in sorted(NEEDS.keys() & set(getattr(item, "fixturenames", ()))):
            item.add_marker(pytest.mark.part(part))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for part in sorted({part for mark in item.iter_markers("part") for part in mark.args}):
        if part not in NEEDS:
            pytest.fail(f"no part is called {part!r}; tests/parts/needs.py lists them", pytrace=False)
        item.config.stash[_wanted][part] += 1
        if missing(part):
            item.config.stash[_absent][part] += 1
            reason = f"{part} is absent ({how_to_install(part)})"
            if os.environ.get("HABILIS_PARTS") == "all" and not NEEDS[part].variable:
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if absent := config.stash[_absent]:
        listed = "; ".join(f"{part} ({how_to_install(part)})" for part in sorted(absent))
        terminalreporter.write_line(f"Real counterparts absent: {listed}", yellow=True)
    elif wanted := config.stash[_wanted]:
        listed = ", ".join(f"{part} in {count}" for part, count in sorted(wanted.items()))
        terminalreporter.write_line(f"Real counterparts present: {listed} tests")
