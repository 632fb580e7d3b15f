"""Assets of a project: read, written, and given the files that a call brought back."""

from habilis.engine.workspace import Workspace
from habilis.errors import NotFound
from habilis.home.store import Home, Revision
from habilis.names import asset_ref
from habilis.records import RECORD_NAME, Asset, read_asset, write_asset


def read_project_asset(revision: Revision, workspace: Workspace, ref: str) -> Asset:
    """An asset of the project; NotFound or ManifestInvalid otherwise."""
    path = f"{asset_folder(workspace.project.slug, ref)}/{RECORD_NAME}"
    text = revision.read(path)
    if text is None:
        raise NotFound(f"there is no asset {ref!r}", hint=f"it would lie at {path}")
    return read_asset(text, ref=ref, file=path)


def save_asset(home: Home, project: str, asset: Asset, *, actor: str) -> None:
    """Write an asset into the project; an asset of that name is replaced."""
    path = f"{asset_folder(project, asset.ref)}/{RECORD_NAME}"
    home.commit(lambda _: {path: write_asset(asset)}, subject=f"Write {asset.ref}", action="asset", actor=actor)


def asset_folder(project: str, ref: str) -> str:
    """Where an asset lies in the home; BadInput for what is no `<type>/<id>`."""
    kind, name = asset_ref(ref)
    return f"projects/{project}/assets/{kind}/{name}"
