"""Signing in on another device: a code to type there, and waiting until somebody did."""

from dataclasses import dataclass

from habilis.engine.connecting.finishing import Connected, conclude, token_values
from habilis.engine.connecting.subject import Subject, find_subject
from habilis.engine.outside import Outside
from habilis.errors import NotFound
from habilis.home.store import Home
from habilis.manifest.model import DeviceFlow
from habilis.signin import device
from habilis.signin.device import DeviceCode


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSignIn:
    """A sign-in whose code is to be typed on another device."""

    subject: Subject
    way: DeviceFlow
    code: DeviceCode


def begin_on_device(home: Home, project: str, account: str, outside: Outside) -> DeviceSignIn:
    """Get a code that signs an account in on another device.

    Raises:
        NotFound: No such account, or its ability offers no such sign-in.
        SecretMissing: Something that the sign-in needs first is not set yet.
        HabilisError: Whatever the request failed with.
    """
    subject = find_subject(home, project, account, flow="device")
    way = subject.way
    if not isinstance(way, DeviceFlow):
        raise NotFound(f"{subject.manifest.id!r} offers no sign-in on another device")
    code = outside.drive(device.begin(way, scope=subject.scope(outside), bounds=subject.bounds()))
    return DeviceSignIn(subject=subject, way=way, code=code)


def wait_for_device(home: Home, begun: DeviceSignIn, outside: Outside) -> Connected:
    """Wait until a person has agreed, and store the keys.

    Raises:
        SignInDenied, SignInExpired, SignInFailed: They said no, took too long, or removed the account meanwhile.
        HabilisError: Whatever a request failed with.
    """
    subject, way = begun.subject, begun.way
    tokens = outside.drive(device.wait(way, begun.code, scope=subject.scope(outside), bounds=subject.bounds()))
    values, notes = token_values(subject, way, tokens, {})
    return conclude(home, subject, values, notes, outside)
