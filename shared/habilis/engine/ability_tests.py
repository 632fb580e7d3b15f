"""An ability's own cassettes, found and run: each through the exchange that real calls go through; nothing is sent."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from habilis.cassettes import Cassette, Fault, read_cassette
from habilis.engine.cases import CaseReport, run_case
from habilis.errors import BadInput, NotFound
from habilis.fetch import read_folder
from habilis.home.store import Home
from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest
from habilis.marketplace import shipped
from habilis.names import ability_id, project_slug

_FOLDER = "cassettes/"


def run_cassettes(
    spec: str, *, home: Callable[[], Home], project: str = "", fault: Fault | None = None
) -> list[CaseReport]:
    """Run every cassette of an ability, in the order of their names.

    Args:
        spec: A folder, or the id of an ability that is installed or ships.
        home: Opens the home that it may be installed in; not called for a folder.
        project: Whose own abilities count as well; "" for none.
        fault: Played at its place in each conversation; None for none.

    Raises:
        NotFound: There is no such ability, or it has no cassettes.
        ManifestInvalid: Its extension.yaml or one of the cassettes is wrong.
    """
    name, files = _files(spec, home, project)
    names = [file for file in files if file.startswith(_FOLDER) and file.endswith((".yaml", ".yml"))]
    if not names or "extension.yaml" not in files:
        raise NotFound(f"the ability {name!r} has no cassettes", hint="docs/cassettes.md says how to write one")
    manifest = load_manifest(files["extension.yaml"], folder=name)
    return [_run(manifest, read_cassette(files[file], file), fault) for file in sorted(names)]


def _files(spec: str, home: Callable[[], Home], project: str) -> tuple[str, Mapping[str, bytes]]:
    """An ability's name and its files, as far as they are needed here."""
    place = Path(spec).expanduser()
    if len(place.parts) > 1 or spec in {"", ".", ".."}:
        return place.resolve().name, read_folder(place)
    installed = _installed(spec, home, project)
    if installed:
        return spec, installed
    place = shipped(spec) or place
    if not place.is_dir():
        raise NotFound(f"there is no ability {spec!r}", hint="see: habilis abilities ls, and ls --shipped")
    return place.resolve().name, read_folder(place)


def _installed(spec: str, home: Callable[[], Home], project: str) -> dict[str, bytes]:
    """The files of an installed ability; none where there is no such one, or no home."""
    try:
        ability = ability_id(spec)
        revision = home().open()
    except (BadInput, NotFound):
        return {}  # a person who writes an ability need not have a home
    folders = [f"projects/{project_slug(project)}/abilities/{ability}"] if project else []
    for folder in (*folders, f"abilities/{ability}"):
        names = ["extension.yaml", *(f"{_FOLDER}{name}" for name in revision.list(f"{folder}/{_FOLDER[:-1]}"))]
        found = {name: revision.read(f"{folder}/{name}") for name in names if not name.endswith("/")}
        if found["extension.yaml"] is not None:
            return {name: content for name, content in found.items() if content is not None}
    return {}


def _run(manifest: Manifest, cassette: Cassette, fault: Fault | None) -> CaseReport:
    with TemporaryDirectory(prefix="habilis-case-") as folder:
        return run_case(manifest, cassette, Path(folder), fault=fault)
