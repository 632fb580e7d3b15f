"""Keys as calls use them: their token renewed before it runs out, and once more when a service no longer takes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from habilis.engine.health import StoredWay, can_renew, end_of
from habilis.engine.outside import Outside
from habilis.engine.refreshing import MARGIN, Holder, MintedWay, mint, renew_stored
from habilis.engine.resolve import load_keys
from habilis.errors import Busy, NeedsReconnect, SignInFailed, UpstreamFailed
from habilis.exchange.fill import SignOut
from habilis.home.store import Home
from habilis.manifest.model import Manifest
from habilis.records import Account
from habilis.signin.ways import way_in_use

_KEPT_AHEAD = timedelta(days=3)
_IDLE = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveKeys:
    """The keys of an account, ready to be used.

    Attributes:
        keys: Fill requests from this very mapping: a new token is put into it.
        sign_out: For `Bounds`: what shows that the token is no longer taken; None where there is no token.
        renew: For `Outside.drive`: puts a new token among the keys; None where there is none to be had.
    """

    keys: Mapping[str, str]
    sign_out: SignOut | None = None
    renew: Callable[[], bool] | None = None


class SignedIn:
    """An account that is signed in by a way whose token runs out, for one call."""

    def __init__(self, holder: Holder, way: StoredWay | MintedWay, keys: dict[str, str]) -> None:
        """Take the account's keys as they are stored; new tokens are put among them."""
        self._holder = holder
        self._way = way
        self._keys = keys

    @property
    def sign_out(self) -> SignOut:
        """What shows that the token is no longer taken."""
        return SignOut(expired=self._way.expired)

    @property
    def shown_keys(self) -> dict[str, str]:
        """The keys for a request that is shown and not sent: one that is not there yet stands by its name."""
        return {self._way.token_env: f"<{self._way.token_env}>", **self._keys}

    def freshen(self, outside: Outside) -> None:
        """Have a token that is good for a while; one with little left stays where there is no other.

        Raises:
            HabilisError: As `renew_stored` and `mint`, where the token that is there has run out.
        """
        way = self._way
        if isinstance(way, MintedWay):
            self._keys[way.token_env] = mint(self._holder, way, outside, self._keys)
            return
        used, ends, now = self._keys.get(way.token_env, ""), end_of(way, self._keys), outside.now()
        is_enough = ends is None or ends - now > MARGIN or not can_renew(way, self._keys)
        if used and is_enough:
            return
        try:
            self._take(renew_stored(self._holder, way, outside, used=used))
        except NeedsReconnect:
            raise
        except (UpstreamFailed, SignInFailed, Busy):
            # An outage there signs nobody out.
            if not used or ends is None or ends <= now:
                raise

    def keep_alive(self, outside: Outside) -> bool:
        """Renew a stored token that runs out within days, used or not; whether it was one.

        A refresh token that nobody uses lapses, and few providers say when. One whose end nobody knows is renewed once
        its keys were not written for a week.

        Raises:
            HabilisError: As `renew_stored`.
        """
        way = self._way
        if isinstance(way, MintedWay) or not can_renew(way, self._keys):
            return False
        ends, now = end_of(way, self._keys), outside.now()
        lasts = self._holder.written_at() + _IDLE > now if ends is None else ends > now + _KEPT_AHEAD
        return not lasts and self.renew(outside)

    def renew(self, outside: Outside) -> bool:
        """Put a token in place of the one that the service no longer takes; True, or an error as for `freshen`."""
        way = self._way
        used = self._keys.get(way.token_env, "")
        if isinstance(way, MintedWay):
            self._keys[way.token_env] = mint(self._holder, way, outside, self._keys, used=used)
        else:
            self._take(renew_stored(self._holder, way, outside, used=used))
        return True

    def _take(self, keys: dict[str, str]) -> None:
        self._keys.clear()
        self._keys.update(keys)


def signed_in(home: Home, manifest: Manifest, account: Account, keys: dict[str, str]) -> SignedIn | None:
    """The account as one whose token runs out; None where it uses no such way.

    Args:
        home: Where its keys are.
        manifest: One with `kept_keys`; others have no such way.
        account: Any.
        keys: As they are stored.
    """
    way = way_in_use(manifest, keys)
    if not isinstance(way, StoredWay | MintedWay):
        return None
    return SignedIn(Holder(home=home, manifest=manifest, account=account), way, keys)


def fresh_keys(home: Home, manifest: Manifest, account: Account, outside: Outside) -> LiveKeys:
    """The account's keys with a token that is good for a while.

    Raises:
        HabilisError: As `load_keys` and `SignedIn.freshen`.
    """
    keys = load_keys(home, manifest, account)
    live = signed_in(home, manifest, account, keys) if manifest.kept_keys else None
    if live is None:
        return LiveKeys(keys=keys)
    live.freshen(outside)
    return LiveKeys(keys=keys, sign_out=live.sign_out, renew=partial(live.renew, outside))
