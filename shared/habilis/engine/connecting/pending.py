"""A sign-in that has begun and waits for its return."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from habilis.messages import Json
from habilis.records import stamp

WAITS_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What the end of a sign-in needs to know of its beginning.

    Attributes:
        since: When the account was made: another one under the same id is not meant.
        ability: Whose way it is.
        flow: Which one.
        state: A secret that the return brings back.
        page: What the person opens.
        redirect_uri: Where the provider was told to send the browser; "" for a page that sends it nowhere.
        expires_at: The return is late from then on.
        verifier: Of PKCE; "" where the provider takes none.
        issuer: Who has to answer; "" where that is not known.
        registered: Keys of a registration that is saved with the tokens, for the old one is still in use.
    """

    project: str
    account: str
    since: str
    ability: str
    flow: str
    state: str = field(repr=False)
    page: str = field(repr=False)
    redirect_uri: str
    expires_at: datetime
    verifier: str = field(default="", repr=False)
    issuer: str = ""
    registered: Mapping[str, str] = field(default_factory=dict, repr=False)

    def as_record(self) -> dict[str, Json]:
        """As JSON, to wait in a file that only the home's owner can read."""
        return {**asdict(self), "expires_at": stamp(self.expires_at)}

    @classmethod
    def of_record(cls, record: Mapping[str, Json]) -> "Pending":
        """The sign-in that was kept."""
        registered = record["registered"]
        texts = {name: str(value) for name, value in record.items() if isinstance(value, str)}
        expires_at = datetime.fromisoformat(texts.pop("expires_at"))
        known = {str(key): str(value) for key, value in registered.items()} if isinstance(registered, dict) else {}
        return cls(**texts, expires_at=expires_at, registered=known)
