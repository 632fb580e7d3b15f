import os
import shutil

import pytest

from habilis.engine.accounts import (
    AccountOrder,
    add_account,
    allow_private,
    list_accounts,
    remove_account,
    set_default,
    set_key,
)
from habilis.engine.rehearsal import RehearsalHome, Rehearsed
from habilis.engine.rendering import as_json
from habilis.errors import (
    AddressNotAllowed,
    ArgsInvalid,
    BadInput,
    Collision,
    ManifestInvalid,
    NotFound,
    SecretMalformed,
    SecretStoreError,
)


def add(world, **fields):
    order = AccountOrder(**{"project": "acme", "ability": "sample-blog", **fields})
    return add_account(world.home, order, actor="user", now=world.clock())


def views(world):
    return {view.id: view for view in list_accounts(world.home, "acme")}


def keys_of(world, account):
    return {key.name: key.is_set for key in views(world)[account].keys}


def record_of(world, account):
    return world.home.open().require(f"projects/acme/connections/{account}/connection.yaml").decode()


def test_the_record_of_a_new_account_says_what_it_is_and_who_made_it(world):
    add(world, label="Our blog")

    assert record_of(world, "sample-blog") == (
        "id: sample-blog\n"
        "label: Our blog\n"
        "ability: sample-blog\n"
        "service: sample-blog\n"
        "default: true\n"
        "created_by: user\n"
        "created_at: '2026-11-30T12:00:00Z'\n"
    )


def test_the_first_account_of_a_service_is_its_default_and_the_next_is_not(world):
    add(world)
    add(world)

    assert {name: view.is_default for name, view in views(world).items()} == {
        "sample-blog": True,
        "sample-blog-2": False,
    }


def test_another_account_becomes_the_default_alone(world):
    add(world)
    add(world, id="second")

    set_default(world.home, "acme", "second", actor="user")

    assert {name: view.is_default for name, view in views(world).items()} == {"sample-blog": False, "second": True}


def test_keys_are_shown_as_set_or_not_set_and_nothing_else(world):
    add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})

    shown = str(as_json(list_accounts(world.home, "acme")))

    assert keys_of(world, "sample-blog") == {"SAMPLE_SITE": False, "SAMPLE_TOKEN": True}
    assert "tok" not in shown.replace("token", "").replace("TOKEN", "").replace("Token", "")
    assert not views(world)["sample-blog"].is_ready


def test_a_key_counts_at_once_and_makes_the_account_ready(world):
    add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})

    set_key(world.home, "acme", "sample-blog", "SAMPLE_SITE", "https://blog.example/\n")

    assert views(world)["sample-blog"].is_ready
    assert "SAMPLE_SITE=https://blog.example\n" in (
        world.home.private / "projects/acme/connections/sample-blog/.env"
    ).read_text(encoding="utf-8")


def test_keys_are_never_committed(world):
    add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})

    assert ".env" not in world.home.open().list("projects/acme/connections/sample-blog")


@pytest.mark.parametrize(
    "address",
    [
        "http://2130706433/",
        "https://blog.example@evil.test",
        "javascript:alert(1)",
        "https://blog.example/?x=",
        "https://blog example",
    ],
)
def test_a_key_that_gives_the_host_must_be_an_address(world, address):
    add(world)

    with pytest.raises((BadInput, AddressNotAllowed)):
        set_key(world.home, "acme", "sample-blog", "SAMPLE_SITE", address)

    assert keys_of(world, "sample-blog")["SAMPLE_SITE"] is False


def test_a_key_that_the_ability_does_not_declare_is_refused_with_those_it_does(world):
    with pytest.raises(ArgsInvalid, match="declares no key 'SAMPLE_TOKN'") as caught:
        add(world, keys={"SAMPLE_TOKN": "x"})

    assert "SAMPLE_TOKEN" in caught.value.hint
    assert views(world) == {}


def test_a_key_with_a_nul_is_refused_and_the_old_value_stays(world):
    add(world, keys={"SAMPLE_TOKEN": "first-value"})

    with pytest.raises(SecretMalformed, match="SAMPLE_TOKEN"):
        set_key(world.home, "acme", "sample-blog", "SAMPLE_TOKEN", "a\0b")

    assert keys_of(world, "sample-blog")["SAMPLE_TOKEN"] is True


