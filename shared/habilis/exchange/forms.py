"""Names and values of a query or a URL-encoded form: lists repeat a name, objects nest their keys in brackets.

Source: RFC 3986 section 3.4 for the query, where a blank is %20; the URL standard, "application/x-www-form-urlencoded",
for the form, where it is a plus sign.
"""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from habilis.errors import ArgsInvalid
from habilis.messages import Json
from habilis.templating import MISSING, JsonTemplate, Scope
from habilis.templating.scope import text_of


def with_query(url: str, query: tuple[tuple[str, JsonTemplate], ...], scope: Scope) -> str:
    """The URL with the filled names and values added to its query; what fills to nothing is left out.

    Raises:
        ArgsInvalid: A value is none that text can carry.
    """
    fields = {name: value for name, template in query if (value := template.fill(scope)) is not MISSING}
    added = _encoded(fields, quote, "the query")
    if not added:
        return url
    address, hash_sign, fragment = url.partition("#")
    joint = "" if address.endswith(("?", "&")) else "&" if "?" in address else "?"
    return f"{address}{joint}{added}{hash_sign}{fragment}"


def form_body(template: JsonTemplate, scope: Scope) -> bytes:
    """The body of a URL-encoded form.

    Raises:
        ArgsInvalid: What fills it is no object, or holds what text cannot carry.
    """
    fields = template.fill(scope)
    if fields is MISSING:
        return b""
    if not isinstance(fields, dict):
        raise ArgsInvalid("the form has to be filled with names and values")
    return _encoded(fields, quote_plus, "the form").encode()


def _encoded(fields: Mapping[str, Json], encode: Callable[..., str], what: str) -> str:
    fault = ""
    try:
        return "&".join([f"{encode(name, safe='')}={encode(text, safe='')}" for name, text in _pairs(fields)])
    except UnicodeEncodeError:
        fault = "a text holds half of a character (a lone surrogate)"
    except RecursionError:
        fault = "what fills it is nested too deep"
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    raise ArgsInvalid(f"{what}: {fault}")


def _pairs(fields: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        yield from _pairs_of(name, value)


def _pairs_of(name: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            # A key may end in brackets of its own: `tags[]` in `post` is `post[tags][]`.
            head, bracket, rest = key.partition("[")
            yield from _pairs_of(f"{name}[{head}]{bracket}{rest}", inner)
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            # A repeated name cannot tell where one object ends and the next begins, so those are numbered.
            is_numbered = isinstance(entry, dict | list) and not name.endswith("[]")
            yield from _pairs_of(f"{name}[{position}]" if is_numbered else name, entry)
    elif value is not None:
        yield name, text_of(value, name)
