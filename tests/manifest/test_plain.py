import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.manifest.samples import PRESS, loaded

from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest
from habilis.manifest.plain import from_plain, to_plain
from habilis.marketplace import shipped
from habilis.reading import parse_yaml, write_yaml

EVERYTHING = (
    """\
author: acme
homepage: https://example.com/docs
icon: newspaper
avatar: pictures/avatar.svg
categories: [publishing, writing]
transport: http
service: press-account
exclusive: true
daily_cap: 20
connect:
  label: Connect
  flow: redirect
  needs: [PRESS_SITE]
  url: "${PRESS_SITE}/authorize?app_id={{app_id}}"
  callback_params: [success_url]
  callback: https
  returns: { PRESS_SITE: site_url }
  denied: { param: success, equals: "false" }
provides:
  image:
    cost: about $0.03
    map: { orientation: { landscape: 3, "*": [1, null, true] } }
    request:
      { method: POST, url: "https://api.example.com/i", json: { p: "{{prompt}}" }, basic_auth: [a, "${PRESS_TOKEN}"] }
    result: { text: /url }
"""
    + PRESS
)


def ability(name: str) -> Manifest:
    folder = shipped(name)
    assert folder is not None
    return load_manifest((folder / "extension.yaml").read_bytes(), folder=name)


@pytest.mark.parametrize("manifest", [loaded(EVERYTHING), ability("wordpress"), ability("plausible")])
def test_a_manifest_comes_back_equal_from_its_plain_form(manifest):
    kept = json.dumps(to_plain(manifest))

    assert from_plain(json.loads(kept)) == manifest


def test_another_manifest_is_not_equal():
    assert loaded(EVERYTHING) != loaded(PRESS)


TOP = [
    "author", "homepage", "icon", "avatar", "categories", "transport", "service", "exclusive", "daily_cap", "connect",
    "provides", "sources", "channels",
]  # fmt: skip
TOOL = ["label", "description", "result", "map"]


@settings(deadline=None)
@given(without=some.sets(some.sampled_from(TOP)), tool_without=some.sets(some.sampled_from(TOOL)))
def test_whatever_is_left_out_the_plain_form_gives_the_same_manifest(without, tool_without):
    data = parse_yaml(EVERYTHING.encode(), "extension.yaml")[0].data
    tool = data["tools"][0]
    kept = {name: value for name, value in data.items() if name not in without}
    tool["request"]["json"] = {"title": "{{title}}"}
    kept["tools"] = [{name: value for name, value in tool.items() if name not in tool_without}]

    manifest = load_manifest(write_yaml(kept), folder="press")

    assert from_plain(json.loads(json.dumps(to_plain(manifest)))) == manifest


def test_the_plain_form_needs_no_yaml_and_no_shapes():
    kept = json.dumps(to_plain(ability("wordpress")))
    program = (
        "import json, sys\n"
        "from habilis.manifest.plain import from_plain\n"
        "manifest = from_plain(json.load(sys.stdin))\n"
        "heavy = {'yaml', 'pydantic', 'jsonschema_rs', 'httpx', 'publicsuffixlist'} & set(sys.modules)\n"
        "print(manifest.id, sorted(heavy))\n"
    )

    said = subprocess.run([sys.executable, "-c", program], input=kept, capture_output=True, text=True, check=True)

    assert said.stdout == "wordpress []\n"
