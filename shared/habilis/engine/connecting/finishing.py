"""The end of a sign-in: what came back, exchanged, checked and saved, all or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from habilis.engine.accounts import check_keys
from habilis.engine.connecting.pending import Pending
from habilis.engine.connecting.subject import Subject, choose_way
from habilis.engine.outside import Outside
from habilis.engine.resolve import find_manifest, key_file, load_keys
from habilis.engine.verifying import confirm, remember
from habilis.engine.workspace import Workspace, open_workspace
from habilis.errors import BadInput, FeatureDisabled, NotFound, SignInExpired, SignInFailed
from habilis.home.store import Home
from habilis.manifest.model import (
    CloudFlow,
    DeviceFlow,
    Manifest,
    OAuth2Flow,
    RedirectFlow,
    SessionFlow,
)
from habilis.names import KeyName
from habilis.records import Account, stamp
from habilis.redaction import current
from habilis.signin import cloud, oauth2
from habilis.signin.redirect import read_return, same_site
from habilis.signin.tokens import TokenSet, exchange_code

_Tokened = OAuth2Flow | CloudFlow | DeviceFlow | SessionFlow


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A sign-in that came to its end: the account that now holds the keys.

    Attributes:
        notes: What the person should know of it.
    """

    project: str
    account: str
    label: str
    notes: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """What the person is told, in sentences."""
        return " ".join([f"{self.label} is signed in.", *(f"Note: {note}." for note in self.notes)])


def finish(home: Home, pending: Pending, query: Mapping[str, Sequence[str]], outside: Outside) -> Connected:
    """End a sign-in with what the browser came back with, and store the keys, all or none.

    Args:
        home: Where the account is.
        pending: The sign-in that the return belongs to; whoever calls has taken it, so that it counts once.
        query: The return's parameters, each with every value it came with.
        outside: The world.

    Raises:
        SignInExpired: It came too late.
        SignInDenied, SignInFailed: The service said no, did not bring all that it should, or the account is gone.
        HabilisError: Whatever a request on the way failed with.
    """
    if outside.now() > pending.expires_at:
        raise SignInExpired("the sign-in took longer than ten minutes", hint="start it again")
    subject = _subject_of(home, pending)
    match subject.way:
        case RedirectFlow() as way:
            values = _checked(subject, read_return(way, subject.manifest, query, subject.keys))
            notes: tuple[str, ...] = ()
        case OAuth2Flow() as way:
            values, notes = _finish_oauth2(subject, way, pending, query, outside)
        case CloudFlow() as way:
            values, notes = _finish_cloud(subject, way, pending, query, outside)
        case _:
            raise SignInFailed("the ability no longer offers this sign-in", hint="start the sign-in again")
    return conclude(home, subject, values, notes, outside)


def conclude(
    home: Home,
    subject: Subject,
    values: Mapping[str, str],
    notes: tuple[str, ...],
    outside: Outside,
    *,
    made: Mapping[str, str] | None = None,
) -> Connected:
    """Save the keys of a sign-in, where they are those of the account's own person.

    Args:
        home: Where the account is.
        subject: Who was signed in.
        values: What is saved.
        notes: What the person should know of it.
        outside: Asks whose they are.
        made: A token that is never stored; None for none.

    Raises:
        SignInFailed: They are somebody else's, or the account was removed meanwhile; nothing was stored.
    """
    account, manifest = subject.account, subject.manifest
    who, told = confirm(manifest, account, {**subject.keys, **values, **(made or {})}, outside)
    save(home, account, values)
    kept = remember(home, account, manifest, who, actor="sign-in")
    return Connected(project=kept.project, account=kept.id, label=kept.label, notes=(*notes, *told))


def save(home: Home, account: Account, values: Mapping[str, str]) -> None:
    """Store the keys of a sign-in at once, and not in the middle of a renewal.

    Raises:
        SignInFailed: The account was removed meanwhile: a sign-in must not bring it back to life.
    """
    with home.hold(f"sign-in-{account.project}-{account.id}"):
        _account_of(home, account.project, account.id, stamp(account.created_at))
        key_file(home, account).set(values)


