"""HTML and Markdown as plain text.

The sanitiser reads whatever stands for HTML and writes it well-formed, with the few tags that shape plain text; only
that is taken apart here.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

from habilis.reading import Json
from habilis.templating.functions.function import Function, text_in

_PARAGRAPHS = {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ol", "p", "pre", "table", "ul"}
_LINES = {"article", "br", "dd", "div", "dt", "figure", "footer", "header", "li", "main", "section", "tr"}
_INSIDE = {"a", "img", "td", "th"}
_TOKEN = re.compile(r"<(?P<end>/?)(?P<tag>[a-z0-9]+)(?: (?:href|alt)=\"(?P<value>[^\"]*)\")?[^>]*>|(?P<text>[^<]+)")
_BLANKS = re.compile(r"[ \t\n\f\r]+")
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
        self._last = "\n"
        self._is_marked = False
        self._lists: list[int | None] = []
        self._link: tuple[int, str] = (0, "")
        self._is_kept = False

    def read(self, html: str) -> str:
        """The plain text of a piece of HTML."""
        from html import unescape

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
        lines = "".join(self._out).split("\n")
        return _MANY_LINES.sub("\n\n", "\n".join(line.rstrip(" \t") for line in lines)).strip()

    def _add_text(self, text: str) -> None:
        if not self._is_kept:
            text = _BLANKS.sub(" ", text)
            text = text.lstrip(" ") if self._last in {"\n", " "} else text
        self._put(text)

    def _put(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._last, self._is_marked = text[-1], False

    def _open(self, tag: str, value: str) -> None:
        self._break(tag)
        if tag == "a":
            self._link = (len(self._out), value)
        elif tag == "img":
            self._put(value)
        elif tag in {"ul", "ol"}:
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._put_mark()
        elif tag == "pre":
            self._is_kept = True

    def _close(self, tag: str) -> None:
        start, address = self._link
        if tag == "a" and address and "".join(self._out[start:]).strip() != address:
            self._put(f" ({address})")
        elif tag in {"td", "th"}:
            self._put(" ")
        elif tag in {"ul", "ol"} and self._lists:
            self._lists.pop()
        elif tag == "pre":
            self._is_kept = False
        self._break(tag)

    def _break(self, tag: str) -> None:
        # What stands in a list continues the lines of its entry.
        if tag in _PARAGRAPHS and not self._lists:
            self._put("\n\n")
        elif tag == "br" or (tag in _PARAGRAPHS | _LINES and self._last != "\n" and not self._is_marked):
            self._put("\n")

    def _put_mark(self) -> None:
        """Put what begins an entry of a list: a dash or its number, further in for a list in a list."""
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._put(f"{'  ' * (len(self._lists) - 1)}{'-' if number is None else f'{number}.'} ")
        self._is_marked = True


@cache
def _renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt

    # A line break stays one: who writes a post means it.
    return MarkdownIt("commonmark", {"html": True, "breaks": True}).enable("table").render


FUNCTIONS: Mapping[str, Function] = {
    "strip_html": Function(signature="strip_html(text)", run=_strip_html, least=1, checks=(None,)),
    "strip_markdown": Function(signature="strip_markdown(text)", run=_strip_markdown, least=1, checks=(None,)),
}
