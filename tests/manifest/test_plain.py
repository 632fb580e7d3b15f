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
from habilis.marketplace import index, shipped
from habilis.reading import parse_yaml, write_yaml

SHIPPED = [str(entry["id"]) for entry in index() if entry["path"]]
EVERYTHING = """\
author: acme
homepage: https://example.com/docs
icon: newspaper
avatar: pictures/avatar.svg
categories: [publishing, writing]
cost: free
transport: http
service: press-account
exclusive: true
daily_cap: 20
result_hosts: [files.example.com]
defaults:
  base: https://api.example.com
  headers: { X-Client: habilis }
  query: { lang: [en, de] }
  retry: { tries: 2, on: [429, network], wait: 1, reset: "header:X-Reset", unit: unix }
connect:
  - label: Connect
    flow: redirect
    needs: [PRESS_SITE]
    url: "${PRESS_SITE}/authorize?app_id={{app_id}}"
    callback_params: [success_url]
    callback: https
    returns: { PRESS_SITE: site_url }
    denied: { param: success, equals: "false" }
  - { label: Cloud, flow: cloud, provider: google, scopes: [read], token_env: PRESS_TOKEN, needs: [PRESS_SITE] }
  - flow: service_account
    key_file: PRESS_SITE
    token_url: https://api.example.com/token
    scopes: [read]
    token_env: MADE_TOKEN
provides:
  image:
    cost: about $0.03
    map: { orientation: { landscape: 3, "*": [1, null, true] } }
    request:
      { method: POST, url: "https://api.example.com/i", json: { p: "{{prompt}}" }, basic_auth: [a, "${PRESS_TOKEN}"] }
    result: { file_url: /url, mime: /type, name: "{{title}}" }
""" + PRESS.replace(
    "  - { env: PRESS_SITE, label: Site, secret: false }\n",
    """\
  - env: PRESS_SITE
    label: Site
    secret: false
    choices: { request: { method: GET, url: /sites }, list: /sites/*, value: /id, label: /name, strip: x }
""",
).replace(
    "channels:\n",
    """\
  - name: upload_files
    role: manage
    input: { type: object, properties: { tags: { type: array } } }
    steps:
      - name: put
        for_each: files
        when: { field: file.mime, op: matches, value: "^image/" }
        request:
          method: POST
          url: /files
          multipart:
            - { name: a, value: [1, null] }
            - { name: f, file: "{{file}}", filename: "{{file.name}}", mime: a/b }
          idempotency: { header: X-Once }
          ok: { status: [409], fail_when: { not: { field: /ok, op: exists } }, message: /why }
          errors: [{ when: { field: status, op: eq, value: 413 }, say: Too big }]
        save: { id: /id, etag: "header:ETag", code: status }
        on_error: skip
        save_error: faults
      - name: wait
        for_each: put
        request:
          method: GET
          url: "/files/{{item.id}}"
          until:
            { when: { field: /done, op: eq, value: true }, fail: { field: /bad, op: exists }, every: /wait, max_s: 9 }
      - name: tag
        for_each: tags
        request: { method: POST, url: /tags, form: { "name[]": ["{{item}}"], x: { y: 1 } } }
      - name: last
        request:
          method: POST
          url: "{{wait.0.next}}"
          body_file: "{{files.0}}"
          decode: jsonl
          sign: { scheme: hmac, key: "${PRESS_TOKEN}", header: X-Sign }
    limits: { runs: 30 }
    result: { text: "{{put.0.id}} {{faults}}" }
  - name: list_everything
    request:
      method: GET
      url: /all
      pages:
        { by: cursor, into: query:c, from: /next, items: /all, stop: { field: /n, op: eq, value: 0 }, total: /total }
channels:
""",
)


def ability(name: str) -> Manifest:
    folder = shipped(name)
    assert folder is not None
    return load_manifest((folder / "extension.yaml").read_bytes(), folder=name)


@pytest.mark.parametrize("manifest", [loaded(EVERYTHING), *map(ability, SHIPPED)])
def test_a_manifest_comes_back_equal_from_its_plain_form(manifest):
    kept = json.dumps(to_plain(manifest))

    assert from_plain(json.loads(kept)) == manifest


def test_another_manifest_is_not_equal():
    assert loaded(EVERYTHING) != loaded(PRESS)


TOP = [
    "author", "homepage", "icon", "avatar", "categories", "transport", "service", "exclusive", "daily_cap", "connect",
    "provides", "sources", "channels", "cost", "result_hosts", "defaults",
]  # fmt: skip
TOOL = ["label", "description", "result", "map"]


@settings(deadline=None)
@given(without=some.sets(some.sampled_from(TOP)), tool_without=some.sets(some.sampled_from(TOOL)))
def test_whatever_is_left_out_the_plain_form_gives_the_same_manifest(without, tool_without):
    data = parse_yaml(EVERYTHING.encode(), "extension.yaml")[0].data
    tool = data["tools"][0]
    kept = {name: value for name, value in data.items() if name not in without}
    tool["request"]["json"] = {"title": "{{title}}"}
    others = data["tools"][2:] if "defaults" not in without else []
    kept["tools"] = [{name: value for name, value in tool.items() if name not in tool_without}, *others]
    if "defaults" in without:
        kept["auth"] = [{**key, "choices": None} for key in data["auth"]]

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
