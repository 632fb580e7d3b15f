import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.templating import Scope, compile_text


def stripped(name, text):
    return compile_text("{{" + name + "(text)}}").fill(Scope({"text": text}, {}))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Hi <b>there</b>,<br>you &amp; me</p><p>Two</p>", "Hi there,\nyou & me\n\nTwo"),
        ("<h1>T</h1>text<h2>U</h2>", "T\n\ntext\n\nU"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("a  \n b", "a b"),
        ("<ul><li>a</li><li>b <ul><li>c</li></ul></li></ul>after", "- a\n- b\n  - c\n\nafter"),
        ("<ol>\n<li><p>one</p><p>more</p></li>\n<li>two</li></ol>", "1. one\nmore\n2. two"),
        ("<table><tr><th>A</th><th>B</th></tr>\n<tr><td>1</td><td>2</td></tr></table>", "A B\n1 2"),
        ("<pre>a\n  b</pre>c", "a\n  b\n\nc"),
        ("<p>See <a href='https://e.com/?a=1&amp;b=2'>the post</a></p>", "See the post (https://e.com/?a=1&b=2)"),
        ("<a href='https://e.com'>https://e.com</a>", "https://e.com"),
        ("<a href='javascript:x'>a</a> <a href='/b'>b</a> <a>c</a>", "a b c"),
        ("<script>alert(1)</script><style>p{}</style><!-- c -->x", "x"),
        ("<img src=x alt='a cat'>", "a cat"),
        ("1 < 2 &lt;b&gt; 3", "1 < 2 <b> 3"),
        ("<b>open", "open"),
        ("no markup", "no markup"),
        ("", ""),
    ],
)
def test_html_becomes_the_text_that_it_shows(html, expected):
    assert stripped("strip_html", html) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**Bold** <b>x</b> [l](https://e.com)", "Bold x l (https://e.com)"),
        ("# Title\n\nText *em* `code`\nnext line", "Title\n\nText em code\nnext line"),
        ("- a\n- b\n  - c\n\n1. x\n2. y\n", "- a\n- b\n  - c\n\n1. x\n2. y"),
        ("- one\n\n- two\n\n  more", "- one\n- two\nmore"),
        ("> quote\n\n```py\nx = 1\n  y\n```\n", "quote\n\nx = 1\n  y"),
        ("<https://e.com> ![a cat](https://i.com/x.png)", "https://e.com a cat"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b\n1 2"),
        ("a\\*b &amp; c, 1 < 2, snake_case #tag", "a*b & c, 1 < 2, snake_case #tag"),
        ("`<b>`", "<b>"),
        ("\ud800x", "?x"),
        ("", ""),
    ],
)
def test_markdown_becomes_the_text_that_it_means(markdown, expected):
    assert stripped("strip_markdown", markdown) == expected


PIECES = [
    "<p>",
    "</p>",
    "<b>",
    "<a href='https://e'>",
    "</a>",
    "x",
    "*",
    "\n",
    "<li>",
    "<pre>",
    "<ol>",
    "</ol>",
    "<td>",
]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_tag_is_left(html):
    left = stripped("strip_html", html)

    assert "<" not in left
    assert left == left.strip()
