"""Every function that a placeholder may call."""

from collections.abc import Mapping

from habilis.errors import BadInput
from habilis.templating.expressions import Call, Literal, inside
from habilis.templating.functions import cutting, dates, facets, files, lists, plain_text, texts
from habilis.templating.functions.dates import rfc3339
from habilis.templating.functions.function import Function

FUNCTIONS: Mapping[str, Function] = {
    **texts.FUNCTIONS,
    **lists.FUNCTIONS,
    **dates.FUNCTIONS,
    **files.FUNCTIONS,
    **cutting.FUNCTIONS,
    **facets.FUNCTIONS,
    **plain_text.FUNCTIONS,
    "now": Function(signature="now()", run=lambda made: rfc3339(made.now), is_of_call=True),
    "uuid": Function(signature="uuid()", run=lambda made: made.uuid(), is_of_call=True),
    "call_id": Function(signature="call_id()", run=lambda made: made.call_id, is_of_call=True),
}


def check_call(call: Call) -> None:
    """Check a call and every call in it against the table.

    Raises:
        BadInput: There is no such function, it is given too few values or too many, or one that is written out and
            does not fit.
    """
    for one in inside(call):
        if isinstance(one, Call):
            _check(one)


def _check(call: Call) -> None:
    name = call.function
    function = FUNCTIONS.get(name)
    if function is None:
        raise BadInput(f"there is no function {name}()", hint=_suggestion(name))
    if not function.least <= len(call.arguments) <= len(function.checks):
        raise BadInput(f"{name}() is given {len(call.arguments)} values; it is written {function.signature}")
    for value, check in zip(call.arguments, function.checks, strict=False):
        if check is not None and isinstance(value, Literal) and (fault := check(value.value)):
            raise BadInput(f"{name}(): {fault}")


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, FUNCTIONS, n=1)
    return f"did you mean {close[0]}()?" if close else f"the functions are {', '.join(sorted(FUNCTIONS))}"
