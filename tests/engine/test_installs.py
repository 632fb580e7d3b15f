import hashlib
import shutil

import pytest

from habilis.engine.installs import install, list_installed, plan_install, show_ability
from habilis.engine.offer import offer_instructions, offer_tools
from habilis.errors import BadInput, Collision, ManifestInvalid, NotFound, UnsafeArchive
from habilis.sample.story import ABILITY

SKILL = "---\nname: Write updates\ndescription: When asked for an update.\n---\n\n1. Lead with what changed.\n"


def write(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return str(folder)


def run(world, spec):
    return install(world.home, plan_install(world.home, spec), actor="user", now=world.clock())


def test_an_install_is_one_commit_of_exactly_its_files_and_its_origin(home, clock):
    plan = plan_install(home, str(ABILITY))

    install(home, plan, actor="user", now=clock())

    revision = home.open()
    assert revision.list("abilities/sample-blog") == [".source", "SKILL.md", "extension.yaml"]
    assert revision.read("abilities/sample-blog/SKILL.md") == (ABILITY / "SKILL.md").read_bytes()
    source = revision.require("abilities/sample-blog/.source").decode()
    assert source.startswith("from: folder:sample-blog\nversion: '0.1.0'\n")
    assert hashlib.sha256((ABILITY / "SKILL.md").read_bytes()).hexdigest() in source


def test_a_plan_writes_nothing(home):
    before = home.open().id

    includes = plan_install(home, str(ABILITY)).includes()

    assert home.open().id == before
    assert [tool["name"] for tool in includes["tools"]] == ["create_post", "list_posts"]


def test_installing_the_same_again_changes_nothing(world):
    before = world.home.open().id

    run(world, str(ABILITY))

    assert world.home.open().id == before


def test_another_ability_of_the_same_id_is_refused_and_the_first_stays(world, tmp_path):
    before = world.home.open().id
    text = (ABILITY / "extension.yaml").read_text(encoding="utf-8").replace("0.1.0", "9.9.9")
    other = write(tmp_path / "sample-blog", extension__yaml=text)

    with pytest.raises(Collision, match="sample-blog"):
        plan_install(world.home, other)

    assert world.home.open().id == before


def test_every_fault_of_both_files_is_told_at_once(home, tmp_path):
    broken = write(tmp_path / "broken", extension__yaml="id: broken\nhots: []\nname: 3\n", SKILL__md="no frontmatter\n")

    with pytest.raises(ManifestInvalid) as caught:
        plan_install(home, broken)

    files = {problem.file for problem in caught.value.problems}
    assert files == {"extension.yaml", "SKILL.md"}
    assert any("hosts" in problem.message for problem in caught.value.problems)


def test_instructions_alone_are_an_ability(world, tmp_path):
    run(world, write(tmp_path / "updates", SKILL__md=SKILL))

    offered = offer_instructions(world.home, "acme")

    assert ("updates", "Write updates", "When asked for an update.") in [
        (entry.ability, entry.name, entry.applies) for entry in offered
    ]


def test_a_projects_own_ability_wins_over_one_for_every_project(world, tmp_path):
    text = (ABILITY / "extension.yaml").read_text(encoding="utf-8").replace("Reading recent posts", "Our own reading")
    own = write(tmp_path / "sample-blog", extension__yaml=text)
    home = world.home
    with pytest.raises(Collision):
        plan_install(home, own)

    plan = plan_install(home, own, project="acme")
    install(home, plan, actor="user", now=world.clock())

    labels = {tool.name: tool.label for tool in offer_tools(home, "acme")}
    assert labels["list_posts"] == "Our own reading"
    assert home.open().list("projects/acme/abilities/sample-blog") == [".source", "extension.yaml"]


@pytest.mark.parametrize("name", [".env", ".env.local", ".gitignore", ".gitattributes", ".gitmodules"])
def test_a_file_that_is_never_installed_refuses_the_whole(home, tmp_path, name):
    folder = tmp_path / "updates"
    write(folder, SKILL__md=SKILL)
    (folder / name).write_text("KEY=value\n", encoding="utf-8")

    with pytest.raises(UnsafeArchive):
        plan_install(home, str(folder))


def test_a_link_refuses_the_whole(home, tmp_path):
    folder = tmp_path / "updates"
    write(folder, SKILL__md=SKILL)
    (folder / "passwd").symlink_to("/etc/passwd")

    with pytest.raises(UnsafeArchive, match="links"):
        plan_install(home, str(folder))


def test_a_folder_that_is_no_ability_says_what_an_ability_holds(home, tmp_path):
    with pytest.raises(BadInput, match=r"neither SKILL\.md nor extension\.yaml"):
        plan_install(home, write(tmp_path / "empty"))


@pytest.mark.parametrize("spec", ["no-such-folder", "", "--upload-pack=touch /tmp/p", "ext::sh -c id", "file:///etc"])
def test_a_source_that_is_neither_folder_nor_shipped_is_not_found(home, spec):
    with pytest.raises(NotFound):
        plan_install(home, spec)


@pytest.mark.parametrize("name", ["wordpress", "plausible"])
def test_what_ships_installs_and_shows_what_it_brings(home, clock, name):
    shown = show_ability(home, name)

    plan = plan_install(home, name)
    install(home, plan, actor="user", now=clock())

    assert show_ability(home, name)["keys"] == shown["keys"] != []
    assert [view.origin for view in list_installed(home)] == [f"shipped:{name}"]


def test_what_an_ability_fetches_from_and_mails_through_is_shown_before_it_is_installed(home):
    assert show_ability(home, "fal-image")["fetches_files_from"] == ["fal.media", "storage.googleapis.com"]
    assert show_ability(home, "smtp-mail")["mails_through"] == "${SMTP_HOST}"


def test_an_ability_that_can_no_longer_be_read_needs_attention_and_the_others_work(world, tmp_path):
    run(world, write(tmp_path / "updates", SKILL__md=SKILL))
    path = world.home.private / "abilities/sample-blog/extension.yaml"
    path.write_text("id: sample-blog\nname: [\n", encoding="utf-8")

    views = {view.id: view for view in list_installed(world.home)}

    assert "extension.yaml" in views["sample-blog"].fault
    assert views["updates"].fault == ""
    assert [entry.ability for entry in offer_instructions(world.home, "acme")] == ["sample-blog", "updates"]


@pytest.mark.parametrize("name", ["My skill", "Foo", "caf\u00e9", "-rf", "1x", "a_b", "\u0430cme"])
@pytest.mark.parametrize(("file", "text"), [("SKILL.md", SKILL), ("extension.yaml", "id: x\n")])
def test_a_folder_with_a_name_that_is_no_id_needs_attention_and_the_others_work(world, name, file, text):
    folder = world.home.private / "abilities" / name
    folder.mkdir()
    (folder / file).write_text(text, encoding="utf-8")

    views = {view.id: view for view in list_installed(world.home)}

    assert "is no ability id" in views[name].fault
    assert [tool.ability for tool in offer_tools(world.home, "acme")] == ["sample-blog", "sample-blog"]
    assert [entry.ability for entry in offer_instructions(world.home, "acme")] == ["sample-blog"]


def test_an_ability_that_calls_itself_otherwise_than_its_folder_takes_nobodys_place(world):
    shutil.copytree(world.home.private / "abilities/sample-blog", world.home.private / "projects/acme/abilities/other")

    views = {view.folder: view for view in list_installed(world.home, "acme")}

    assert "id: expected the name of its folder, found 'sample-blog'" in views["projects/acme/abilities/other"].fault
    assert [tool.name for tool in offer_tools(world.home, "acme")] == ["create_post", "list_posts"]


def test_an_ability_whose_origin_is_a_link_needs_attention_and_the_others_work(world, tmp_path):
    run(world, write(tmp_path / "updates", SKILL__md=SKILL))
    source = world.home.private / "abilities/sample-blog/.source"
    source.unlink()
    source.symlink_to("/etc/passwd")

    views = {view.id: view for view in list_installed(world.home)}

    assert "link" in views["sample-blog"].fault
    assert views["updates"].fault == ""


def test_the_offer_says_that_keys_cannot_be_read(world):
    account = world.add_account()
    file = world.home.private / account.folder / ".env"
    file.rename(file.with_name("kept"))
    file.symlink_to("kept")

    assert {tool.needs for tool in offer_tools(world.home, "acme")} == {
        "keys that can be read: the file of keys is a link; links are not followed"
    }


def test_the_offer_says_what_a_tool_still_needs(world):
    needs = {tool.name: tool.needs for tool in offer_tools(world.home, "acme")}
    assert needs == {"create_post": "an account", "list_posts": "an account"}

    world.add_account(keys={"SAMPLE_SITE": world.service.url})
    assert {tool.needs for tool in offer_tools(world.home, "acme")} == {"the key SAMPLE_TOKEN"}


def test_a_second_account_gives_the_tools_a_choice(world):
    world.add_account()
    before = offer_tools(world.home, "acme")[1].input
    world.add_account(id="second")

    after = offer_tools(world.home, "acme")[1].input

    assert "connection" not in before["properties"]
    assert after["properties"]["connection"]["enum"] == ["sample-blog", "second"]
