"""Text that someone else wrote, read strictly: YAML with places for messages, JSON without surprises.

YAML is read as version 1.1 reads it, because editors and other tools show it so, and nothing of it that can surprise is
taken: no aliases, tags, merge keys, duplicate keys or second documents. `Document.raw` says how a scalar was written,
so that a message can say "YAML read it as 1.1; quote it".

Source: YAML 1.1; RFC 8259.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from habilis.errors import ArgsInvalid, BadInput, ManifestInvalid, Problem, TooLarge

if TYPE_CHECKING:
    import yaml

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Path = tuple[str | int, ...]

LARGEST_YAML = 256 * 1024
LARGEST_JSON = 1024 * 1024
_DEEPEST_YAML = 40
_DEEPEST_JSON = 64
_MOST_NODES = 50_000
# Past this a number is beyond any float, and Python itself stops converting at 4,300 digits.
_MOST_DIGITS = 400

_TAG = "tag:yaml.org,2002:"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def path_text(path: Path) -> str:
    """Write a path as messages show it: `tools[0].request.url`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


@dataclass(slots=True)
class _Place:
    """Where a node is written: of its value, of its key if it has one, and its parts."""

    line: int
    column: int
    raw: str = ""
    key: tuple[int, int] | None = None
    parts: "dict[str | int, _Place]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A mapping read from YAML, and where each of its parts is written.

    Attributes:
        data: Plain JSON values; every key is text, as written.
        file: The file's name as the person knows it.
    """

    data: dict[str, Json]
    file: str
    _root: _Place = field(repr=False, compare=False)

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column of the value at `path`, from 1; of the deepest part that exists when there is none."""
        found = self._find(path)
        return found.line, found.column

    def key_place(self, path: Path) -> tuple[int, int]:
        """Line and column of the field's name at `path`, from 1; of the value where it has no name."""
        found = self._find(path)
        return found.key or (found.line, found.column)

    def raw(self, path: Path) -> str:
        """The scalar at `path` as written; "" for a mapping, a list, or nothing."""
        found = self._root
        for part in path:
            if part not in found.parts:
                return ""
            found = found.parts[part]
        return found.raw

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """A fault at `path`, or at the name of the field there."""
        line, column = self.key_place(path) if at_key else self.place(path)
        return Problem(file=self.file, line=line, column=column, path=path_text(path), message=message)

    def _find(self, path: Path) -> _Place:
        found = self._root
        for part in path:
            if part not in found.parts:
                break
            found = found.parts[part]
        return found


def read_yaml(text: bytes, file: str, *, largest: int = LARGEST_YAML) -> Document:
    """Read one mapping from strict YAML.

    Args:
        text: UTF-8, with or without a byte order mark.
        file: The file's name as the person knows it.
        largest: Most bytes of `text`.

    Raises:
        ManifestInvalid: The text is no such mapping; `problems` has every fault that could be found.
    """
    document, problems = parse_yaml(text, file, largest=largest)
    if problems:
        raise ManifestInvalid(problems)
    return document


def parse_yaml(text: bytes, file: str, *, largest: int = LARGEST_YAML) -> tuple[Document, list[Problem]]:
    """Read as `read_yaml` does, and return the faults that one can read past beside the document.

    A field given twice keeps its first value, and an unquoted `{{placeholder}}` is taken as its text, so that the
    caller can tell these faults together with its own.

    Raises:
        ManifestInvalid: There is a fault that one cannot read past.
    """
    return _Reading(_yaml_text(text, file, largest), file).document()


def _yaml_text(text: bytes, file: str, largest: int) -> str:
    if len(text) > largest:
        _refuse(file, f"the file is larger than {largest // 1024} KiB")
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(file, "the file is not UTF-8; save it as UTF-8")
    line = 0
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
    if line:
        _refuse(file, "the file is not UTF-8; save it as UTF-8", line=line)
    if odd := _UNPRINTABLE.search(decoded):
        before = decoded[: odd.start()]
        column = len(before) - (before.rfind("\n") + 1) + 1
        message = f"the character U+{ord(odd[0]):04X} is not allowed; remove it"
        _refuse(file, message, line=before.count("\n") + 1, column=column)
    return decoded


def _refuse(file: str, message: str, *, line: int = 1, column: int = 1) -> NoReturn:
    raise ManifestInvalid([Problem(file=file, line=line, column=column, path="", message=message)])


@dataclass(slots=True)
class _Frame:
    """A mapping or list while its parts come in."""

    value: dict[str, Json] | list[Json]
    place: _Place
    start: int
    key: str | None = None
    key_place: tuple[int, int] = (1, 1)
    is_key_odd: bool = False


