"""Installing an ability: read, checked as a whole, shown, written in one commit."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from habilis.engine.workspace import read_document, read_manifest
from habilis.errors import Collision, ManifestInvalid, NotFound, Problem, UnsafePath
from habilis.fetch import read_folder
from habilis.home.store import Home, Revision
from habilis.manifest.model import Manifest
from habilis.marketplace import shipped
from habilis.messages import Json
from habilis.names import AbilityId, ability_id, project_slug
from habilis.reading import write_yaml
from habilis.records import stamp
from habilis.skill import Skill, load_skill

SOURCE_FILE = ".source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an install would write, and what it brings, for a person to read before it happens.

    Attributes:
        origin: Where it came from, as the record keeps it.
        files: By path inside the ability's folder.
        project: The project it would be for; "" for every project.
        is_same: Whether the home already holds exactly this.
    """

    id: AbilityId
    origin: str
    files: Mapping[str, bytes]
    manifest: Manifest | None
    skill: Skill | None
    project: str
    is_same: bool

    def includes(self) -> dict[str, Json]:
        """What the ability brings: instructions, keys, hosts, tools, channels, contracts and sources."""
        return _includes(self.id, self.manifest, self.skill, list(self.files))


def plan_install(home: Home, spec: str, *, project: str = "") -> Plan:
    """Read an ability and check it as a whole; writes nothing.

    Args:
        home: Where it would go.
        spec: A local folder, or the id of an ability that Habilis ships.
        project: Its slug to install for this project only; "" for every project.

    Raises:
        NotFound: There is neither such a folder nor such a shipped ability.
        ManifestInvalid: Its extension.yaml or SKILL.md is wrong; every fault at once.
        UnsafeArchive, UnsafePath: It holds something that is never installed.
        Collision: The home holds an ability of this id that differs.
    """
    folder, origin = _locate(spec)
    name, manifest, skill, files = _read(folder)
    is_same = _is_same(home.open(), f"{_root(project)}/{name}", files)
    return Plan(id=name, origin=origin, files=files, manifest=manifest, skill=skill, project=project, is_same=is_same)


