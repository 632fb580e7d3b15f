"""How the engine's answers and errors look as plain data: the same on every face."""

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from datetime import datetime
from typing import TypeGuard

from habilis.engine.outside import Traced
from habilis.errors import HabilisError, ManifestInvalid
from habilis.messages import Json
from habilis.records import stamp


def as_json(value: object) -> Json:
    """Data of the engine as plain JSON: dataclasses by their fields, moments as text, sets sorted.

    A number that JSON cannot write, which a service may have sent all the same, becomes text.
    """
    if _is_plain(value):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {entry.name: as_json(getattr(value, entry.name)) for entry in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): as_json(entry) for name, entry in value.items()}
    if isinstance(value, (frozenset, set)):
        return [as_json(entry) for entry in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [as_json(entry) for entry in value]
    if isinstance(value, datetime):
        return stamp(value)
    if isinstance(value, float):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _is_plain(value: object) -> TypeGuard[Json]:
    """Whether a value is JSON as it stands, as a service's answer nearly always is; however deep, without recursion."""
    branches = [value]
    for branch in branches:  # grows while it is walked
        if isinstance(branch, dict):
            if not all(isinstance(name, str) for name in branch):
                return False
            branches += branch.values()
        elif isinstance(branch, list):
            branches += branch
        elif isinstance(branch, float):
            if not math.isfinite(branch):
                return False
        elif branch is not None and not isinstance(branch, (str, bool, int)):
            return False
    return True


def json_bytes(data: Json, *, indent: int | None = None) -> bytes:
    """One JSON document and a line break, as UTF-8."""
    text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:  # half a character, from a service's answer: JSON can escape it, UTF-8 cannot hold it
        return f"{json.dumps(data, indent=indent)}\n".encode()


def trace_data(traced: Traced) -> dict[str, Json]:
    """A request as it went, or a wait, as data; times in whole milliseconds. Keys in it are not masked yet."""
    took = round(traced.elapsed_s * 1000)
    if not traced.method:
        return {"where": traced.where, "waited_ms": took}
    return {
        "where": traced.where,
        "method": traced.method,
        "url": traced.url,
        "status": traced.status,
        "ms": took,
        "sent_bytes": traced.sent_bytes,
        "received_bytes": traced.received_bytes,
        "error": traced.error,
    }


def error_data(error: HabilisError) -> dict[str, Json]:
    """An error as data: code, message, where, hint, retryable, outcome, error_id, and each problem of a file."""
    data: dict[str, Json] = {
        "code": error.code,
        "message": error.message,
        "where": error.where,
        "hint": error.hint,
        "retryable": error.retryable,
        "outcome": error.outcome,
        "error_id": error_id(error),
    }
    if isinstance(error, ManifestInvalid):
        data["problems"] = [str(problem) for problem in error.problems]
    return data


def error_id(error: HabilisError) -> str:
    """One id per error, made when it is first shown."""
    if error.error_id == "":
        error.error_id = os.urandom(6).hex()
    return error.error_id
