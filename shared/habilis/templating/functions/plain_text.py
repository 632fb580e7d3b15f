"""HTML and Markdown as plain text.

The sanitiser reads whatever stands for HTML and writes it well-formed, with the few tags that shape plain text; only
that is taken apart here.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import unescape

from habilis.reading import Json
from habilis.templating.functions.function import Function, text_in

_PARAGRAPHS = {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ol", "p", "pre", "table", "ul"}
_LINES = {"article", "br", "dd", "div", "dt", "figure", "footer", "header", "li", "main", "section", "tr"}
_INSIDE = {"a", "img", "td", "th"}
_TOKEN = re.compile(r"<(?P<end>/?)(?P<tag>[a-z0-9]+)(?: (?:href|alt)=\"(?P<value>[^\"]*)\")?[^>]*>|(?P<text>[^<]+)")
_BLANKS = re.compile(r"[ \t\n\f\r]+")
_LINE_ENDS = re.compile(r"[ \t]+\n")
_MANY_LINES = re.compile(r"\n{3,}")


def _strip_html(value: Json) -> str:
    return _Shaped().read(text_in(value, "strip_html"))


def _strip_markdown(value: Json) -> str:
    # HTML inside Markdown is markup as well, and goes the same way.
    return _Shaped().read(_renderer()(_without_surrogates(text_in(value, "strip_markdown"))))


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


class _Shaped:
    """Plain text that grows tag by tag."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._link: tuple[int, str] | None = None
        self._keeps_blanks = 0

    def read(self, html: str) -> str:
        import nh3

        shaped = nh3.clean(
            _without_surrogates(html),
            tags=_PARAGRAPHS | _LINES | _INSIDE,
            attributes={"a": {"href"}, "img": {"alt"}},
            url_schemes={"http", "https"},
            url_relative="deny",
            link_rel=None,
        )
        for token in _TOKEN.finditer(shaped):
            if token["text"] is not None:
                self._add_text(unescape(token["text"]))
            elif token["end"]:
                self._close(token["tag"])
            else:
                self._open(token["tag"], unescape(token["value"] or ""))
        return _MANY_LINES.sub("\n\n", _LINE_ENDS.sub("\n", "".join(self._out))).strip()

    def _add_text(self, text: str) -> None:
        if self._keeps_blanks:
            self._out.append(text)
            return
        text = _BLANKS.sub(" ", text)
        before = self._out[-1] if self._out else "\n"
        self._out.append(text.lstrip(" ") if before.endswith(("\n", " ")) else text)

    def _open(self, tag: str, value: str) -> None:
        self._break(tag)
        if tag == "a" and value:
            self._link = (len(self._out), value)
        elif tag == "img":
            self._out.append(value)
        elif tag in {"ul", "ol"}:
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._out.append(self._mark())
        self._keeps_blanks += tag == "pre"

    def _close(self, tag: str) -> None:
        if tag == "a" and self._link:
            start, address = self._link
            self._link = None
            if "".join(self._out[start:]).strip() != address:
                self._out.append(f" ({address})")
        elif tag in {"td", "th"}:
            self._out.append(" ")
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
        self._keeps_blanks -= tag == "pre"
        self._break(tag)

    def _break(self, tag: str) -> None:
        # A list inside a list, and a paragraph in an entry, continue the entry's lines.
        if tag in _PARAGRAPHS and not self._lists:
            self._out.append("\n\n")
        elif (tag in _PARAGRAPHS or tag in _LINES) and not self._at_start_of_line(tag):
            self._out.append("\n")

    def _at_start_of_line(self, tag: str) -> bool:
        last = next((piece for piece in reversed(self._out) if piece), "\n")
        return tag != "br" and (last.endswith("\n") or last == self._last_mark)

    def _mark(self) -> str:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._last_mark = f"{'  ' * (len(self._lists) - 1)}{'-' if number is None else f'{number}.'} "
        return self._last_mark

    _last_mark = ""


@cache
def _renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt

    # A line break stays one: who writes a post means it.
    return MarkdownIt("commonmark", {"html": True, "breaks": True}).enable("table").render


FUNCTIONS: Mapping[str, Function] = {
    "strip_html": Function(signature="strip_html(text)", run=_strip_html, least=1, checks=(None,)),
    "strip_markdown": Function(signature="strip_markdown(text)", run=_strip_markdown, least=1, checks=(None,)),
}
