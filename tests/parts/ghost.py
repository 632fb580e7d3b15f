"""A real Ghost 5 with its posts in SQLite, its owner set up, and one integration that may use the Admin API.

Installing it takes minutes and half a gigabyte, so a person does it once, on Node 20, and names the folder in
HABILIS_GHOST. `npm pack ghost@5.130.6` brings the package; unpack it, take `devDependencies` out of its package.json,
and run `npm install --omit=dev --legacy-peer-deps` in it (`npm rebuild sqlite3 --build-from-source` where no ready
made one was brought).
"""

import http.cookiejar
import json
import os
import secrets
import sys
import urllib.request
from pathlib import Path

from counterpart import HOST, Counterpart, options

PERSON = {"name": "Owner", "email": "owner@example.test", "blogTitle": "A real blog"}


def main() -> None:
    """Start Ghost and stay."""
    with Counterpart("ghost", options("ghost", __doc__).parse_args()) as part:
        installed = Path(os.environ["HABILIS_GHOST"]).resolve()
        part.run("cp", "-r", installed / "content", part.data / "content")
        part.start("node", "index.js", env=_settings(part), folder=installed)
        part.until_answering("/ghost/api/admin/authentication/setup/")
        part.stay(key=_integration_key(part))


def _settings(part: Counterpart) -> dict[str, str]:
    """Everything that Ghost has to know, so that nothing is written beside its code."""
    return {
        "NODE_ENV": "production",
        "url": part.url,
        "server__host": HOST,
        "server__port": str(part.port),
        "process": "local",
        "database__client": "sqlite3",
        "database__connection__filename": str(part.data / "ghost.db"),
        "database__useNullAsDefault": "true",
        "paths__contentPath": str(part.data / "content"),
        "logging__transports": '["stdout"]',
        "logging__level": "error",
        "mail__transport": "Direct",
        "security__staffDeviceVerification": "false",
        "privacy__useUpdateCheck": "false",
        "privacy__useGravatar": "false",
        "privacy__useRpcPing": "false",
    }


def _integration_key(part: Counterpart) -> str:
    """Set the blog up as a person does on its first page, add an integration, and return its Admin API key."""
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))

    def post(path: str, body: object) -> bytes:
        headers = {"Content-Type": "application/json", "Origin": part.url}
        request = urllib.request.Request(
            f"{part.url}/ghost/api/admin{path}", json.dumps(body).encode(), headers, method="POST"
        )
        with browser.open(request, timeout=60) as answer:
            return answer.read()

    password = secrets.token_urlsafe(16)
    post("/authentication/setup/", {"setup": [{**PERSON, "password": password}]})
    post("/session/", {"username": PERSON["email"], "password": password})
    made = post("/integrations/?include=api_keys", {"integrations": [{"name": "Tests"}]})
    keys = json.loads(made)["integrations"][0]["api_keys"]
    key = next(key for key in keys if key["type"] == "admin")
    return f"{key['id']}:{key['secret'].rpartition(':')[2]}"


if __name__ == "__main__":
    sys.exit(main())
