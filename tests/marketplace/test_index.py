import pytest

from habilis import names
from habilis.errors import BadInput
from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest
from habilis.marketplace import index, shipped
from habilis.skill import load_skill

FIELDS = [
    "id", "name", "author", "summary", "version", "repo", "path", "categories", "icon", "cost", "provides", "channels",
    "auth", "trust", "transport",
]  # fmt: skip
ENTRIES = {str(entry["id"]): entry for entry in index()}


def ability(name: str) -> Manifest:
    folder = shipped(name)
    assert folder is not None
    return load_manifest((folder / "extension.yaml").read_bytes(), folder=name)


def test_the_index_lists_what_is_shipped_in_the_shape_of_every_marketplace():
    assert list(ENTRIES) == ["wordpress", "plausible", "habilis-render"]
    assert all(list(entry) == FIELDS for entry in ENTRIES.values())


@pytest.mark.parametrize("name", ["wordpress", "plausible"])
def test_an_entry_says_what_the_folder_says(name):
    entry, manifest = ENTRIES[name], ability(name)

    assert {field: entry[field] for field in ("id", "name", "author", "summary", "version", "icon", "transport")} == {
        field: getattr(manifest, field) for field in ("id", "name", "author", "summary", "version", "icon", "transport")
    }
    assert entry["categories"] == list(manifest.categories)
    assert entry["auth"] == [key.env for key in manifest.auth]
    assert entry["provides"] == [provided.name for provided in manifest.provides]
    assert entry["channels"] == [
        {"kind": kind.kind, "profile_hosts": [], **{fact: kind.facts[fact] for fact in ("name", "icon")}}
        for kind in manifest.channels
    ]


@pytest.mark.parametrize("name", ["wordpress", "plausible"])
def test_a_shipped_ability_has_instructions_of_its_own_author(name):
    folder = shipped(name)
    assert folder is not None

    skill = load_skill((folder / "SKILL.md").read_bytes())

    assert skill.author == ability(name).author == "habilis"
    assert skill.body


def test_site_addresses_and_user_names_are_no_secrets_and_passwords_are():
    secret = {key.env for name in ("wordpress", "plausible") for key in ability(name).auth if key.secret}

    assert secret == {"WP_APP_PASSWORD", "PLAUSIBLE_KEY"}


def test_wordpress_publishes_a_draft_unless_told_otherwise_and_tells_the_link():
    manifest = ability("wordpress")
    tool, kind = manifest.tool("publish_article"), manifest.kind("wordpress")

    assert tool is not None
    assert kind is not None
    assert (tool.role, kind.publish, tool.result.text) == ("publish", "publish_article", "/link")
    assert tool.steps[0].request.json is not None
    assert tool.steps[0].request.json.source["status"] == "{{status|draft}}"
    assert manifest.connect is not None
    assert manifest.connect.needs_https


def test_plausible_reads_two_sets_of_numbers():
    assert [source.name for source in ability("plausible").sources] == ["traffic", "conversions"]


def test_the_renderers_place_is_reserved_and_there_is_nothing_to_install():
    entry = ENTRIES["habilis-render"]

    assert (entry["transport"], entry["path"], shipped("habilis-render")) == ("builtin", "", None)
    with pytest.raises(BadInput, match="reserved name"):
        names.ability_id("habilis-render")


@pytest.mark.parametrize("name", ["", ".", "..", "../wordpress", "abilities/wordpress", "wordpress/", "unknown"])
def test_what_is_not_in_the_index_is_not_shipped(name):
    assert shipped(name) is None


def test_the_index_is_the_callers_own():
    index()[0]["auth"].clear()

    assert index()[0]["auth"]
