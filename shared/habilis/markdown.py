"""Markdown as safe HTML: what an asset's text becomes where a channel takes HTML."""

from collections.abc import Callable
from functools import cache

_TAGS = {
    "a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"style"},
    "th": {"style"},
}
_SCHEMES = {"http", "https", "mailto"}


def to_html(markdown: str) -> str:
    """Render CommonMark with tables as HTML that is safe to show.

    Raw HTML in the text is shown as text, links and pictures keep only http, https, mailto and relative addresses.

    Args:
        markdown: The text as written.

    Returns:
        A fragment: block elements, no page around them.

    Source: CommonMark 0.31; tables as in GitHub Flavored Markdown, section 4.10.
    """
    # Lone surrogates cannot be encoded; the sanitiser works on UTF-8.
    text = markdown.encode("utf-8", "replace").decode("utf-8")
    return _sanitise(_renderer()(text))


def _sanitise(html: str) -> str:
    import nh3

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        filter_style_properties={"text-align"},
        link_rel=None,
    )


@cache
def _renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").render