class _Reading:
    """One pass over the events of the parser, stopping at the first that goes past a limit."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.problems: list[Problem] = []
        self.frames: list[_Frame] = []
        self.root: tuple[Json, _Place] | None = None
        self.scalar = _scalar_reader()

    def document(self) -> tuple[Document, list[Problem]]:
        nodes = documents = 0
        for event in self._events():
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    self._stop(event, "a second document begins here; one file holds one")
            elif kind == "AliasEvent":
                self._stop(event, "aliases (*name) are not allowed; write the value out")
            elif kind in {"MappingStartEvent", "SequenceStartEvent", "ScalarEvent"}:
                nodes += 1
                if nodes > _MOST_NODES:
                    self._stop(event, f"more than {_MOST_NODES:,} values in one file")
                self._begin(event, kind)
            elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
                self._end(event)
        if self.root is None:
            _refuse(self.file, "the file is empty")
        data, place = self.root
        if not isinstance(data, dict):
            found = "a list" if isinstance(data, list) else "nothing" if data is None else "a single value"
            _refuse(self.file, f"expected fields (name: value), found {found}", line=place.line, column=place.column)
        return Document(data=data, file=self.file, _root=place), self.problems

    def _events(self) -> "Iterator[yaml.Event]":
        import yaml

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        fault = None
        try:
            yield from yaml.parse(self.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            fault = (error.problem or "", error.problem_mark or error.context_mark)
        if fault:
            # The library's words may quote the text, which may hold a key: they only choose ours.
            problem, mark = fault
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            self._stop_at(line, column, _syntax_message(problem, self.text.splitlines()[line - 1 : line]))

    def _begin(self, event: Any, kind: str) -> None:  # noqa: ANN401 - three kinds of event, told apart by their name
        if event.tag is not None:
            self._stop(event, "tags (!name) are not allowed")
        place = _Place(line=event.start_mark.line + 1, column=event.start_mark.column + 1)
        frame = self.frames[-1] if self.frames else None
        is_key = frame is not None and isinstance(frame.value, dict) and frame.key is None
        if kind == "ScalarEvent":
            place.raw = event.value
            if frame is not None and is_key:
                self._take_key(frame, event)
            else:
                self._add(self._read_scalar(event), place)
            return
        if len(self.frames) >= _DEEPEST_YAML:
            self._stop(event, f"nested deeper than {_DEEPEST_YAML} levels")
        if frame is not None and is_key:
            frame.is_key_odd = True
        value: dict[str, Json] | list[Json] = {} if kind == "MappingStartEvent" else []
        self.frames.append(_Frame(value=value, place=place, start=event.start_mark.index))

    def _end(self, event: Any) -> None:  # noqa: ANN401 - as above
        frame = self.frames.pop()
        outer = self.frames[-1] if self.frames else None
        if outer is not None and isinstance(outer.value, dict) and outer.key is None:
            outer.key = ""  # the odd key itself; told of when its mapping ends
            return
        if not frame.is_key_odd:
            self._add(frame.value, frame.place)
            return
        written = self.text[frame.start : event.end_mark.index]
        if not written.startswith("{{"):
            self._stop_at(frame.place.line, frame.place.column, "a field's name must be plain text")
        message = f"{_short(written)} must be quoted: YAML reads bare braces as a mapping"
        self._note(frame.place.line, frame.place.column, message)
        frame.place.parts.clear()
        frame.place.raw = written
        self._add(written, frame.place)

    def _take_key(self, frame: _Frame, event: Any) -> None:  # noqa: ANN401 - as above
        key = event.value
        if key == "<<" and event.implicit[0]:
            self._stop(event, "merge keys (<<) are not allowed; write the fields out")
        frame.key = key
        frame.key_place = (event.start_mark.line + 1, event.start_mark.column + 1)

    def _add(self, value: Json, place: _Place) -> None:
        if not self.frames:
            self.root = (value, place)
            return
        frame = self.frames[-1]
        if isinstance(frame.value, list):
            frame.place.parts[len(frame.value)] = place
            frame.value.append(value)
            return
        key, frame.key = frame.key or "", None
        if frame.is_key_odd:
            return
        if key in frame.value:
            first = frame.place.parts[key].key or (1, 1)
            self._note(*frame.key_place, f"{_short(key)} is given twice, first in line {first[0]}", key=key)
            return
        place.key = frame.key_place
        frame.place.parts[key] = place
        frame.value[key] = value

    def _read_scalar(self, event: Any) -> Json:  # noqa: ANN401 - as above
        if not event.implicit[0]:
            return str(event.value)
        value = self.scalar(event.value)
        if isinstance(value, _NoNumber):
            self._stop(event, f"this number {value.why}; quote it if it is text")
        return value

    def _note(self, line: int, column: int, message: str, *, key: str | None = None) -> None:
        path = path_text(self._path() if key is None else (*self._path()[: len(self.frames) - 1], key))
        self.problems.append(Problem(file=self.file, line=line, column=column, path=path, message=message))

    def _path(self) -> Path:
        return tuple(len(frame.value) if isinstance(frame.value, list) else frame.key or "" for frame in self.frames)

    def _stop(self, event: Any, message: str) -> NoReturn:  # noqa: ANN401 - as above
        self._stop_at(event.start_mark.line + 1, event.start_mark.column + 1, message)

    def _stop_at(self, line: int, column: int, message: str) -> NoReturn:
        self._note(line, column, message)
        raise ManifestInvalid(self.problems)


@dataclass(frozen=True, slots=True)
class _NoNumber:
    why: str


@cache
def _scalar_reader() -> Any:  # noqa: ANN401 - a function from text to a value or _NoNumber
    """Make the function that reads a plain scalar as YAML 1.1 does, dates staying text."""
    import yaml

    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    construct = yaml.constructor.SafeConstructor()
    numbers = {f"{_TAG}int": construct.construct_yaml_int, f"{_TAG}float": construct.construct_yaml_float}
    words: Mapping[str, bool] = construct.bool_values

    def read(text: str) -> Json | _NoNumber:
        tag = next((tag for tag, pattern in resolvers.get(text[:1], ()) if pattern.match(text)), "")
        if tag == f"{_TAG}bool":
            return words[text.lower()]
        if tag == f"{_TAG}null":
            return None
        if tag not in numbers:
            return text
        if len(text) > _MOST_DIGITS:
            return _NoNumber("has too many digits")
        try:
            value: int | float = numbers[tag](yaml.ScalarNode(tag, text))
        except ValueError:
            return _NoNumber("has no digits")
        return value if math.isfinite(value) else _NoNumber("is not finite")

    return read


def _syntax_message(problem: str, lines: list[str]) -> str:
    line = lines[0] if lines else ""
    if "{{" in line:
        return "no valid YAML; text with {{...}} must be quoted"
    if problem.startswith("mapping values are not allowed"):
        return "no valid YAML; text with a colon and a space in it must be quoted"
    if r"'\t'" in problem or line.startswith("\t"):
        return "no valid YAML; indent with spaces, not tabs"
    return "no valid YAML from here on; check quotes, brackets and indentation"


def _short(text: str) -> str:
    """Text of someone else, fit for a message: one line, at most 60 characters, odd ones escaped."""
    shown = text if len(text) <= 60 else text[:59] + "…"
    return repr(shown)


def read_json(text: bytes, *, what: str, largest: int = LARGEST_JSON) -> Json:
    """Read strict JSON: no duplicate keys, no NaN or infinity, no lone surrogates, bounded in size and depth.

    Args:
        text: UTF-8.
        what: What it is, as messages name it: "the arguments".
        largest: Most bytes of `text`.

    Raises:
        TooLarge: `text` is longer than `largest`.
        ArgsInvalid: It is no such JSON. The message never quotes it.
    """
    if len(text) > largest:
        raise TooLarge(f"{what}: larger than {largest:,} bytes")
    fault = ""
    value: Json = None
    try:
        decoded = text.decode("utf-8-sig")
        value = _DECODER.decode(decoded)
        if decoded.count("[") + decoded.count("{") > _DEEPEST_JSON and _depth(value) > _DEEPEST_JSON:
            fault = f"nested deeper than {_DEEPEST_JSON} levels"
        elif _SURROGATE.search(decoded):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        fault = "not UTF-8"
    except UnicodeEncodeError:
        fault = "half of a character (a lone surrogate) in a text"
    except json.JSONDecodeError as error:
        fault = f"no valid JSON at line {error.lineno}, column {error.colno}"
    except _OddJson as error:
        fault = str(error)
    except RecursionError:
        fault = f"nested deeper than {_DEEPEST_JSON} levels"
    # Raised out here so that no library error, which holds the whole text, hangs on ours.
    if fault:
        raise ArgsInvalid(f"{what}: {fault}")
    return value


class _OddJson(Exception):  # noqa: N818 - never leaves this file
    """Valid by the grammar, and refused."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _OddJson(f"{_short(twice)} is given twice in one object")
    return made


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _OddJson("a number with too many digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _OddJson("a number that is too large")
    return value


def _constant(text: str) -> NoReturn:
    raise _OddJson(f"{text} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _depth(value: Json) -> int:
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level:
        depth += 1
        parts = (part for node in level for part in (node.values() if isinstance(node, dict) else node))
        level = [part for part in parts if isinstance(part, dict | list)]
    return depth


@cache
def _record_dumper() -> Any:  # noqa: ANN401 - a class made when YAML is first written
    import yaml

    # What other readers of YAML take for a number, a date or a yes: written with quotes.
    risky = re.compile(r"[-+.]?\d[\d_.:eExXoOabcdefABCDEF+-]*|y|n|yes|no|on|off|true|false|null|~|=|<<", re.IGNORECASE)

    class RecordDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def ignore_aliases(self, data: object) -> bool:
            return True

    def write_text(dumper: Any, text: str) -> Any:  # noqa: ANN401
        style = "|" if "\n" in text else "'" if risky.fullmatch(text) else None
        return dumper.represent_scalar(f"{_TAG}str", text, style=style)

    RecordDumper.add_representer(str, write_text)
    return RecordDumper


def write_yaml(data: Mapping[str, Json]) -> bytes:
    """Write a mapping as UTF-8 block YAML, keys in the order given; the same data gives the same bytes.

    Raises:
        BadInput: A text holds half of a character (a lone surrogate).
    """
    import yaml

    text: str = yaml.dump(
        dict(data),
        Dumper=_record_dumper(),
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=2**31 - 1,
    )
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadInput("a text holds half of a character (a lone surrogate)") from None
