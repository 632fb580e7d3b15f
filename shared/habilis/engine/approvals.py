"""A person's yes to one exact order: asked for, shown, given once or refused.

An approval is bound to the hash of what would be done: the ability's manifest, the tool, the account and where it
leads, and every argument. What changes any of these between the asking and the yes needs a new yes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from habilis.engine.outside import Outside
from habilis.engine.preparing import Prepared
from habilis.errors import NotFound
from habilis.home.store import Home
from habilis.home.waiting import Waiting
from habilis.messages import Json
from habilis.records import stamp
from habilis.templating import FileValue

_KEPT_FOR = timedelta(days=7)
_TEXTS = ("id", "project", "ability", "tool", "account", "asset", "channel", "asked_by", "bound_to")


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """An order that waits for a person's yes.

    Attributes:
        asset: `<type>/<id>` of the asset it is about; "" for none.
        channel: The channel a publish would go out by; "" for a plain call.
        requests: What would be sent, keys masked, for the person to read; see `show_requests`.
        bound_to: Hash of the order; a yes counts for exactly this.
    """

    id: str
    project: str
    ability: str
    tool: str
    account: str
    arguments: Mapping[str, Json]
    asset: str
    channel: str
    requests: Sequence[Mapping[str, Json]]
    asked_by: str
    asked_at: datetime
    expires_at: datetime
    bound_to: str

    @property
    def is_publish(self) -> bool:
        """Whether its link is recorded on the channel."""
        return bool(self.asset and self.channel)

    def as_data(self) -> dict[str, Json]:
        """As plain data, for records and replies."""
        return {
            "id": self.id,
            "project": self.project,
            "ability": self.ability,
            "tool": self.tool,
            "account": self.account,
            "asset": self.asset,
            "channel": self.channel,
            "arguments": dict(self.arguments),
            "requests": [dict(request) for request in self.requests],
            "asked_by": self.asked_by,
            "asked_at": stamp(self.asked_at),
            "expires_at": stamp(self.expires_at),
            "bound_to": self.bound_to,
        }


def ask_approval(home: Home, call: Prepared, outside: Outside, *, actor: str, channel: str = "") -> Approval:
    """Store a call until a person decides, and return what to show; asking again for the same gives the same one.

    Args:
        home: Beside which it is stored.
        call: What is asked about.
        outside: Says when it was asked.
        actor: Who asked.
        channel: The channel that it publishes through; "" for a plain call.
    """
    now = outside.now()
    bound_to = hash_order(call)
    for waiting in list_approvals(home, call.project, now=now):
        if waiting.bound_to == bound_to:
            return waiting
    from habilis.engine.showing import show_requests  # most calls are not asked about

    account = call.found.account
    approval = Approval(
        id=f"{bound_to[:8]}{outside.token().encode().hex()[:8]}",
        project=call.project,
        ability=call.found.manifest.id,
        tool=call.found.tool.name,
        account=account.id if account else "",
        arguments=call.arguments,
        asset=call.asset,
        channel=channel,
        requests=show_requests(call),
        asked_by=actor,
        asked_at=now,
        expires_at=now + _KEPT_FOR,
        bound_to=bound_to,
    )
    _waiting(home).put(approval.id, approval.as_data(), approval.expires_at)
    return approval


def list_approvals(home: Home, project: str, *, now: datetime) -> list[Approval]:
    """The project's waiting approvals, oldest first."""
    records = _waiting(home).list(now=now)
    found = [approval for record in records if (approval := _read(record)) and approval.project == project]
    return sorted(found, key=lambda approval: (approval.asked_at, approval.id))


def find_approval(home: Home, project: str, approval: str, *, now: datetime) -> Approval:
    """One waiting approval of the project; NotFound when it is not there, used up or out of time."""
    found = _read(_waiting(home).peek(approval, now=now))
    if found is None or found.project != project:
        raise _gone(project, approval)
    return found


def take_approval(home: Home, project: str, approval: str, *, now: datetime) -> Approval:
    """Take a waiting approval out, so that nobody else can use it; NotFound otherwise."""
    find_approval(home, project, approval, now=now)
    taken = _read(_waiting(home).take(approval, now=now))
    if taken is None:
        raise _gone(project, approval)
    return taken


def put_back(home: Home, approval: Approval) -> None:
    """Let an approval wait again: the order was proven not to have been carried out."""
    _waiting(home).put(approval.id, approval.as_data(), approval.expires_at)


def hash_order(call: Prepared) -> str:
    """SHA-256 of what would be done, hex.

    Secret keys' values are not part of it, so changing a password keeps a yes. A site's address is: it says where the
    order goes. So is the account's beginning: one that was removed and made anew under the same id is another one. And
    so are the bytes of the files that it may send.
    """
    account = call.found.account
    public = call.found.manifest.public_keys
    order: dict[str, Json] = {
        "manifest": call.found.manifest.content_hash,
        "tool": call.found.tool.name,
        "project": call.project,
        "account": account.id if account else "",
        "since": stamp(account.created_at) if account else "",
        "shown_keys": {str(name): value for name, value in call.found.keys.items() if name in public},
        "destination": dict(account.destination) if account else {},
        "private_hosts": [*sorted(account.private_hosts)] if account else [],
        "arguments": dict(call.arguments),
    }
    if call.files:
        from habilis.engine.files import digest

        order["files"] = [{**_told_of(file), "sha256": digest(file.path)} for file in call.files]
    return hashlib.sha256(json.dumps(order, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _told_of(file: FileValue) -> dict[str, Json]:
    return {name: file[name] for name in ("name", "mime", "size", "alt")}


def _waiting(home: Home) -> Waiting:
    return Waiting(home.private / ".state" / "approvals")


def _gone(project: str, approval: str) -> NotFound:
    return NotFound(
        f"no approval {approval!r} is waiting",
        hint=f"it was used, refused or ran out; see: habilis approvals ls {project}",
    )


def _read(record: Mapping[str, Json] | None) -> Approval | None:
    """The approval of a record; None when there is none, or it is not as `as_data` wrote it: nobody can agree to that.

    What a person changed in it with care is caught by `bound_to`.
    """
    try:
        fields = dict(record or {})
        if "request" in fields:  # kept by a version that showed the first one only
            fields["requests"] = [fields.pop("request")]
        asked, expires = (datetime.fromisoformat(str(fields.pop(name))) for name in ("asked_at", "expires_at"))
        approval = Approval(**fields, asked_at=asked, expires_at=expires)  # type: ignore[arg-type]  # checked below
    except (KeyError, TypeError, ValueError):
        return None
    texts = (getattr(approval, name) for name in _TEXTS)
    shaped = isinstance(approval.arguments, dict) and _is_list_of_fields(approval.requests)
    zoned = asked.tzinfo is not None and expires.tzinfo is not None
    return approval if shaped and zoned and all(isinstance(text, str) for text in texts) else None


def _is_list_of_fields(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)
