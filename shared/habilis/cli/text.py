"""Text for a terminal: what others wrote may not steer it, and rows stand in columns."""

import json
import re
from collections.abc import Iterable

from habilis.messages import Json

_UNPRINTABLE_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What JSON leaves as it is, and a terminal or a reader may take for something else."""


def one_line(text: str) -> str:
    """Text as one line that cannot steer a terminal: control characters, line breaks too, are shown escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def lines_of(text: str) -> list[str]:
    """Text of several lines, each as `one_line` shows it; a tab becomes spaces."""
    return [one_line(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n")]


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell."""
    table = [tuple(one_line(cell) for cell in row) for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def document(data: Json) -> str:
    """Data as one JSON document that is safe to show on a terminal, and reads back the same."""
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    return _UNPRINTABLE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)