def test_an_id_that_is_taken_is_refused(world):
    add(world, id="blog")

    with pytest.raises(Collision, match="'blog'"):
        add(world, id="blog")


@pytest.mark.parametrize("name", ["../x", "A", ".", "con", "a/b", "-rf"])
def test_an_id_that_is_no_id_is_refused(world, name):
    with pytest.raises(BadInput):
        add(world, id=name)

    assert views(world) == {}


def test_a_channel_kind_must_be_one_of_the_abilitys(world):
    with pytest.raises(BadInput, match="no channel kind 'linkedin'") as caught:
        add(world, kind="linkedin")

    assert caught.value.hint == "it has sample-blog"


def test_a_destination_takes_only_the_kinds_fields(world):
    with pytest.raises(BadInput, match="no field 'page'"):
        add(world, kind="sample-blog", destination={"page": "x"})


def test_an_account_of_an_ability_that_is_not_installed_is_not_found(world):
    with pytest.raises(NotFound, match="there is no ability 'wordpress'"):
        add(world, ability="wordpress")


def test_an_account_of_a_project_that_is_not_there_says_how_to_make_one(world):
    with pytest.raises(NotFound) as caught:
        add(world, project="other")

    assert caught.value.hint == "make it with: habilis projects add other"


def test_a_removed_account_leaves_no_keys_and_the_oldest_other_becomes_the_default(world):
    add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})
    add(world, id="second")

    remove_account(world.home, "acme", "sample-blog", actor="user")

    assert {name: view.is_default for name, view in views(world).items()} == {"second": True}
    assert not (world.home.private / "projects/acme/connections/sample-blog").exists()


def test_a_private_host_is_allowed_on_one_account_and_written_in_its_record(world):
    add(world)

    allowed = allow_private(world.home, "acme", "sample-blog", "LOCALHOST:8080", actor="user")

    assert allowed == "localhost:8080"
    assert "private_hosts:\n- localhost:8080\n" in record_of(world, "sample-blog")


@pytest.mark.parametrize(
    "host", ["169.254.169.254:80", "metadata.google.internal:80", "0.0.0.0:80", "localhost", "a:b"]
)
def test_what_is_never_called_cannot_be_allowed(world, host):
    add(world)

    with pytest.raises((AddressNotAllowed, BadInput)):
        allow_private(world.home, "acme", "sample-blog", host, actor="user")

    assert "private_hosts" not in record_of(world, "sample-blog")


def test_an_account_with_a_broken_record_needs_attention_and_the_others_work(world):
    add(world)
    add(world, id="second")
    path = world.home.private / "projects/acme/connections/second/connection.yaml"
    path.write_text("<<<<<<< mine\nid: second\n", encoding="utf-8")

    found = views(world)

    assert "projects/acme/connections/second/connection.yaml:2:3" in found["second"].fault
    assert found["sample-blog"].fault == ""
    assert path.read_text(encoding="utf-8").startswith("<<<<<<<")


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_an_account_whose_keys_cannot_be_read_needs_attention_and_the_others_work(world, kind):
    add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})
    add(world, id="second", keys={"SAMPLE_TOKEN": "tok-9876543210"})
    file = world.home.private / "projects/acme/connections/second/.env"
    file.unlink()
    {"link": lambda: file.symlink_to("../sample-blog/.env"), "folder": file.mkdir, "pipe": lambda: os.mkfifo(file)}[
        kind
    ]()

    found = views(world)

    assert ".env: the file of keys is" in found["second"].fault
    assert not found["second"].is_ready
    assert keys_of(world, "sample-blog")["SAMPLE_TOKEN"] is True


def leave_over(world, **fields):
    """Let a removal be cut short after its commit: the record is gone, keys and log are still there."""
    account = add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"}, **fields)
    folder = world.home.private / account.folder
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    remove_account(world.home, "acme", account.id, actor="user")
    kept.rename(folder)
    (folder / "connection.yaml").unlink()
    return folder


