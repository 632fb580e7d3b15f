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
SAID_TWICE = ("id", "name", "author", "summary", "version", "icon", "cost", "transport")
ENTRIES = {str(entry["id"]): entry for entry in index()}
SHIPPED = [name for name, entry in ENTRIES.items() if entry["path"]]


def ability(name: str) -> Manifest:
    folder = shipped(name)
    assert folder is not None
    return load_manifest((folder / "extension.yaml").read_bytes(), folder=name)


def test_the_index_lists_what_is_shipped_in_the_shape_of_every_marketplace():
    assert list(ENTRIES) == [
        "wordpress", "mastodon", "fal-image", "google-analytics", "search-console", "plausible", "smtp-mail",
        "habilis-render",
    ]  # fmt: skip
    assert all(list(entry) == FIELDS for entry in ENTRIES.values())


@pytest.mark.parametrize("name", SHIPPED)
def test_an_entry_says_what_the_folder_says(name):
    entry, manifest = ENTRIES[name], ability(name)

    assert {field: entry[field] for field in SAID_TWICE} == {field: getattr(manifest, field) for field in SAID_TWICE}
    assert entry["categories"] == list(manifest.categories)
    assert entry["auth"] == [key.env for key in manifest.auth]
    assert entry["provides"] == [provided.name for provided in manifest.provides]
    assert entry["channels"] == [
        {
            "kind": kind.kind,
            "profile_hosts": kind.facts.get("profile_hosts", []),
            **{fact: kind.facts[fact] for fact in ("name", "icon")},
        }
        for kind in manifest.channels
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_ability_has_instructions_of_its_own_author(name):
    folder = shipped(name)
    assert folder is not None

    skill = load_skill((folder / "SKILL.md").read_bytes())

    assert skill.author == ability(name).author == "habilis"
    assert skill.body


def test_site_addresses_and_user_names_are_no_secrets_and_passwords_are():
    secret = {key.env for name in SHIPPED for key in ability(name).auth if key.env not in ability(name).public_keys}

    assert secret == {
        "WP_APP_PASSWORD", "MASTODON_TOKEN", "FAL_KEY", "GA4_TOKEN", "GA4_REFRESH_TOKEN", "GSC_TOKEN",
        "GSC_REFRESH_TOKEN", "GOOGLE_SERVICE_ACCOUNT_FILE", "PLAUSIBLE_KEY", "SMTP_PASSWORD",
    }  # fmt: skip


def test_wordpress_publishes_a_draft_unless_told_otherwise_and_tells_the_link():
    manifest = ability("wordpress")
    tool, kind = manifest.tool("publish_article"), manifest.kind("wordpress")

    assert tool is not None
    assert kind is not None
    assert (tool.role, kind.publish) == ("publish", "publish_article")
    assert [step.name for step in tool.steps] == ["media", "described", "titled", "tag", "post"]
    assert tool.steps[-1].request.json is not None
    assert tool.steps[-1].request.json.source["status"] == "{{status|draft}}"
    assert tool.result.said is not None
    assert tool.result.said.source == "{{post.url}}"
    assert manifest.connect is not None
    assert manifest.connect.needs_https


def test_what_could_be_published_twice_is_known_again_by_the_service():
    for name in ("post_status", "reply_to_status"):
        tool = ability("mastodon").tool(name)
        assert tool is not None
        assert tool.steps[-1].request.idempotency is not None


def test_a_picture_is_fetched_from_hosts_that_are_never_called():
    manifest = ability("fal-image")

    assert (manifest.hosts, manifest.result_hosts) == (("queue.fal.run",), ("fal.media", "storage.googleapis.com"))


@pytest.mark.parametrize(
    ("name", "sources"), [("google-analytics", ["traffic", "conversions"]), ("search-console", ["search", "ranks"])]
)
def test_google_is_signed_in_to_in_two_ways_and_read_to_the_last_page(name, sources):
    manifest = ability(name)

    assert [way.flow for way in manifest.ways] == ["cloud", "service_account"]
    assert [source.name for source in manifest.sources] == sources
    assert any(one.request.pages for source in manifest.sources for one in source.requests)


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
