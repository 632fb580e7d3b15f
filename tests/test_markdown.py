import pytest

from habilis.markdown import to_html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("", ""),
        ("Hello *you*", "<p>Hello <em>you</em></p>\n"),
        ("# Title\n\ntext", "<h1>Title</h1>\n<p>text</p>\n"),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>\n'),
        ("```py\nx < 1\n```", '<pre><code class="language-py">x &lt; 1\n</code></pre>\n'),
        ("![a cat](https://e.com/cat.png)", '<p><img src="https://e.com/cat.png" alt="a cat"></p>\n'),
        ("<a@b.example>", '<p><a href="mailto:a@b.example">a@b.example</a></p>\n'),
        ("[here](/about?a=1&b=2)", '<p><a href="/about?a=1&amp;b=2">here</a></p>\n'),
        ("Grüße 👋", "<p>Grüße 👋</p>\n"),
    ],
)
def test_markdown_becomes_html(markdown, html):
    assert to_html(markdown) == html


def test_raw_html_is_shown_as_text_and_never_mixed_in():
    html = to_html("**Bold** <b>x</b> [l](https://e.com)")

    assert html == '<p><strong>Bold</strong> &lt;b&gt;x&lt;/b&gt; <a href="https://e.com">l</a></p>\n'


def test_a_table_keeps_its_alignment():
    html = to_html("| a | b |\n|:--|--:|\n| 1 | 2 |")

    assert '<th style="text-align:left">a</th>' in html
    assert '<td style="text-align:right">2</td>' in html


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "![a](data:image/svg+xml;base64,PHN2Zz4=)",
        "![a](data:image/png;base64,AAAA)",
        "[a](vbscript:x)",
        '[a](https://e.com "x\\" onclick=alert(1)")',
        "<javascript:alert(1)>",
        '```"><script>alert(1)</script>\nx\n```',
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ],
)
def test_nothing_that_runs_comes_out(markdown):
    html = to_html(markdown).lower()

    assert "<script" not in html
    assert ' onclick="' not in html
    assert ' onerror="' not in html
    assert 'href="javascript' not in html
    assert 'href="data:' not in html
    assert 'src="data:' not in html


@pytest.mark.parametrize("markdown", ["\0", "\ud800", "[" * 20_000, "> " * 5_000 + "x", "*a " * 20_000])
def test_odd_text_is_rendered_without_a_fault(markdown):
    assert isinstance(to_html(markdown), str)
