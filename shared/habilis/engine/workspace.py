"""One project of a home as a whole: its abilities, accounts and rules, read from one Revision.

What was parsed is kept by content: a warm call parses nothing, and a cold one neither reads YAML nor builds models
where the compiled form lies beside the home.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from habilis.errors import BadInput, ManifestInvalid, NotFound, Problem
from habilis.home.compiled import compiled
from habilis.home.store import Home, Mark, Revision
from habilis.manifest.model import Manifest
from habilis.manifest.plain import from_plain, to_plain
from habilis.messages import Json
from habilis.names import AbilityId, ProjectSlug, ability_id, project_slug
from habilis.policy.rules import NO_RULES, Rules, read_rules
from habilis.reading import Document
from habilis.records import Account, Project, read_account, read_project

_MOST_KEPT = 256
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """An installed ability as a project sees it.

    Attributes:
        folder: Where it lies in the home; a project's own folder wins over one for every project.
        manifest: Its connection; None when it is instructions only, or when `fault` says why it cannot be read.
        fault: What is wrong with its extension.yaml; None when nothing is.
        is_on: Whether the project has it switched on.
    """

    id: AbilityId
    folder: str
    manifest: Manifest | None
    has_instructions: bool
    fault: ManifestInvalid | None
    is_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A project with everything that a call needs of it.

    Attributes:
        accounts: By id, in the order of their making.
        faults: By account id, for accounts whose record cannot be read; the others work.
    """

    project: Project
    abilities: Mapping[str, Ability]
    accounts: Mapping[str, Account]
    faults: Mapping[str, ManifestInvalid]
    rules: Rules
    _by_service: Mapping[str, tuple[Account, ...]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Asked for on every call, so sorted once.
        found: dict[str, tuple[Account, ...]] = {}
        for account in sorted(self.accounts.values(), key=lambda entry: (not entry.is_default, entry.created_at)):
            found[account.service] = (*found.get(account.service, ()), account)
        object.__setattr__(self, "_by_service", found)

    def accounts_of(self, service: str) -> tuple[Account, ...]:
        """The service's accounts, its default first, then the oldest."""
        return self._by_service.get(service, ())

    def manifests_of(self, service: str) -> list[Manifest]:
        """Manifests of the abilities that share the service and are on, in the order of their ids."""
        return [
            ability.manifest
            for ability in self.abilities.values()
            if ability.is_on and ability.manifest is not None and ability.manifest.service == service
        ]


class _Kept(Generic[_T]):
    """The latest things of one kind, each by its key."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], _T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, ...]) -> _T | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: tuple[str, ...], value: _T) -> None:
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


_workspaces: _Kept[tuple[Mark, Workspace]] = _Kept()
"""By home and project, each with what tells whether it is still so."""

_manifests: _Kept[Manifest] = _Kept()
"""By the content they were made from."""


def open_workspace(home: Home, revision: Revision, project: str) -> Workspace:
    """The project as the revision has it.

    Raises:
        NotFound: There is no such project.
        ManifestInvalid: Its project.yaml or actauth.yml cannot be read.
    """
    key = (str(home.private), project)
    kept = _workspaces.get(key)
    if kept is not None and revision.reads_same(kept[0]):
        return kept[1]
    slug = project_slug(project)
    if revision.content_key(f"projects/{slug}/project.yaml") is None:
        raise NotFound(f"there is no project {slug!r}", hint=f"make it with: habilis projects add {slug}")
    workspace = _read(home, revision, slug)
    mark = revision.mark()
    if mark is not None:
        _workspaces.put(key, (mark, workspace))
    return workspace


def channel_sizes(workspace: Workspace) -> dict[str, tuple[int, int]]:
    """Width and height of the pictures that kinds of channels ask for, by the kind."""
    sizes: dict[str, tuple[int, int]] = {}
    for ability in workspace.abilities.values():
        for kind in ability.manifest.channels if ability.is_on and ability.manifest is not None else ():
            match kind.facts.get("image"):
                case {"width": int(width), "height": int(height)}:
                    sizes.setdefault(kind.kind, (width, height))
    return sizes


def ability_folders(revision: Revision, project: str) -> dict[str, str]:
    """Ability id to the folder that counts for the project, in the order of the ids."""
    found: dict[str, str] = {}
    for root in ("abilities", f"projects/{project}/abilities"):
        for name in revision.list(root):
            folder = name.rstrip("/")
            parts = (f"{root}/{folder}/extension.yaml", f"{root}/{folder}/SKILL.md")
            if name.endswith("/") and any(revision.content_key(part) is not None for part in parts):
                found[folder] = f"{root}/{folder}"
    return dict(sorted(found.items()))


def read_manifest(home: Home, revision: Revision, folder: str) -> Manifest | None:
    """The manifest of an ability's folder; None when it is instructions only; ManifestInvalid when it is wrong.

    A folder that was made by hand may have a name that is no ability's id: that is a fault of the folder alone.
    """
    path = f"{folder}/extension.yaml"
    name = folder.rsplit("/", 1)[-1]
    fault = _misnamed(folder, name)
    if fault is not None:
        raise fault

    def load() -> dict[str, Json]:
        from habilis.manifest.load import load_manifest

        read = load_manifest(revision.require(path), folder=name, file=path)
        if read.id != name:
            # Under two names at once it would stand beside, or in for, the ability that has the name by right.
            message = f"expected the name of its folder, found {read.id!r}"
            raise ManifestInvalid([Problem(file=path, line=1, column=1, path="id", message=message)])
        return to_plain(read)

    key = (name, revision.content_key(path) or "")
    manifest = _manifests.get(key)
    if manifest is None:
        plain = _parsed(home, revision, path, name, load)
        if not isinstance(plain, dict):
            return None
        try:
            manifest = from_plain(plain)
        except (KeyError, TypeError, ValueError, BadInput):
            # A kept form that somebody altered is no more than one that is missing.
            manifest = from_plain(load())
        _manifests.put(key, manifest)
    return manifest


def _misnamed(folder: str, name: str) -> ManifestInvalid | None:
    """What is wrong with the name of an ability's folder; None when nothing is."""
    try:
        ability_id(name)
    except BadInput as error:
        message = f"{error.message}; {error.hint}"
        return ManifestInvalid([Problem(file=folder, line=1, column=1, path="", message=message)])
    return None


def read_document(home: Home, revision: Revision, path: str) -> Json:
    """What a YAML file of the home says, as data; None when there is no such file; ManifestInvalid when it is wrong."""

    def load() -> Json:
        from habilis.reading import read_yaml

        return read_yaml(revision.require(path), path).data

    return _parsed(home, revision, path, "", load)


def _parsed(home: Home, revision: Revision, path: str, kind: str, load: Callable[[], Json]) -> Json:
    key = revision.content_key(path)
    if key is None:
        return None
    return compiled(home.private, hashlib.sha256(f"{kind}\0{key}".encode()).hexdigest(), load)


def _read(home: Home, revision: Revision, slug: ProjectSlug) -> Workspace:
    root = f"projects/{slug}"
    folders = ability_folders(revision, slug)
    connections = [name.rstrip("/") for name in revision.list(f"{root}/connections") if name.endswith("/")]
    file = f"{root}/project.yaml"
    project = _checked(home, revision, file, partial(read_project, slug=slug, file=file))
    accounts: dict[str, Account] = {}
    faults: dict[str, ManifestInvalid] = {}
    for name in connections:
        file = f"{root}/connections/{name}/connection.yaml"
        try:
            if revision.content_key(file) is not None:
                accounts[name] = _checked(home, revision, file, partial(read_account, project=slug, file=file))
        except ManifestInvalid as error:
            faults[name] = error
    return Workspace(
        project=project,
        abilities={name: _ability(home, revision, project, name, folder) for name, folder in folders.items()},
        accounts=accounts,
        faults=faults,
        rules=_rules(home, revision, f"{root}/actauth.yml"),
    )


def _checked(home: Home, revision: Revision, file: str, read: Callable[[Json | Document], _T]) -> _T:
    """What a record says; its faults with their lines, which the kept form no longer has."""
    try:
        return read(read_document(home, revision, file))
    except ManifestInvalid:
        from habilis.reading import read_yaml

        return read(read_yaml(revision.require(file), file))


def _rules(home: Home, revision: Revision, path: str) -> Rules:
    def load() -> Json:
        from habilis.reading import read_yaml

        document = read_yaml(revision.require(path), path, list_as="rules")
        # Faults are told here, with their places: the kept form has none.
        read_rules(document, path)
        return document.data

    data = _parsed(home, revision, path, "rules", load)
    return NO_RULES if data is None else read_rules(data, path)


def _ability(home: Home, revision: Revision, project: Project, name: str, folder: str) -> Ability:
    manifest, fault = None, None
    try:
        manifest = read_manifest(home, revision, folder)
    except ManifestInvalid as error:
        fault = error
    return Ability(
        id=manifest.id if manifest else AbilityId(name),
        folder=folder,
        manifest=manifest,
        has_instructions=_misnamed(folder, name) is None and revision.content_key(f"{folder}/SKILL.md") is not None,
        fault=fault,
        is_on=name not in project.abilities_off,
    )
