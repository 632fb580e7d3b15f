"""Git over https: each connection goes to an address that was checked, and every fault becomes one of ours.

A git client sees none of urllib3's ways to be helpful: no redirect is followed, no proxy of the environment used.
"""

import socket
import ssl
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import urllib3
from dulwich.client import AbstractHttpGitClient
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, SSLError
from urllib3.response import BaseHTTPResponse
from urllib3.util import make_headers

from habilis.errors import (
    AddressNotAllowed,
    HabilisError,
    HomeReadonly,
    RedirectRefused,
    RemoteUnreachable,
    TlsVerifyFailed,
    UpstreamUnavailable,
)
from habilis.guard import AddressPolicy
from habilis.home.reach import OPT_IN, Address, Reach

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse

_CONNECT_S = 10.0
_PUSHING = "git-receive-pack"


def connections(address: Address, reach: Reach) -> urllib3.PoolManager:
    """Return the connections to one remote, kept open between requests; each is dialled to a checked address."""
    policy = AddressPolicy(
        private_hosts=reach.private_hosts,
        private_only=address.url.startswith("http:"),
        resolver=reach.resolver,
    )

    def dial(host: str, port: int) -> socket.socket:
        try:
            candidates = policy.addresses(host, port)
        except UpstreamUnavailable as error:
            raise RemoteUnreachable(error.message, where=address.url, hint=error.hint) from None
        except AddressNotAllowed as error:
            raise AddressNotAllowed(error.message, where=address.url, hint=OPT_IN) from None
        for each in candidates:
            try:
                return socket.create_connection((each, port), timeout=_CONNECT_S)
            except OSError:
                continue
        raise RemoteUnreachable(
            "the home's remote does not take connections", where=address.url, hint="try again later"
        )

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return dial(self.host, self.port or 80)

    class Encrypted(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return dial(self.host, self.port or 443)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    # One context for all connections: making one reads every certificate.
    is_encrypted = address.url.startswith("https:")
    trusted = ssl.create_default_context(cafile=str(reach.ca_file) if reach.ca_file else None) if is_encrypted else None
    pools = urllib3.PoolManager(timeout=urllib3.Timeout(connect=_CONNECT_S, read=reach.timeout_s), ssl_context=trusted)
    pools.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}
    return pools


class Reply:
    """An answer as the git client reads it."""

    redirect_location = ""

    def __init__(self, answer: BaseHTTPResponse) -> None:
        self._answer = answer
        self.content_type = answer.headers.get("Content-Type", "")

    def close(self) -> None:
        """Give the connection back."""
        self._answer.drain_conn()
        self._answer.release_conn()


class WireClient(AbstractHttpGitClient):
    """A git client over our connections.

    Attributes:
        has_sent: Whether a push was sent, so that its outcome is open until the answer is there.
    """

    def __init__(self, address: Address, pools: urllib3.PoolManager) -> None:
        super().__init__(address.url, thin_packs=True, quiet=True)
        self._address, self._pools = address, pools
        self._headers = {"User-Agent": "git/habilis", "Pragma": "no-cache"}
        if address.user or address.password:
            self._headers |= make_headers(basic_auth=f"{address.user}:{address.password}")
        self.has_sent = False

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple["HTTPResponse", Callable[[int], bytes]]:
        """Make one request of the git protocol; raises our errors only."""
        is_push = _PUSHING in url
        self.has_sent = self.has_sent or (data is not None and is_push)
        answer = self._asked(url, self._headers | (headers or {}), data)
        if answer.status != 200:
            answer.drain_conn()
            answer.release_conn()
            raise self._refused(answer.status, is_push=is_push)
        reply = Reply(answer)
        if not reply.content_type.startswith("application/x-git-"):
            raise self._unreachable("the address answers, but not as a git repository does", is_settled=True)

        def read(size: int) -> bytes:
            try:
                return answer.read(size)
            except (HTTPError, OSError):
                raise self._unreachable("the home's remote broke off its answer") from None

        return cast("HTTPResponse", reply), read

    def _asked(self, url: str, headers: dict[str, str], data: bytes | Iterator[bytes] | None) -> BaseHTTPResponse:
        method = "GET" if data is None else "POST"
        # What is only read is asked for once more: a kept connection may have been closed at the other end.
        for is_last in (data is not None, True):
            try:
                body: Any = data
                return self._pools.request(
                    method, url, headers=headers, body=body, preload_content=False, redirect=False, retries=False
                )
            except (SSLError, ssl.SSLError) as error:
                raise self._untrusted(error) from None
            except (HTTPError, OSError):
                if is_last:
                    raise self._unreachable("the home's remote gave no answer") from None
        raise AssertionError("a request is made once or twice")

    def _untrusted(self, error: Exception) -> HabilisError:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return TlsVerifyFailed(
                "the certificate of the home's remote is not trusted",
                where=self._address.url,
                hint="name the file of its authority's certificates",
            )
        return self._unreachable("no encrypted connection to the home's remote came about")

    def _refused(self, status: int, *, is_push: bool) -> HabilisError:
        host, where = urlsplit(self._address.url).hostname, self._address.url
        if 300 <= status < 400:
            return RedirectRefused(
                f"{host} sends the home's remote elsewhere, which is not followed",
                where=where,
                hint="use its final address",
                outcome="not_sent",
            )
        if status in {401, 403} and is_push:
            return HomeReadonly(
                f"{host} takes no pushes to the home from this user ({status})",
                where=where,
                hint="use a user and password, or a token, that may write there",
            )
        if status in {401, 403}:
            return self._unreachable(
                f"{host} refused the user name and password of the home's remote ({status})",
                hint="check them, and that they may read there",
                is_settled=True,
            )
        if status in {404, 410}:
            return self._unreachable(f"{host} has no repository there ({status})", is_settled=True)
        return self._unreachable(f"{host} answered {status} for the home's remote")

    def _unreachable(
        self, message: str, *, hint: str = "try again later", is_settled: bool = False
    ) -> RemoteUnreachable:
        return RemoteUnreachable(
            message,
            where=self._address.url,
            hint="check the address" if is_settled and hint == "try again later" else hint,
            retryable=not is_settled,
        )
