"""Signing in with keys alone: tried once, so that a wrong one shows at once and not at the first call."""

from habilis.engine.connecting.finishing import Connected, conclude, token_values
from habilis.engine.connecting.subject import find_subject
from habilis.engine.outside import Outside
from habilis.engine.refreshing import Holder, mint
from habilis.errors import FeatureDisabled
from habilis.home.store import Home
from habilis.manifest.model import ClientCredentialsFlow, ServiceAccountFlow, SessionFlow
from habilis.signin import session


def sign_in(home: Home, project: str, account: str, outside: Outside, *, flow: str) -> Connected:
    """Sign an account in with its keys; of a way whose token is never stored, only that it gives one.

    Raises:
        NotFound: No such account, or its ability offers no such sign-in.
        SecretMissing: One of its keys, or the file that one names, is not there.
        FeatureDisabled: The way takes a browser.
        HabilisError: As `session.sign_in` and `mint`.
    """
    subject = find_subject(home, project, account, flow=flow)
    match subject.way:
        case SessionFlow() as way:
            talk = session.sign_in(way, scope=subject.scope(outside), bounds=subject.bounds())
            values, notes = token_values(subject, way, outside.drive(talk), {})
            return conclude(home, subject, values, notes, outside)
        case ServiceAccountFlow() | ClientCredentialsFlow() as way:
            holder = Holder(home=home, manifest=subject.manifest, account=subject.account)
            made = {str(way.token_env): mint(holder, way, outside, subject.keys)}
            return conclude(home, subject, {}, (), outside, made=made)
        case way:
            raise FeatureDisabled(f"{subject.manifest.id!r} signs in by {way.flow}, in a browser")
