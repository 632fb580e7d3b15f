"""An OAuth provider whose every answer a test can bend: codes with PKCE, tokens, registering, a device, a session."""

import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.upstream import Upstream, answer

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.installs import install, plan_install

FLOW = """\
label: Connect
flow: oauth2
needs: [NOTES_SITE]
authorize_url: "${NOTES_SITE}/authorize"
token_url: "${NOTES_SITE}/token"
client_id: app-1
scopes: [read, write]
token_env: NOTES_TOKEN
refresh_env: NOTES_REFRESH
"""
MANIFEST = """\
id: notes
name: Notes
version: "1.0.0"
summary: Notes.
auth:
  - {{ env: NOTES_SITE, label: Site, secret: false }}
  - {{ env: NOTES_TOKEN, optional: true }}
  - {{ env: NOTES_TEAM, optional: true, secret: false }}
  - {{ env: NOTES_USER, optional: true, secret: false }}
  - {{ env: NOTES_PASSWORD, optional: true }}
connect:
{flow}
hosts: ["${{NOTES_SITE}}"]
"""
TOKENS = {"access_token": "acc-0123456789", "refresh_token": "ref-0123456789", "expires_in": 3600}


class Provider:
    """The provider; `replies` maps a path to what it answers there from now on: data, or bytes of a whole answer."""

    def __init__(self) -> None:
        self._server = Upstream(self._answer)
        self._codes: dict[str, dict[str, str]] = {}
        self.replies: dict[str, object] = {}

    def __enter__(self):
        self._server.__enter__()
        return self

    def __exit__(self, *of):
        self._server.__exit__(*of)

    @property
    def url(self) -> str:
        return self._server.url("").rstrip("/")

    def seen(self, path: str) -> list:
        """The requests that came to a path."""
        return [one for one in self._server.requests if one.target.partition("?")[0] == path]

    def agree(self, page: str, **more: str) -> dict[str, list[str]]:
        """The person says yes on the page: the parameters that the browser comes back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        code = f"code-{len(self._codes)}-0123456789"
        self._codes[code] = asked
        return {name: [value] for name, value in {"code": code, "state": asked["state"], **more}.items()}

    def _answer(self, seen):
        path, _, query = seen.target.partition("?")
        if path == "/authorize":
            asked = parse_qs(query)
            back = {name: values[0] for name, values in self.agree(f"{self.url}{seen.target}").items()}
            return answer(302, headers=(("Location", f"{asked['redirect_uri'][0]}?{urlencode(back)}"),))
        reply = self.replies.get(path)
        if isinstance(reply, bytes):
            return reply
        if reply is None and path == "/token":
            reply = self._tokens({name: values[0] for name, values in parse_qs(seen.body.decode()).items()})
        body = json.dumps(reply).encode()
        status = 400 if isinstance(reply, dict) and "error" in reply else 200
        return answer(status, body=body, headers=(("Content-Type", "application/json"),))

    def _tokens(self, form: dict[str, str]) -> dict[str, object]:
        asked = self._codes.pop(form.get("code", ""), None)
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        if not asked or asked.get("code_challenge") != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return {"error": "invalid_grant"}
        return TOKENS


def furnish(home, folder: Path, provider: Provider, *, now, flow: str = FLOW, keys=None) -> str:
    """Install the ability of a provider, and add an account that nobody has signed in yet."""
    folder.mkdir(exist_ok=True)
    indented = "".join(f"  {line}\n" for line in flow.splitlines())
    (folder / "extension.yaml").write_text(MANIFEST.format(flow=indented), encoding="utf-8")
    install(home, plan_install(home, str(folder)), actor="tests", now=now)
    order = AccountOrder(project="acme", ability="notes", keys={"NOTES_SITE": provider.url} if keys is None else keys)
    account = add_account(home, order, actor="tests", now=now)
    allow_private(home, "acme", account.id, urlsplit(provider.url).netloc, actor="tests")
    return str(account.id)
