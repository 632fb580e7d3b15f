"""The main job told from empty to published, over HTTP, on the sample service: what `make demo` shows."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, Request, build_opener

from habilis.engine.assets import save_asset
from habilis.engine.projects import add_project
from habilis.home.worktree import WorkTreeHome
from habilis.records import Asset
from habilis.sample.service import SampleService

ABILITY = Path(__file__).parent / "ability" / "sample-blog"
_PROJECT = "acme"
_ARTICLE = Asset(
    ref="article/hello-world",
    title="Hello, world",
    summary="The first article that went out through Habilis.",
    tags=("news",),
    text="We shipped **abilities** today.\n\nAn agent can now write here, *after somebody said yes*.\n",
)


class RunningFunctions(Protocol):
    """The functions of a home, answering."""

    url: str
    token: str


class Story:
    """Tells what is done, how long it took and what came of it, a line each."""

    def __init__(self, functions: RunningFunctions) -> None:
        self._functions = functions
        self._started = time.perf_counter()

    def say(self, title: str, *lines: str) -> None:
        """Tell one step, with the time it took since the last one."""
        now = time.perf_counter()
        print(f"{title:<46}{(now - self._started) * 1000:8.1f} ms")
        for line in lines:
            print(f"    {line}")
        self._started = time.perf_counter()

    def order(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Send an order to the functions as any client would, and return the reply."""
        request = Request(  # noqa: S310 - the functions' own address on loopback
            self._functions.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._functions.token}", "Content-Type": "application/json"},
        )
        reply: dict[str, object] = json.loads(_open(build_opener(_Stay), request)[1])
        return reply


def tell(run: Callable[[Path], AbstractContextManager[RunningFunctions]], *, home: Path | None) -> int:
    """Tell the whole story; returns 0 when it came to its end.

    Args:
        run: Starts the functions over a home.
        home: Where the home is made; None for a temporary folder that goes when the story is told.
    """
    folder = home or Path(tempfile.mkdtemp(prefix="habilis-demo-"))
    started = time.perf_counter()
    print(f"Habilis on an embedded sample service; the home is {'kept in ' + str(home) if home else 'temporary'}.\n")
    try:
        with SampleService() as service, run(folder) as functions:
            _tell(Story(functions), WorkTreeHome(folder), service)
        print(f"\nThe home's own story (git log), newest first:\n{history(folder)}")
        print(f"\nDone in {time.perf_counter() - started:.1f} s.")
    finally:
        if home is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def history(folder: Path) -> str:
    """The home's commits, newest first, a line each."""
    from dulwich.repo import Repo

    with Repo(str(folder)) as repo:
        entries = [entry.commit for entry in repo.get_walker()]
    lines = []
    for commit in entries:
        subject, _, rest = commit.message.decode().partition("\n")
        actor = next((line.split(": ", 1)[1] for line in rest.splitlines() if line.startswith("Habilis-Actor")), "")
        lines.append(f"    {commit.id[:8].decode()}  {subject}" + (f"  ({actor})" if actor else ""))
    return "\n".join(lines)


def _tell(story: Story, home: WorkTreeHome, service: SampleService) -> None:
    story.say("1  Start the sample service and the functions", f"a blog with statistics at {service.url}")

    add_project(home, _PROJECT, name="Acme", actor="user")
    save_asset(home, _PROJECT, _ARTICLE, actor="user")
    story.say("2  Make a project and write an article", f"{_PROJECT}, {_ARTICLE.ref}")

    installed = story.order("POST", "/api/install", {"spec": str(ABILITY)})
    includes = _fields(installed["includes"])
    tools = ", ".join(str(_fields(tool)["name"]) for tool in _entries(includes["tools"]))
    story.say("3  Install the ability from its folder", f"{includes['name']}: {tools}")

    account = _connect(story, service)
    story.say("4  Sign in on the blog's own page", f"the account {account} holds a token now: set, never shown")

    posts = _call_list(story)
    story.say("5  Call a tool", f"list_posts: {posts}")

    link = _publish(story, account)
    story.say(
        "6  Ask to publish, approve, send", f"{_ARTICLE.ref} is out at {link}", f"list_posts: {_call_list(story)}"
    )

    report = story.order("POST", "/api/snapshot", {"project": _PROJECT})
    snapshot = _fields(_entries(report["snapshots"])[0])
    (source,) = (_fields(entry) for entry in _entries(snapshot["sources"]))
    days = f"{snapshot['first_day']} to {snapshot['last_day']}"
    story.say("7  Read the last 30 days of numbers", f"{source['source']}: {source['rows']} rows, {days}")


def _connect(story: Story, service: SampleService) -> str:
    """Sign in as a person would: the functions name the page, the browser allows it and is sent back by the relay."""
    path = f"/api/projects/{_PROJECT}/connections"
    keys = {"SAMPLE_SITE": service.url}
    added = story.order("POST", path, {"ability": "sample-blog", "kind": "sample-blog", "keys": keys})
    account = str(_fields(added["account"])["id"])
    story.order("POST", f"{path}/{account}/private-hosts", {"host": service.host})
    started = story.order("POST", f"{path}/{account}/connect", {})
    browser = build_opener(_Stay, HTTPCookieProcessor())
    page, _ = _open(browser, Request(str(started["url"])))  # noqa: S310 - our own start page, on loopback
    callback = parse_qs(urlsplit(page).query)["callback"][0]
    form = urlencode({"callback": callback, "approved": "yes"}, quote_via=quote).encode()
    target, _ = _open(browser, Request(f"{service.url}/connect", data=form, method="POST"))  # noqa: S310 - loopback
    while target:
        target, _ = _open(browser, Request(target))  # noqa: S310 - the relay, then the callback, on loopback
    return account


def _call_list(story: Story) -> str:
    reply = story.order("POST", "/api/call", {"project": _PROJECT, "tool": "list_posts"})
    posts = _entries(_fields(reply["data"])["posts"])
    return ", ".join(str(_fields(post)["title"]) for post in posts) or "no posts yet"


def _publish(story: Story, channel: str) -> str:
    asked = story.order("POST", "/api/publish", {"project": _PROJECT, "asset": _ARTICLE.ref, "channel": channel})
    approval = _fields(asked["approval"])
    done = story.order("POST", f"/api/projects/{_PROJECT}/approvals/{approval['id']}", {"decision": "approve"})
    return str(done["link"])


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow nothing by itself: the story shows each hop."""


def _open(browser: OpenerDirector, request: Request) -> tuple[str, bytes]:
    """Send a request; returns where it redirects to, "" for nowhere, and the answer."""
    try:
        with browser.open(request, timeout=30) as reply:
            return "", reply.read()
    except HTTPError as answer:
        body = answer.read()
        location = answer.headers.get("Location", "")
        answer.close()
        if location:
            return location, b""
        raise RuntimeError(f"{request.full_url} answered {answer.code}: {body.decode(errors='replace')}") from None


def _fields(value: object) -> dict[str, object]:
    assert isinstance(value, dict)  # noqa: S101 - the functions' own replies
    return value


def _entries(value: object) -> list[object]:
    assert isinstance(value, list)  # noqa: S101 - the functions' own replies
    return value
