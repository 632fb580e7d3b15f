"""Expressions as functions that find their value in a scope: made once, called on every fill."""

from collections.abc import Callable, Sequence

from habilis.errors import ArgsInvalid, SecretMissing
from habilis.reading import Json
from habilis.templating.expressions import Call, Expression, Key, Literal
from habilis.templating.pointers import follow, steps_of
from habilis.templating.scope import MISSING, Missing, Scope

Read = Callable[[Scope], Json | Missing]


def reader(expression: Expression) -> Read:
    """Make the function that finds what an expression stands for; MISSING where there is nothing.

    What it is made of was checked against the table of functions when it was parsed. A function called with a value
    that does not fit raises ArgsInvalid, which names the function and never the value.
    """
    if isinstance(expression, Call):
        return _followed(_call(expression), expression.rest)
    if isinstance(expression, Literal):
        value = expression.value
        return lambda scope: value
    if isinstance(expression, Key):
        return _key(expression.name)
    name = expression.parts[0]
    return _followed(lambda scope: scope.arguments.get(name, MISSING), expression.parts[1:])


def _followed(read: Read, parts: Sequence[str]) -> Read:
    steps = steps_of(parts)
    if not steps:
        return read

    def read_inside(scope: Scope) -> Json | Missing:
        root = read(scope)
        return MISSING if root is MISSING else follow(root, steps)

    return read_inside


def _key(name: str) -> Read:
    def read(scope: Scope) -> str:
        value = scope.keys.get(name)
        if not value:
            raise SecretMissing(f"{name} is not set", hint=f"set {name} on the account")
        return value

    return read


def _call(call: Call) -> Read:
    from habilis.templating.functions.table import FUNCTIONS

    function = FUNCTIONS[call.function]
    run = function.run
    if function.is_of_call:
        return lambda scope: run(scope.call())
    reads = [reader(argument) for argument in call.arguments]
    if function.takes_nothing:
        (read_one,) = reads
        return lambda scope: run(read_one(scope))
    # What is written out was checked once, when it was parsed.
    pairs = zip(call.arguments, function.checks, strict=False)
    checks = [(place, check) for place, (one, check) in enumerate(pairs) if check and not isinstance(one, Literal)]

    def read(scope: Scope) -> Json | Missing:
        values = [read_value(scope) for read_value in reads]
        if any(value is MISSING or value is None for value in values):
            return MISSING
        for place, check in checks:
            if fault := check(values[place]):  # type: ignore[arg-type] # none is missing
                raise ArgsInvalid(f"{call.function}(): {fault}")
        return run(*values)

    return read
