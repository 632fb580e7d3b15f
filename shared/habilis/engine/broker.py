"""Signs in for other engines at providers whose applications have a secret: the secret is added here, nothing is kept.

An engine asks for the provider's page. The provider sends the browser back to the one address it knows, `CALLBACK`,
from where the relay sends it on to the engine. The engine hands in the code that it was brought, with the PKCE verifier
that only it knows, and what the provider gives is passed on.

Source: RFC 6749 sections 4.1 and 6, RFC 7636; docs/http.md, "The broker".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from habilis.engine.outside import Outside
from habilis.engine.providers import Provider
from habilis.engine.relays import RelayAddresses
from habilis.errors import ArgsInvalid, Forbidden, NeedsReconnect, SignInFailed
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts, origin_of
from habilis.messages import Json
from habilis.redaction import current
from habilis.signin.client import Client, token_request
from habilis.signin.tokens import read_tokens
from habilis.templating import Scope, compile_url

CALLBACK = "/broker/callback"
"""What providers know as this application's redirect URI, below the relay's own address."""

_STATE = re.compile(r"[A-Za-z0-9_-]{43,128}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_LONGEST_TOKEN = 32 * 1024
_PASSED_ON = ("access_token", "token_type", "expires_in", "refresh_token", "refresh_token_expires_in", "scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A provider's page for one sign-in.

    Attributes:
        issuer: What `iss` of the return has to be, to the letter; "" where the provider sends none.
        expires_at: Until when the return is sent on.
    """

    url: str
    issuer: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an engine asks a sign-in for.

    Attributes:
        scope: Scopes, parted by spaces.
        state: A new secret of the engine's; it comes back with the browser.
        challenge: Of PKCE, S256.
        target: The engine's own callback.
    """

    scope: str
    state: str
    challenge: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """The broker for one provider.

    Attributes:
        own_url: Where browsers reach the relay, no slash at the end.
    """

    provider: Provider
    own_url: str
    outside: Outside

    def open_page(self, asked: Asked, relay: RelayAddresses, origins: frozenset[str]) -> Page:
        """The provider's page, its return registered at the relay under the engine's state.

        Raises:
            Forbidden: A scope that this provider is not set up for.
            ArgsInvalid: State or challenge are none.
            BadInput: The target is not the engine's.
            Busy: Too many sign-ins wait.
        """
        if not _STATE.fullmatch(asked.state) or not _CHALLENGE.fullmatch(asked.challenge):
            raise ArgsInvalid(
                "state and code_challenge are 256 bits each, as base64url", hint="make both anew each time"
            )
        scopes = asked.scope.split()
        if unknown := sorted(set(scopes) - self.provider.scopes):
            raise Forbidden(
                f"the relay does not ask {self.provider.name} for {unknown[0][:120]!r}",
                hint="who runs the relay lists the scopes of a provider",
            )
        expires_at = relay.register(
            asked.target, relay_id=return_id([asked.state]), now=self.outside.now(), origins=origins
        )
        query = {
            **self.provider.params,
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": f"{self.own_url}{CALLBACK}",
            "scope": " ".join(scopes),
            "state": asked.state,
            "code_challenge": asked.challenge,
            "code_challenge_method": "S256",
        }
        url = f"{self.provider.authorize_url}?{urlencode({name: text for name, text in query.items() if text})}"
        return Page(url=url, issuer=self.provider.issuer, expires_at=expires_at)

    def exchange(self, code: str, verifier: str) -> dict[str, Json]:
        """The provider's tokens for a code.

        Raises:
            SignInFailed: The provider does not take the code, or gives no token for it.
            UpstreamFailed: It does not answer well.
        """
        _mask(code=code, code_verifier=verifier)
        if not _VERIFIER.fullmatch(verifier):
            raise ArgsInvalid("code_verifier is 43 to 128 characters of base64url")
        redirect = f"{self.own_url}{CALLBACK}"
        try:
            return self._tokens(
                {
                    "grant_type": "authorization_code",
                    "code": code,
                    "redirect_uri": redirect,
                    "code_verifier": verifier,
                }
            )
        except NeedsReconnect as error:
            # Providers say of a code, too, that it counts no more; but no account was signed in yet.
            raise SignInFailed(error.message, where=error.where, hint="start the sign-in again") from None

    def refresh(self, refresh_token: str) -> dict[str, Json]:
        """The provider's new tokens for a refresh token.

        Raises:
            NeedsReconnect: The refresh token counts no more (`invalid_grant`).
            SignInFailed: The provider refuses for another reason, or gives no token.
            UpstreamFailed: It does not answer well; the refresh token may count still.
        """
        _mask(refresh_token=refresh_token)
        return self._tokens({"grant_type": "refresh_token", "refresh_token": refresh_token})

    def _tokens(self, fields: Mapping[str, str]) -> dict[str, Json]:
        """What the provider's token address gives, with the secret added; nothing of it is kept."""
        provider = self.provider
        client = Client(id=provider.client_id, secret=provider.client_secret, auth=provider.client_auth)
        _, host, port = origin_of(provider.token_url)
        hosts = AllowedHosts.of([f"{host}:{port}"], {})
        bounds = Bounds(hosts=hosts, private_hosts=provider.private_hosts, is_read=False)
        current().add("client_secret", provider.client_secret)
        request = token_request(client, compile_url(provider.token_url), fields, Scope({}, {}), bounds)
        answer = self.outside.transport.send(request)
        tokens = read_tokens(answer, now=self.outside.now(), where=f"the token address of {provider.name}")
        given = tokens.seen.body
        return {name: given[name] for name in _PASSED_ON if name in given} if isinstance(given, dict) else {}


def return_id(states: Sequence[str]) -> str:
    """The id at the relay of a return that came with these values of `state`; one that never is, but for just one."""
    # With a slash, which no id in an address has: what was registered for a return serves for nothing else.
    return f"{CALLBACK}/{states[0]}" if len(states) == 1 else CALLBACK


def _mask(**secrets: str) -> None:
    for name, value in secrets.items():
        if not 0 < len(value) <= _LONGEST_TOKEN:
            raise ArgsInvalid(f"{name} is empty or too long")
        current().add(name, value)
