"""Projects of a home: made and listed."""

from habilis.errors import Collision
from habilis.home.store import Home, Revision
from habilis.names import ProjectSlug, project_slug
from habilis.records import Project, write_project


def add_project(home: Home, slug: str, *, name: str = "", actor: str) -> ProjectSlug:
    """Make a project; BadInput for a bad slug, Collision when it exists."""
    checked = project_slug(slug)
    path = f"projects/{checked}/project.yaml"

    def change(revision: Revision) -> dict[str, bytes | None]:
        if revision.content_key(path) is not None:
            raise Collision(f"there is a project {checked!r} already", hint="choose another slug")
        return {path: write_project(Project(slug=checked, name=name or checked))}

    home.commit(change, subject=f"Make the project {checked}", action="project add", actor=actor)
    return checked


def list_projects(home: Home) -> list[str]:
    """The slugs of the home's projects, sorted."""
    return [name.rstrip("/") for name in home.open().list("projects") if name.endswith("/")]
