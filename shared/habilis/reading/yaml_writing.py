"""YAML of ours: stable block style, and quotes wherever a reader could take text for something else."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from habilis.errors import BadInput
from habilis.reading.json_text import Json

# What some reader of YAML takes for a number, a date or a yes.
_RISKY = re.compile(r"[-+.]?\d[\d_.:eExXoOabcdefABCDEF+-]*|y|n|yes|no|on|off|true|false|null|~|=|<<", re.IGNORECASE)

# Line breaks that come back as others, or as blanks, unless they are escaped.
_ODD_BREAK = re.compile("[\r\x85\u2028\u2029]")


def write_yaml(data: Mapping[str, Json]) -> bytes:
    """Write a mapping as UTF-8 block YAML, keys in the order given; the same data gives the same bytes.

    Raises:
        BadInput: A text holds half of a character (a lone surrogate).
    """
    import yaml

    written = None
    try:
        written = _dumped(data, _dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        # The C library escapes emoji, which the slower one keeps readable.
        if "\\U" in written:
            written = _dumped(data, _dumper(yaml.SafeDumper))
        return written.encode()
    except UnicodeEncodeError:
        pass
    # Raised out here so that the library's error, which holds the text, does not hang on ours.
    raise BadInput("a text holds half of a character (a lone surrogate)")


def _dumped(data: Mapping[str, Json], dumper: Any) -> str:  # noqa: ANN401 - a class made by `_dumper`
    import yaml

    text: str = yaml.dump(
        dict(data), Dumper=dumper, allow_unicode=True, default_flow_style=False, sort_keys=False, width=2**31 - 1
    )
    return text


@cache
def _dumper(library: Any) -> Any:  # noqa: ANN401 - the library's class and ours made from it
    class RecordDumper(library):  # type: ignore[misc]
        def ignore_aliases(self, data: object) -> bool:
            return True

    RecordDumper.add_representer(str, _write_text)
    return RecordDumper


def _write_text(dumper: Any, text: str) -> Any:  # noqa: ANN401 - a dumper and a node of the library
    if _ODD_BREAK.search(text):
        style: str | None = '"'
    else:
        style = "|" if "\n" in text else "'" if _RISKY.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