def install(home: Home, plan: Plan, *, actor: str, now: datetime) -> str:
    """Write a planned install in one commit and return its id; where the home held exactly this nothing is written.

    Raises:
        Collision: Meanwhile another ability took the id.
        NotFound: There is no such project.
    """
    folder = f"{_root(plan.project)}/{plan.id}"
    record = write_yaml(
        {
            "from": plan.origin,
            "version": plan.manifest.version if plan.manifest else "",
            "installed_at": stamp(now),
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in plan.files.items()},
        }
    )

    def change(revision: Revision) -> dict[str, bytes | None]:
        if plan.project and revision.content_key(f"projects/{plan.project}/project.yaml") is None:
            raise NotFound(
                f"there is no project {plan.project!r}", hint=f"make it with: habilis projects add {plan.project}"
            )
        if _is_same(revision, folder, plan.files):
            return {}
        return {f"{folder}/{name}": data for name, data in {**plan.files, SOURCE_FILE: record}.items()}

    version = f" {plan.manifest.version}" if plan.manifest else ""
    return home.commit(change, subject=f"Install {plan.id}{version}", action="install", actor=actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledView:
    """An installed ability as a list shows it; `fault` says why it cannot be used, "" when it can."""

    id: str
    name: str
    version: str
    folder: str
    has_instructions: bool
    origin: str
    fault: str = ""


def list_installed(home: Home, project: str = "") -> list[InstalledView]:
    """The abilities of the home, and those of one project where it is named; those that need attention included."""
    revision = home.open()
    roots = ["abilities", *([_root(project)] if project else [])]
    folders = [f"{root}/{name.rstrip('/')}" for root in roots for name in revision.list(root) if name.endswith("/")]
    found = [_installed(home, revision, folder) for folder in folders]
    return sorted(found, key=lambda view: view.id)


def show_ability(home: Home, name: str) -> dict[str, Json]:
    """What an ability of the home, or else one that Habilis ships, brings; NotFound or ManifestInvalid otherwise."""
    revision = home.open()
    folder = f"abilities/{ability_id(name)}"
    files = [entry for entry in revision.list(folder) if not entry.startswith(".")]
    if not files:
        path = shipped(name)
        if path is None:
            raise NotFound(f"there is no ability {name!r}", hint="see: habilis abilities ls, and ls --shipped")
        shown, manifest, skill, contents = _read(path)
        return _includes(shown, manifest, skill, list(contents))
    text = revision.read(f"{folder}/SKILL.md")
    instructions = None if text is None else load_skill(text, file=f"{folder}/SKILL.md")
    return _includes(name, read_manifest(home, revision, folder), instructions, files)


def _installed(home: Home, revision: Revision, folder: str) -> InstalledView:
    manifest, fault = None, ""
    try:
        manifest = read_manifest(home, revision, folder)
        record = read_document(home, revision, f"{folder}/{SOURCE_FILE}")
    except (ManifestInvalid, UnsafePath) as error:
        fault, record = str(error), None
    name = folder.rsplit("/", 1)[-1]
    return InstalledView(
        id=manifest.id if manifest else name,
        name=manifest.name if manifest else name,
        version=manifest.version if manifest else "",
        folder=folder,
        has_instructions=revision.content_key(f"{folder}/SKILL.md") is not None,
        origin=str(record.get("from", "")) if isinstance(record, dict) else "",
        fault=fault,
    )


def _read(folder: Path) -> tuple[AbilityId, Manifest | None, Skill | None, dict[str, bytes]]:
    """An ability out of its folder, checked as a whole: id, manifest, instructions and files."""
    from habilis.manifest.load import load_manifest

    files = read_folder(folder)
    problems: list[Problem] = []
    manifest, skill = None, None
    try:
        manifest = load_manifest(files["extension.yaml"], folder=folder.name) if "extension.yaml" in files else None
    except ManifestInvalid as error:
        problems += error.problems
    try:
        skill = load_skill(files["SKILL.md"]) if "SKILL.md" in files else None
    except ManifestInvalid as error:
        problems += error.problems
    if problems:
        raise ManifestInvalid(problems)
    return manifest.id if manifest else ability_id(folder.name), manifest, skill, files


def _includes(name: str, manifest: Manifest | None, skill: Skill | None, files: Sequence[str]) -> dict[str, Json]:
    brings: dict[str, Json] = {
        "id": name,
        "name": manifest.name if manifest else skill.name if skill else name,
        "version": manifest.version if manifest else "",
        "instructions": skill is not None,
        "files": list(files),
    }
    if manifest is not None:
        brings |= {
            "keys": [{"name": key.env, "label": key.label, "optional": key.optional} for key in manifest.auth],
            "hosts": list(manifest.hosts),
            "fetches_files_from": list(manifest.result_hosts),
            "mails_through": manifest.smtp.host.source if manifest.smtp else "",
            "tools": [{"name": tool.name, "role": tool.role, "does": tool.label} for tool in manifest.tools],
            "publishes_to": [kind.kind for kind in manifest.channels if kind.publish],
            "provides": [entry.name for entry in manifest.provides],
            "reads": [source.name for source in manifest.sources],
        }
    return brings


def _locate(spec: str) -> tuple[Path, str]:
    """A shipped ability by its id, else a folder; the origin never holds a machine's path beyond the folder's name."""
    found = shipped(spec) if spec else None
    if found is not None:
        return found, f"shipped:{spec}"
    folder = Path(spec).expanduser()
    if not spec or not folder.is_dir():
        raise NotFound(
            f"there is neither a folder nor a shipped ability {spec!r}", hint="see: habilis abilities ls --shipped"
        )
    resolved = folder.resolve()
    return resolved, f"folder:{resolved.name}"


def _root(project: str) -> str:
    """Where abilities lie: for one project, or for all."""
    return f"projects/{project_slug(project)}/abilities" if project else "abilities"


def _is_same(revision: Revision, folder: str, files: Mapping[str, bytes]) -> bool:
    """Whether the home holds exactly these files there; Collision when it holds others."""
    if not revision.list(folder):
        return False
    if all(revision.read(f"{folder}/{path}") == data for path, data in files.items()):
        return True
    raise Collision(
        f"an ability {folder.rsplit('/', 1)[-1]!r} is installed already and differs from this one",
        hint=f"keep it, or remove the folder {folder} and install again",
    )
