"""The sample service: posts, statistics and a sign-in page, over real HTTP on loopback."""

import hmac
import html
import json
import secrets
from datetime import date, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit

_CHANNELS = {"Organic Search": 41, "Direct": 23, "Referral": 9}
_LARGEST_BODY = 1024 * 1024
_LONGEST_SPAN_DAYS = 400


class SampleService:
    """A blog with a statistics API, on a free port of 127.0.0.1 until it is closed.

    Attributes:
        posts: What was published, oldest first.
    """

    def __init__(self) -> None:
        self.posts: list[dict[str, object]] = []
        self._tokens: set[str] = set()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        """`host:port` of the service."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Its address, no slash at the end."""
        return f"http://{self.host}"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def new_token(self) -> str:
        """A token that the service accepts."""
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._tokens.add(token)
        return token

    def knows(self, header: str) -> bool:
        """Whether an Authorization header carries one of its tokens."""
        with self._lock:
            return any(hmac.compare_digest(header.encode(), f"Bearer {token}".encode()) for token in self._tokens)

    def add_post(self, post: dict[str, object]) -> dict[str, object]:
        """Store a post and return it with its id and link."""
        with self._lock:
            number = len(self.posts) + 1
            stored = {"id": number, "link": f"{self.url}/posts/{number}", **post}
            self.posts.append(stored)
            return stored


def statistics(first: date, last: date) -> list[dict[str, object]]:
    """Visitors per day and channel; the same days always give the same numbers."""
    rows: list[dict[str, object]] = []
    for offset in range((last - first).days + 1):
        day = first + timedelta(days=offset)
        for channel, base in _CHANNELS.items():
            sessions = base + (day.toordinal() * 7) % 13 - (12 if day.weekday() > 4 else 0)
            rows.append(
                {
                    "day": day.isoformat(),
                    "channel": channel,
                    "sessions": max(sessions, 0),
                    "pageviews": max(sessions, 0) * 2 + 1,
                }
            )
    return rows


def _handler(service: SampleService) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        blog = service

    return Handler


class _Handler(BaseHTTPRequestHandler):
    blog: SampleService

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/connect":
            self._ask(query)
        elif parts.path.startswith("/posts/"):
            self._show(parts.path.removeprefix("/posts/"))
        elif parts.path == "/api/posts" and self._is_known():
            self._list(query)
        elif parts.path == "/api/stats" and self._is_known():
            self._count(query)
        elif not parts.path.startswith("/api/"):
            self._json(HTTPStatus.NOT_FOUND, {"message": "there is no such page"})

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        if length > _LARGEST_BODY:
            self._json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"message": "the body is too large"})
            return
        body = self.rfile.read(length)
        if parts.path == "/connect":
            self._send_back(body)
        elif parts.path == "/api/posts" and self._is_known():
            self._create(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing: the story is told elsewhere."""

    def _is_known(self) -> bool:
        if self.blog.knows(self.headers.get("Authorization", "")):
            return True
        self._json(HTTPStatus.UNAUTHORIZED, {"message": "the token is missing or wrong"})
        return False

    def _ask(self, query: dict[str, str]) -> None:
        callback, app = html.escape(query.get("callback", "")), html.escape(query.get("app", "Somebody"))
        self._page(
            f"<h1>Sample blog</h1><p>{app} would like to publish here.</p>"
            f'<form method="post" action="/connect"><input type="hidden" name="callback" value="{callback}">'
            '<button name="approved" value="yes">Allow</button>'
            '<button name="approved" value="no">Refuse</button></form>'
        )

    def _send_back(self, body: bytes) -> None:
        form = {name: values[-1] for name, values in parse_qs(body.decode()).items()}
        callback = form.get("callback", "")
        answer = "approved=no"
        if form.get("approved") == "yes":
            answer = f"site={quote(self.blog.url, safe='')}&token={self.blog.new_token()}"
        if not callback:
            self._page(f"<h1>Sample blog</h1><p>Paste this: <code>{html.escape(answer)}</code></p>")
            return
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", callback + ("&" if "?" in callback else "?") + answer)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _create(self, body: bytes) -> None:
        try:
            post = json.loads(body)
        except ValueError:
            post = None
        if not isinstance(post, dict) or not post.get("title") or not post.get("html"):
            self._json(HTTPStatus.UNPROCESSABLE_ENTITY, {"message": "a post has a title and html"})
            return
        self._json(HTTPStatus.CREATED, self.blog.add_post(post))

    def _list(self, query: dict[str, str]) -> None:
        wanted = query.get("search", "").lower()
        found = [post for post in self.blog.posts if wanted in str(post.get("title", "")).lower()]
        limit = int(query.get("limit", "10"))
        posts = [{"title": post["title"], "link": post["link"]} for post in reversed(found)][:limit]
        self._json(HTTPStatus.OK, {"posts": posts, "total": len(found)})

    def _count(self, query: dict[str, str]) -> None:
        try:
            first, last = date.fromisoformat(query["from"]), date.fromisoformat(query["to"])
        except (KeyError, ValueError):
            self._json(HTTPStatus.BAD_REQUEST, {"message": "from and to are days, YYYY-MM-DD"})
            return
        if (last - first).days > _LONGEST_SPAN_DAYS:
            self._json(HTTPStatus.BAD_REQUEST, {"message": f"at most {_LONGEST_SPAN_DAYS} days"})
            return
        self._json(HTTPStatus.OK, {"rows": statistics(first, last)})

    def _show(self, number: str) -> None:
        post = next((post for post in self.blog.posts if str(post["id"]) == number), None)
        if post is None:
            self._json(HTTPStatus.NOT_FOUND, {"message": "there is no such post"})
            return
        self._page(f"<h1>{html.escape(str(post['title']))}</h1>{post['html']}")

    def _page(self, body: str) -> None:
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", f"<!doctype html><meta charset=utf-8>{body}")

    def _json(self, status: HTTPStatus, data: object) -> None:
        self._send(status, "application/json", json.dumps(data))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
