"""A service that takes articles with pictures in four steps and draws pictures, and the ability that speaks with it."""

import json
from urllib.parse import parse_qs

from tests.upstream import Upstream, answer

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.actions import activity_log
from habilis.engine.assets import save_asset
from habilis.engine.calls import call_tool
from habilis.engine.installs import install, plan_install
from habilis.engine.resolve import CallOrder
from habilis.engine.workspace import open_workspace
from habilis.records import Asset, AssetFile

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0"
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 300
FOLDER = "projects/acme/assets/article/hello"
_STEPS = """\
    steps:
      - name: register
        for_each: files
        request: { method: POST, url: /uploads, json: { name: "{{file.name}}", size: "{{file.size}}" } }
        save: { upload: /uploadUrl, id: /id }
      - name: put
        for_each: register
        request: { method: PUT, url: "{{item.upload}}", body_file: "{{file}}" }
      - name: describe
        for_each: register
        when: "{{file.alt}}"
        request: { method: POST, url: "/media/{{item.id}}", form: { alt: "{{file.alt}}" } }
      - name: post
        request: { method: POST, url: /posts, json: { title: "{{title}}", media_ids: "{{register.*.id}}" } }
        save: { url: /url }
    result: { text: "{{post.url}}" }
"""
MANIFEST = (
    f"""\
id: press
name: Publish to the press
version: 0.1.0
summary: Publishes articles with pictures, and draws some.
transport: http
auth:
  - {{ env: PRESS_SITE, label: Site, secret: false }}
  - {{ env: PRESS_TOKEN, label: Token }}
hosts: ["${{PRESS_SITE}}", uploads.example.com]
defaults: {{ base: "${{PRESS_SITE}}", headers: {{ Authorization: "Bearer ${{PRESS_TOKEN}}" }} }}
tools:
  - name: publish_article
    label: Publishing
    description: Publishes an article with its pictures.
    input: {{ type: object, properties: {{ title: {{ type: string }} }}, required: [title] }}
{_STEPS}
  - name: file_article
    label: Filing
    description: Files an article with its pictures, without asking.
    role: manage
    input: {{ type: object, properties: {{ title: {{ type: string }} }}, required: [title] }}
{_STEPS}
"""
    """\
  - name: send_all
    label: Sending
    description: Sends all pictures at once.
    role: manage
    input: { type: object, properties: { caption: { type: string } } }
    request:
      method: POST
      url: /gallery
      multipart:
        - { name: caption, value: "{{caption}}" }
        - { name: "media[]", file: "{{files}}" }
  - name: send_inline
    label: Sending inline
    description: Sends a picture inside the body.
    role: manage
    input: { type: object, properties: {} }
    request:
      method: POST
      url: /gallery
      json: { image: "data:{{files.0.mime}};base64,{{files.0.base64}}", width: "{{files.1.width}}" }
  - name: read_feed
    label: Reading
    description: Reads the feed, page by page.
    input: { type: object, properties: {} }
    request:
      method: GET
      url: /feed
      pages: { by: cursor, into: "query:after", from: /next, items: /entries, max: 2 }
channels:
  - { kind: press, label: Press, publish: publish_article, image: { width: 800, height: 418 } }
provides:
  image:
    cost: about $0.03 per image
    request:
      method: POST
      url: /draw
      json: { prompt: "{{prompt}}", width: "{{width|640}}", height: "{{height|480}}" }
    result: { file_url: /images/0/url }
"""
)


class Press(Upstream):
    """The service.

    Attributes:
        stored: Bytes that were put, by address.
        alts: What was said of each picture.
        posts: The articles.
        answers: Said in place of the usual, by address, once each.
        upload_base: What upload addresses begin with.
    """

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.stored: dict[str, bytes] = {}
        self.alts: dict[str, str] = {}
        self.posts: list[dict[str, object]] = []
        self.answers: dict[str, list[object]] = {}
        self.upload_base = self.url("")
        self.picture_url = self.url("/pictures/1")
        self.picture = lambda _: answer(200, body=PNG, headers=(("Content-Type", "image/png"),))

    @property
    def targets(self) -> list[str]:
        """What was asked for, in order."""
        return [f"{seen.method} {seen.target}" for seen in self.requests]

    def _reply(self, seen):
        path = seen.target.partition("?")[0]
        if self.answers.get(path):
            said = self.answers[path].pop(0)
            if said is not None:
                return said
        return self._usual(seen, path.strip("/").split("/"))

    def _usual(self, seen, parts):
        match seen.method, parts:
            case "POST", ["uploads"]:
                number = sum(target == "POST /uploads" for target in self.targets)
                return said_json(201, {"uploadUrl": f"{self.upload_base}/up/{number}?sig=1", "id": f"m{number}"})
            case "PUT", ["up", number]:
                self.stored[number] = seen.body
                return answer(204)
            case "POST", ["media", number]:
                self.alts[number] = parse_qs(seen.body.decode())["alt"][0]
                return answer(200)
            case "POST", ["posts"]:
                self.posts.append(json.loads(seen.body))
                return said_json(201, {"url": "https://press.example/1"})
            case "POST", ["gallery"]:
                return said_json(201, {"url": "https://press.example/gallery"})
            case "POST", ["draw"]:
                return said_json(200, {"images": [{"url": self.picture_url}]})
        return self._read(seen, parts)

    def _read(self, seen, parts):
        if parts[0] == "pictures":
            return self.picture(seen)
        if parts == ["feed"]:
            number = int((seen.target + "=0").split("=")[1])
            return said_json(200, {"entries": [{"id": number}], "next": number + 1})
        return said_json(404, {"message": "nothing is here"})


def said_json(status, data):
    return answer(status, body=json.dumps(data).encode(), headers=(("Content-Type", "application/json"),))


def furnish(home, folder, press, *, now):
    """Install the ability, add an account of it, and an asset with two files."""
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST)
    install(home, plan_install(home, str(folder)), actor="tests", now=now)
    files = (AssetFile(name="Grüße.jpg", file="a.jpg", alt="A greeting"), AssetFile(name="b.png", file="b.png"))
    save_asset(home, "acme", Asset(ref="article/hello", title="Hello", text="", files=files), actor="tests")
    (home.private / FOLDER / "a.jpg").write_bytes(JPEG)
    (home.private / FOLDER / "b.png").write_bytes(PNG)
    add_press_account(home, press, now=now)


def add_press_account(home, press, *, now, **fields):
    """Add an account of the ability that may call the service."""
    keys = {"PRESS_SITE": press.url(""), "PRESS_TOKEN": "token-of-the-press"}
    order = AccountOrder(**{"project": "acme", "ability": "press", "keys": keys, **fields})
    account = add_account(home, order, actor="tests", now=now)
    allow_private(home, "acme", account.id, press.place, actor="tests")


def call(world, tool="file_article", asset="article/hello", **arguments):
    order = CallOrder(project="acme", tool=tool, arguments=arguments, asset=asset)
    return call_tool(world.home, order, world.outside, actor="agent")


def draw(world, asset="", **arguments):
    return call(world, tool="image", asset=asset, prompt="A lighthouse", **arguments)


def entries(world):
    """What the account's log says."""
    account = open_workspace(world.home, world.home.open(), "acme").accounts["press"]
    return activity_log(world.home, account).entries()
