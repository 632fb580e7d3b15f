import json
from hashlib import sha256

from habilis.engine import workspace
from habilis.engine.workspace import open_workspace
from habilis.home.worktree import WorkTreeHome


def forget_all():
    """Let this process be as one that has just begun."""
    workspace._manifests._kept.clear()
    workspace._workspaces._kept.clear()


def test_a_kept_form_that_somebody_altered_is_made_anew(world):
    kept = world.home.private / ".state" / "compiled"
    forget_all()
    open_workspace(world.home, world.home.open(), "acme")
    altered = 0
    for path in kept.rglob("*.json"):
        form = json.loads(path.read_bytes().partition(b"\n")[2])
        if isinstance(form, dict) and form.pop("tools", None):
            text = json.dumps(form).encode()
            path.write_bytes(sha256(text).hexdigest().encode() + b"\n" + text)
            altered += 1
    forget_all()
    fresh = WorkTreeHome(world.home.private)

    found = open_workspace(fresh, fresh.open(), "acme")

    assert altered == 1
    assert [tool.name for tool in found.abilities["sample-blog"].manifest.tools] == ["create_post", "list_posts"]
    fresh.close()
