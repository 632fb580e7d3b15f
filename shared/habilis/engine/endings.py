"""How a sign-in ended, for the page that tells the person.

The service's return holds keys in its query. The browser is sent on from there to a page with a clean address, so that
neither the address bar nor the history keeps them; what that page says waits here.
"""

from dataclasses import dataclass
from datetime import timedelta

from habilis.engine.outside import Outside
from habilis.home.store import Home
from habilis.home.waiting import Waiting

_SHOWN_FOR = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a person is told: a title, a sentence, and the HTTP status of the page."""

    title: str
    text: str
    status: int


def keep_ending(home: Home, ending: Ending, outside: Outside) -> str:
    """Keep an ending for ten minutes and return the secret id it is found under."""
    name, now = outside.token(), outside.now()
    waiting = _waiting(home)
    waiting.list(now=now)  # listing sweeps what is over
    waiting.put(name, {"title": ending.title, "text": ending.text, "status": ending.status}, now + _SHOWN_FOR)
    return name


def find_ending(home: Home, name: str, outside: Outside) -> Ending | None:
    """The ending under an id, as often as the page is loaded; None when there is none, or it is over."""
    record = _waiting(home).peek(name, now=outside.now())
    if record is None:
        return None
    return Ending(title=str(record["title"]), text=str(record["text"]), status=int(str(record["status"])))


def _waiting(home: Home) -> Waiting:
    return Waiting(home.private / ".state" / "sign-in-endings")
