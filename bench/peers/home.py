"""A home with one ability and one account that calls a service on loopback: what the call benches run on."""

from datetime import UTC, datetime
from pathlib import Path

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.installs import install, plan_install
from habilis.engine.projects import add_project
from habilis.home.worktree import WorkTreeHome, init_home

ARGUMENTS = {
    "title": "Hello",
    "html": "<p>" + "word " * 60 + "</p>",
    "summary": "A summary of one line.",
    "status": "draft",
    "slug": "hello",
    "author": 7,
    "featured": 12,
    "sticky": False,
    "tags": ["a", "b"],
    "format": "standard",
}

MANIFEST = """\
id: press
name: Press
version: 1.0.0
summary: A blog to measure with.
transport: http
auth:
  - {{ env: PRESS_SITE, label: Site, secret: false }}
  - {{ env: PRESS_TOKEN, label: Token }}
hosts: ["${{PRESS_SITE}}"]
tools:
{tools}"""

TOOL = """\
  - name: {name}
    label: Measuring
    description: Sends ten arguments and reads a link.
    role: {role}
    input:
      type: object
      properties:
        title: {{ type: string }}
        html: {{ type: string }}
        summary: {{ type: string }}
        status: {{ type: string }}
        slug: {{ type: string }}
        author: {{ type: integer }}
        featured: {{ type: integer }}
        sticky: {{ type: boolean }}
        tags: {{ type: array, items: {{ type: string }} }}
        format: {{ type: string }}
      required: [title, html]
    request:
      method: POST
      url: "${{PRESS_SITE}}/one"
      headers: {{ Authorization: "Bearer ${{PRESS_TOKEN}}" }}
      json:
        title: "{{{{title}}}}"
        content: "{{{{html}}}}"
        excerpt: "{{{{summary}}}}"
        status: "{{{{status|draft}}}}"
        slug: "{{{{slug}}}}"
        author: "{{{{author}}}}"
        featured_media: "{{{{featured}}}}"
        sticky: "{{{{sticky}}}}"
        tags: "{{{{tags}}}}"
        format: "{{{{format|standard}}}}"
    result: {{ text: /link }}
"""


def make_home(folder: Path, port: int, manifest: str = "") -> WorkTreeHome:
    """A home in `folder`: its project `acme` calls 127.0.0.1:`port`.

    Args:
        folder: Empty.
        port: What the ability's site is set to.
        manifest: The ability's; its one site is the key that its id and `_SITE` make. "" for the blog above with the
            tools `look` (read) and `put` (manage).
    """
    now = datetime.now(UTC)
    tools = TOOL.format(name="look", role="read") + TOOL.format(name="put", role="manage")
    text = manifest or MANIFEST.format(tools=tools)
    name = text.splitlines()[0].removeprefix("id: ")
    ability = folder / name
    ability.mkdir(parents=True)
    (ability / "extension.yaml").write_text(text, encoding="utf-8")
    home = init_home(folder / "home")
    add_project(home, "acme", actor="bench")
    install(home, plan_install(home, str(ability)), actor="bench", now=now)
    keys = {f"{name.upper()}_SITE": f"http://127.0.0.1:{port}"}
    if not manifest:
        keys["PRESS_TOKEN"] = "token-0123456789abcdef"
    add_account(home, AccountOrder(project="acme", ability=name, keys=keys), actor="bench", now=now)
    allow_private(home, "acme", name, f"127.0.0.1:{port}", actor="bench")
    return home
