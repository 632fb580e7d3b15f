"""A token endpoint for service accounts, as Google's is: Authlib's own grant of RFC 7523 takes signed statements.

It checks signature, issuer, audience and times, with no second of leeway. Added here: the one service account with its
key file in Google's form, the scopes that a statement itself asks for, a life of an hour at most, and `GET /whoami`,
which says whose token it got, 401 for one that is unknown or over, and 403 where it lacks `?scope=`.
"""

import json
import sys
import time
from pathlib import Path

from counterpart import HOST, Counterpart, options

EMAIL = "robot@parts.example.test"
SCOPES = ("notes.read", "notes.write")
LONGEST_S = 3600


def main() -> None:
    """Start the endpoint and stay."""
    parser = options("jwtbearer", __doc__)
    parser.add_argument("--token-ttl", type=int, default=3600, help="seconds that a token lives")
    arguments = parser.parse_args()
    with Counterpart("jwtbearer", arguments) as part:
        key = _new_key(f"{part.url}/token")
        key_file = part.data / "service-account.json"
        key_file.touch(mode=0o600)
        key_file.write_text(json.dumps(key, indent=2))
        part.start(
            *(sys.executable, __file__, "--serve", str(part.port), key_file, str(arguments.token_ttl)),
            env={"AUTHLIB_INSECURE_TRANSPORT": "1"},  # it speaks http, on this machine only
        )
        part.until_answering("/whoami")
        part.stay(token_url=f"{part.url}/token", whoami=f"{part.url}/whoami", key_file=str(key_file), email=EMAIL)


def serve(port: int, key_file: Path, token_ttl_s: int) -> None:
    """Answer until the process is ended."""
    from flask import Flask, jsonify, request
    from werkzeug.serving import make_server

    tokens: dict[str, dict] = {}
    app = Flask("jwtbearer")
    token_endpoint = _authorization_server(app, json.loads(key_file.read_text()), token_ttl_s, tokens)
    app.post("/token")(token_endpoint.create_token_response)

    @app.get("/whoami")
    def whoami():
        token = tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if token is None or token["until"] <= time.time():
            return jsonify(error="invalid_token"), 401
        if request.args.get("scope", "") not in {"", *token["scope"].split()}:
            return jsonify(error="insufficient_scope"), 403
        return jsonify(email=EMAIL, scope=token["scope"])

    make_server(HOST, port, app, threaded=True).serve_forever()


def _new_key(token_url: str) -> dict[str, str]:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return {
        "type": "service_account",
        "project_id": "parts",
        "private_key_id": "key-1",
        "private_key": pem.decode(),
        "client_email": EMAIL,
        "client_id": "1",
        "token_uri": token_url,
    }


def _authorization_server(app, key: dict[str, str], token_ttl_s: int, tokens: dict[str, dict]):
    """Authlib's server with the one grant; what the grant is made of is below."""
    from authlib.integrations.flask_oauth2 import AuthorizationServer

    def save(token, _request):
        tokens[token["access_token"]] = {**token, "until": time.time() + token_ttl_s}

    server = AuthorizationServer(app, query_client=lambda _: None, save_token=save)
    server.register_grant(_grant(key, token_ttl_s))
    return server


def _client():
    from authlib.oauth2.rfc6749 import ClientMixin

    class Robot(ClientMixin):
        def get_client_id(self):
            return EMAIL

        def get_allowed_scope(self, scope):
            return scope

        def check_grant_type(self, _):
            return True

    return Robot()


def _grant(key: dict[str, str], token_ttl_s: int):
    """The grant's class; its methods are what it asks the one who uses it for."""
    from authlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidScopeError
    from authlib.oauth2.rfc7523 import JWTBearerGrant
    from joserfc.jwk import RSAKey

    class Grant(JWTBearerGrant):
        LEEWAY = 0

        def resolve_issuer_client(self, issuer):
            return _client() if issuer == EMAIL else None

        def resolve_client_public_key(self, _):
            return RSAKey.import_key(key["private_key"])

        def get_audiences(self):
            return [key["token_uri"]]

        def authenticate_user(self, subject):
            return subject if subject == EMAIL else None

        def has_granted_permission(self, *_):
            return True

        def process_assertion_claims(self, assertion):
            claims = super().process_assertion_claims(assertion)
            if claims["exp"] - claims.get("iat", 0) > LONGEST_S:
                raise InvalidGrantError(description="the statement lives for more than an hour")
            self.scope = claims.get("scope", "")
            if not self.scope or not set(self.scope.split()) <= set(SCOPES):
                raise InvalidScopeError(description="no such scope")
            return claims

        def create_token_response(self):
            user = self.request.user
            token = self.generate_token(
                scope=self.scope, user=user, include_refresh_token=False, expires_in=token_ttl_s
            )
            self.save_token(token)
            return 200, token, self.TOKEN_RESPONSE_HEADER

    return Grant


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sys.exit(serve(int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
    sys.exit(main())