def token_values(
    subject: Subject, way: _Tokened, tokens: TokenSet, learned: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The keys that a sign-in saves, and what the person should know of it."""
    asked = () if isinstance(way, SessionFlow) else way.scopes
    kept = {
        **tokens.as_keys(way.token_env, way.refresh_env, stored=subject.keys),
        **tokens.scope_keys(way.token_env, asked, stored=subject.keys),
    }
    missing = ", ".join(tokens.missing(asked))
    notes = (f"fewer permissions than were asked for: {missing} missing",) if missing else ()
    return {**{str(name): value for name, value in kept.items()}, **learned}, notes


def _account_of(home: Home, project: str, name: str, since: str) -> tuple[Workspace, Account]:
    """The account and its project as they are now; SignInFailed where it was removed, or made anew."""
    try:
        workspace = open_workspace(home, home.open(), project)
        account = workspace.accounts.get(name)
    except NotFound:
        account = None
    # One that was made anew under the same id is another account, perhaps of another service.
    if account is None or stamp(account.created_at) != since:
        raise SignInFailed("this sign-in was cancelled: its account is gone", hint="add the account again")
    return workspace, account


def _subject_of(home: Home, pending: Pending) -> Subject:
    """The account as it is now, and the way that its sign-in began with; SignInFailed where either is gone."""
    workspace, account = _account_of(home, pending.project, pending.account, pending.since)
    try:
        manifest = find_manifest(workspace, pending.ability)
    except NotFound:
        raise SignInFailed(
            "this sign-in was cancelled: its ability is gone", hint="install the ability again"
        ) from None
    way = _way_of(manifest, pending)
    return Subject(account=account, manifest=manifest, way=way, keys=load_keys(home, manifest, account))


def _way_of(manifest: Manifest, pending: Pending) -> RedirectFlow | OAuth2Flow | CloudFlow:
    try:
        way = choose_way(manifest, pending.flow)
    except NotFound:
        way = None
    if not isinstance(way, RedirectFlow | OAuth2Flow | CloudFlow):
        raise SignInFailed("the ability no longer offers this sign-in", hint="start the sign-in again")
    return way


def _finish_oauth2(
    subject: Subject, way: OAuth2Flow, pending: Pending, query: Mapping[str, Sequence[str]], outside: Outside
) -> tuple[dict[str, str], tuple[str, ...]]:
    code = oauth2.read_code(query, issuer=pending.issuer)
    current().add("code_verifier", pending.verifier)
    registered = dict(pending.registered)
    talk = exchange_code(
        way,
        code,
        verifier=pending.verifier,
        redirect_uri=pending.redirect_uri,
        scope=subject.scope(outside, learned=registered),
        bounds=subject.bounds(),
    )
    tokens = outside.drive(talk)
    learned = _checked(subject, _own_sites(subject, way, oauth2.learn(way, query, tokens)))
    fresh = {**registered, **learned, way.token_env: tokens.access}
    after = oauth2.learn_afterwards(way, scope=subject.scope(outside, learned=fresh), bounds=subject.bounds(fresh))
    learned |= _checked(subject, _own_sites(subject, way, outside.drive(after)))
    return token_values(subject, way, tokens, {**registered, **learned})


def _finish_cloud(
    subject: Subject, way: CloudFlow, pending: Pending, query: Mapping[str, Sequence[str]], outside: Outside
) -> tuple[dict[str, str], tuple[str, ...]]:
    if outside.relay is None:
        raise FeatureDisabled("this engine no longer knows the relay that the sign-in went through")
    code = oauth2.read_code(query, issuer=pending.issuer)
    talk = cloud.exchange_code(way, outside.relay, code=code, verifier=pending.verifier, now=outside.now())
    return token_values(subject, way, outside.drive(talk), {})


def _own_sites(subject: Subject, way: OAuth2Flow, learned: Mapping[KeyName, str]) -> dict[KeyName, str]:
    """What was learned; a site that the person named may not become another one."""
    asked = {name: subject.keys.get(name, "") for name in way.needs if f"${{{name}}}" in subject.manifest.hosts}
    return {name: same_site(value, asked[name]) if asked.get(name) else value for name, value in learned.items()}


def _checked(subject: Subject, values: Mapping[KeyName, str]) -> dict[str, str]:
    """The values of a return as they are stored; SignInFailed where one does not fit."""
    for name, value in values.items():
        if name not in subject.manifest.public_keys:
            current().add(name, value)
    try:
        return check_keys(subject.manifest, {str(name): value for name, value in values.items()})
    except BadInput as error:
        raise SignInFailed(f"the service came back with a value that does not fit: {error.message}") from error