def test_a_new_account_never_comes_into_the_keys_of_one_that_was_removed(world):
    leave_over(world)

    assert add(world).id == "sample-blog-2"
    with pytest.raises(Collision, match="earlier account 'sample-blog'") as caught:
        add(world, id="sample-blog")

    assert "habilis accounts rm acme sample-blog" in caught.value.hint
    assert keys_of(world, "sample-blog-2")["SAMPLE_TOKEN"] is False


def test_a_removal_that_was_cut_short_is_ended_by_the_next_one(world):
    folder = leave_over(world)

    remove_account(world.home, "acme", "sample-blog", actor="user")

    assert not folder.exists()
    assert add(world).id == "sample-blog"


def test_a_dry_run_deletes_nothing_that_a_removal_left_over(world):
    folder = leave_over(world)

    with pytest.raises(Rehearsed):
        remove_account(RehearsalHome(world.home), "acme", "sample-blog", actor="user")

    assert (folder / ".env").exists()


@pytest.mark.parametrize("name", ["other", "../sample-blog", "", "A"])
def test_an_account_that_is_not_there_cannot_be_removed(world, name):
    add(world)

    with pytest.raises(NotFound, match="there is no account"):
        remove_account(world.home, "acme", name, actor="user")


def test_keys_that_cannot_be_deleted_are_told_of(world):
    account = add(world, keys={"SAMPLE_TOKEN": "tok-0123456789"})
    folder = world.home.private / account.folder
    remove, kept = folder.rename, folder.with_name("kept")
    world.home.commit(lambda _: {account.path: None}, subject="Remove", action="test", actor="tests")
    remove(kept)
    folder.symlink_to(kept)  # a link is not followed, and is no folder that could be deleted

    with pytest.raises(SecretStoreError, match="could not all be deleted") as caught:
        remove_account(world.home, "acme", "sample-blog", actor="user")

    assert caught.value.outcome == "partial"
    assert (kept / ".env").exists()


@pytest.mark.parametrize("verb", [remove_account, set_default])
def test_an_account_with_a_broken_record_says_where_it_is_broken_and_stays(world, verb):
    add(world)
    path = world.home.private / "projects/acme/connections/sample-blog/connection.yaml"
    path.write_text("id: [\n", encoding="utf-8")

    with pytest.raises(ManifestInvalid, match=r"connections/sample-blog/connection\.yaml|flow|expected"):
        verb(world.home, "acme", "sample-blog", actor="user")

    assert path.read_text(encoding="utf-8") == "id: [\n"


def stored(world, account):
    return (world.home.private / f"projects/acme/connections/{account}/.env").read_text()


def test_a_new_account_starts_with_a_copy_of_another_s_keys_and_goes_its_own_way(world):
    add(world, keys={"SAMPLE_SITE": "https://one.example.com", "SAMPLE_TOKEN": "tok-0123456789"})

    add(world, id="copy", same_as="sample-blog", kind="sample-blog")
    set_key(world.home, "acme", "sample-blog", "SAMPLE_TOKEN", "tok-9876543210")

    assert stored(world, "copy") == "SAMPLE_SITE=https://one.example.com\nSAMPLE_TOKEN=tok-0123456789\n"
    assert "tok-9876543210" in stored(world, "sample-blog")


def test_keys_that_are_given_count_before_copied_ones(world):
    add(world, keys={"SAMPLE_SITE": "https://one.example.com", "SAMPLE_TOKEN": "tok-0123456789"})

    add(world, id="copy", same_as="sample-blog", keys={"SAMPLE_SITE": "https://two.example.com"})

    assert "SAMPLE_SITE=https://two.example.com" in stored(world, "copy")


def test_keys_of_an_account_that_is_not_there_are_not_copied(world):
    with pytest.raises(NotFound, match="no account 'nobody'"):
        add(world, id="copy", same_as="nobody")

    assert views(world) == {}


def test_an_account_goes_with_its_data(world):
    add(world)
    data = world.home.private / "projects/acme/connections/sample-blog/data/profile"
    data.mkdir(parents=True)
    (data / "cookies").write_text("x")

    remove_account(world.home, "acme", "sample-blog", actor="user")

    assert not data.parent.parent.exists()
