"""Manifests that tests change line by line, and the faults that come of it."""

import pytest

from habilis.errors import ManifestInvalid, Problem
from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest

PRESS = """\
id: press
name: Publish to the press site
version: "0.1.0"
summary: Publish and read articles.
auth:
  - { env: PRESS_SITE, label: Site, secret: false }
  - { env: PRESS_TOKEN, label: Token }
hosts: [api.example.com, "${PRESS_SITE}"]
tools:
  - name: publish_article
    label: Publishing
    description: Create an article.
    target: "{{title}}"
    input:
      type: object
      properties:
        title: { type: string }
        html: { type: string }
        status: { type: string }
      required: [title]
    request:
      method: POST
      url: "${PRESS_SITE}/articles"
      headers: { Authorization: "Bearer ${PRESS_TOKEN}" }
      json: { title: "{{title}}", body: "{{html}}", status: "{{status|draft}}", author: "{{byline}}" }
      timeout_s: 60
    result: { text: /link }
  - name: list_articles
    request:
      method: GET
      url: https://api.example.com/articles
channels:
  - kind: press
    label: Press site
    publish: publish_article
    destination:
      byline: { type: string, label: Author line }
sources:
  traffic:
    requests:
      - request: { method: GET, url: "https://api.example.com/stats?from={{from}}&to={{to}}" }
        rows: /rows
        date: /day
        dims: { channel: /channel }
        metrics: { sessions: /sessions, key_events: /events }
    derive:
      - { metric: organic_sessions, sum: sessions, where: { channel: Organic Search } }
"""


def changed(old: str, new: str, text: str = PRESS) -> str:
    """Return the text with the one place that reads `old` reading `new`."""
    assert text.count(old) == 1
    return text.replace(old, new)


def place(text: str, part: str) -> str:
    """Return the line and column of the one place that reads `part`, as faults show them."""
    assert text.count(part) == 1
    before = text[: text.index(part)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def loaded(text: str, folder: str = "press") -> Manifest:
    """Load a manifest that is expected to be right."""
    return load_manifest(text.encode(), folder=folder)


def problems(text: str | bytes, folder: str = "press") -> tuple[Problem, ...]:
    """Return the faults of a manifest that is expected to be wrong."""
    raw = text.encode() if isinstance(text, str) else text
    with pytest.raises(ManifestInvalid) as caught:
        load_manifest(raw, folder=folder)
    return caught.value.problems


def faults(text: str | bytes, folder: str = "press") -> list[str]:
    """Return the faults as a person reads them, `line:column path: message`."""
    return [str(one).removeprefix("extension.yaml:") for one in problems(text, folder)]


def fault(text: str | bytes, folder: str = "press") -> str:
    """Return the only fault."""
    found = faults(text, folder)
    assert len(found) == 1, found
    return found[0]
