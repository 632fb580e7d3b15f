"""Calls in their plain form: tools and provided contracts, their steps and requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from habilis.manifest.model import (
    ErrorRule,
    Idempotency,
    Loop,
    OkRule,
    PagesRule,
    PartTemplate,
    RequestTemplate,
    ResultTemplate,
    RetryRule,
    SignRule,
    Step,
    Tool,
    UntilRule,
)
from habilis.templating import (
    Condition,
    JsonTemplate,
    Place,
    TextTemplate,
    UrlTemplate,
    compile_condition,
    compile_header,
    compile_json,
    compile_place,
    compile_text,
    compile_url,
)

Plain = Mapping[str, Any]


def read_call(plain: Plain) -> Tool:
    """The tool or contract that was kept."""
    return Tool(
        **{
            **plain,
            "steps": _steps(plain["steps"]),
            "result": _result(plain["result"]),
            "target": read_text(plain["target"]),
        }
    )


def read_request(plain: Plain, *, saved: frozenset[str] = frozenset()) -> RequestTemplate:
    """The request that was kept; `saved` are names whose values earlier answers gave."""
    pair = plain["basic_auth"]
    return RequestTemplate(
        **{
            **plain,
            "url": compile_url(plain["url"], saved=saved),
            "query": tuple((name, compile_json(value)) for name, value in plain["query"]),
            "headers": tuple((name, compile_header(text)) for name, text in plain["headers"]),
            "basic_auth": (compile_text(pair[0]), compile_text(pair[1])) if pair else None,
            "json": _value(plain["json"]),
            "form": _value(plain["form"]),
            "multipart": tuple(map(_part, plain["multipart"])),
            "body_file": _value(plain["body_file"]),
            "ok": _ok(plain["ok"]),
            "errors": tuple(
                ErrorRule(when=compile_condition(rule["when"]), say=compile_text(rule["say"]))
                for rule in plain["errors"]
            ),
            "retry": plain["retry"] and _retry(plain["retry"]),
            "idempotency": plain["idempotency"] and _idempotency(plain["idempotency"]),
            "pages": plain["pages"] and _pages(plain["pages"]),
            "until": plain["until"] and _until(plain["until"]),
            "sign": plain["sign"] and _sign(plain["sign"]),
        }
    )


def read_text(plain: str | None) -> TextTemplate | None:
    """The template of a text; None where there is none."""
    return None if plain is None else compile_text(plain)


def read_url(plain: str | None) -> UrlTemplate | None:
    """The template of an address; None where there is none."""
    return None if plain is None else compile_url(plain)


def read_place(plain: str | None) -> Place | None:
    """The place; None where there is none."""
    return None if plain is None else compile_place(plain)


def read_condition(plain: Any) -> Condition | None:  # noqa: ANN401 -- JSON of any shape
    """The condition; None where there is none."""
    return None if plain is None else compile_condition(plain)


def _value(plain: Any) -> JsonTemplate | None:  # noqa: ANN401 -- JSON of any shape
    return None if plain is None else compile_json(plain)


def _steps(plain: Sequence[Plain]) -> tuple[Step, ...]:
    steps: list[Step] = []
    saved = frozenset[str]()
    for one in plain:
        loop = one["loop"] and Loop(over=one["loop"]["over"], each=_value(one["loop"]["each"]))
        item = frozenset({"item"} if loop and _is_saved(loop, saved) else ())
        steps.append(
            Step(
                **{
                    **one,
                    "request": read_request(one["request"], saved=saved | item),
                    "loop": loop,
                    "when": read_condition(one["when"]),
                    "save": tuple((name, compile_place(place)) for name, place in one["save"]),
                }
            )
        )
        saved |= {name for name in (one["name"], one["save_error"]) if name}
    return tuple(steps)


def _is_saved(loop: Loop, saved: frozenset[str]) -> bool:
    """Whether what a step runs over is what earlier answers gave, and nothing that the caller gave."""
    if loop.each is None:
        return loop.over in saved
    return loop.each.arguments <= saved and not loop.each.keys


def _result(plain: Plain) -> ResultTemplate:
    return ResultTemplate(
        **{
            **plain,
            "said": read_text(plain["said"]),
            "file_url": read_place(plain["file_url"]),
            "file_b64": read_place(plain["file_b64"]),
            "name": read_text(plain["name"]),
        }
    )


def _part(plain: Plain) -> PartTemplate:
    return PartTemplate(
        name=plain["name"],
        value=_value(plain["value"]),
        file=_value(plain["file"]),
        filename=read_text(plain["filename"]),
        mime=read_text(plain["mime"]),
    )


def _ok(plain: Plain) -> OkRule:
    return OkRule(
        statuses=frozenset(plain["statuses"]),
        fail_when=read_condition(plain["fail_when"]),
        message=read_place(plain["message"]),
    )


def _retry(plain: Plain) -> RetryRule:
    return RetryRule(**{**plain, "statuses": frozenset(plain["statuses"]), "reset": read_place(plain["reset"])})


def _idempotency(plain: Plain) -> Idempotency:
    return Idempotency(header=plain["header"], value=compile_text(plain["value"]))


def _pages(plain: Plain) -> PagesRule:
    return PagesRule(
        **{
            **plain,
            "items": read_place(plain["items"]),
            "next": read_place(plain["next"]),
            "stop": read_condition(plain["stop"]),
            "total": read_place(plain["total"]),
        }
    )


def _until(plain: Plain) -> UntilRule:
    return UntilRule(
        **{
            **plain,
            "when": compile_condition(plain["when"]),
            "fail": read_condition(plain["fail"]),
            "every": read_place(plain["every"]),
        }
    )


def _sign(plain: Plain) -> SignRule:
    values = {name: compile_json(value) for name, value in plain["values"].items()}
    return SignRule(scheme=plain["scheme"], values=values)
