"""A real OpenID provider, npm's oidc-provider: codes with PKCE (S256, always), `iss` in every return, refresh tokens of
which each serves once (a second use of one ends all that came of that sign-in), device codes, client credentials,
revocation, introspection, and clients that register themselves.

Its one person is signed in and agrees at once, without a page. A client that registers can have it otherwise:
`access_ttl_s` (seconds that its access tokens live), `denies` (the person says no), `withholds` (scopes, parted by
spaces, that she does not grant), `keeps_refresh` (its refresh token serves for ever) and `pages` (the provider's own
pages to sign in and to agree; any name and password will do).
"""

import json
import secrets
import sys
from pathlib import Path

from counterpart import HOST, Counterpart, options

CALLBACK = f"http://{HOST}/api/connect/callback"
"""Where the ready made clients are sent back to; for `native`, on any port."""

SCOPES = ("notes.read", "notes.write")
PERSON = "ada"


def main() -> None:
    """Start the provider and stay."""
    parser = options("oidc", __doc__)
    parser.add_argument("--redirect", action="append", help="where the ready made clients are sent back to, as well")
    arguments = parser.parse_args()
    with Counterpart("oidc", arguments) as part:
        secret = secrets.token_urlsafe(24)
        scope = " ".join(("openid", "offline_access", "profile", "email", *SCOPES))
        common = {"redirect_uris": [CALLBACK, *(arguments.redirect or ())], "scope": scope}
        held = {**common, "client_secret": secret}
        native = {**common, "application_type": "native"}
        settings = {
            "host": HOST,
            "port": part.port,
            "issuer": part.url,
            "secret": secrets.token_urlsafe(24),
            "events": str(part.data / "events.jsonl"),
            "person": PERSON,
            "scopes": SCOPES,
            "clients": [
                {**held, "client_id": "web", "token_endpoint_auth_method": "client_secret_basic"},
                {**held, "client_id": "web-post", "token_endpoint_auth_method": "client_secret_post"},
                {**native, "client_id": "native", "token_endpoint_auth_method": "none"},
            ],
        }
        server = Path(__file__).with_name("oidc_server.mjs")
        part.start("node", server, env={"OIDC_SETTINGS": json.dumps(settings)})
        part.until_answering("/.well-known/openid-configuration")
        part.stay(callback=CALLBACK, client_secret=secret, events=settings["events"])


if __name__ == "__main__":
    sys.exit(main())
