"""Filling a request's body of ten placeholders against a Jinja2 template of the same body.

Both are compiled once, outside what is measured, and both end as the same JSON value: ours is filled as one, the peer's
is rendered as text and parsed. Its values go through `tojson`, the filter that Jinja2 has for this: without one, a
quote in a title would break the body. Beside them stand the same template with a leaner filter of one's own, and the
floor, the body as an expression of Python.
"""

import json
import statistics
import sys
from datetime import UTC, datetime

import jinja2
from harness import conclude, interleave, ratio, table, verdict

from habilis.templating import Made, Scope, compile_json

ROUNDS = 15
LEAST = 15.0

BODY = {
    "title": "{{title}}",
    "content": "{{html}}",
    "excerpt": "{{summary}}",
    "status": "{{status|draft}}",
    "slug": "{{slug}}",
    "featured_media": "{{media.0.id}}",
    "tags": "{{tags}}",
    "author": "{{author}}",
    "comment": "On {{day}}",
    "meta": {"source": "${SOURCE}", "format": "standard", "sticky": False},
}
JINJA_BODY = """{
  "title": {{ title|tojson }},
  "content": {{ html|tojson }},
  "excerpt": {{ summary|tojson }},
  "status": {{ status|default("draft")|tojson }},
  "slug": {{ slug|tojson }},
  "featured_media": {{ media[0].id|tojson }},
  "tags": {{ tags|tojson }},
  "author": {{ author|tojson }},
  "comment": {{ ("On " ~ day)|tojson }},
  "meta": {"source": {{ SOURCE|tojson }}, "format": "standard", "sticky": false}
}"""
ARGUMENTS = {
    "title": 'What is new in "November"',
    "html": "<p>Three things changed, and one of them is yours.</p>" * 4,
    "summary": "Three things changed.",
    "slug": "what-is-new",
    "media": [{"id": 17}],
    "tags": [3, 5, 8],
    "author": 4,
    "day": "2026-11-30",
}
KEYS = {"SOURCE": "habilis"}
# One of each kind of word beside plain placeholders: for the table, no claim hangs on it.
WORDS = {
    "text": "{{cut(strip_html(html), 60)}}",
    "at": "{{now()}}",
    "tags": {"$each": "tags", "$do": {"id": "{{item}}"}},
    "media": {"$if": "media", "ids": "{{media.*.id}}"},
}


def floor(arguments: dict, keys: dict) -> dict:
    """The body as who knew it beforehand would write it."""
    return {
        "title": arguments["title"],
        "content": arguments["html"],
        "excerpt": arguments["summary"],
        "status": arguments.get("status", "draft"),
        "slug": arguments["slug"],
        "featured_media": arguments["media"][0]["id"],
        "tags": arguments["tags"],
        "author": arguments["author"],
        "comment": f"On {arguments['day']}",
        "meta": {"source": keys["SOURCE"], "format": "standard", "sticky": False},
    }


def main() -> int:
    """Measure, print, and say whether it holds."""
    ours, words = compile_json(BODY), compile_json(WORDS)
    environment = jinja2.Environment(autoescape=False)
    environment.filters["dumps"] = json.dumps
    peer, lean = (environment.from_string(text) for text in (JINJA_BODY, JINJA_BODY.replace("tojson", "dumps")))
    scope = Scope(ARGUMENTS, KEYS, Made(now=datetime.now(UTC), call_id="bench"))
    values = ARGUMENTS | KEYS
    assert ours.fill(scope) == json.loads(peer.render(values)) == floor(ARGUMENTS, KEYS)

    filled, rendered = "a body filled", "Jinja2 rendered, and parsed as JSON"
    found = interleave(
        {
            filled: lambda: ours.fill(scope),
            rendered: lambda: json.loads(peer.render(values)),
            "the same with json.dumps as its filter": lambda: json.loads(lean.render(values)),
            "the floor: the body written in Python": lambda: floor(ARGUMENTS, KEYS),
            "cut(strip_html()), now(), $each and $if": lambda: words.fill(scope),
        },
        rounds=ROUNDS,
    )
    table("A body of ten placeholders", found, against=filled, unit="us")
    times = ratio(found[rendered], found[filled])
    holds = verdict(
        "filling a body of ten placeholders, times faster than Jinja2",
        ours=statistics.median(found[filled]) * 1e6,
        peer=statistics.median(found[rendered]) * 1e6,
        ratio=times,
        target=f">= {LEAST:g}",
        holds=times >= LEAST,
    )
    return conclude("template", [holds])


if __name__ == "__main__":
    sys.exit(main())
