from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from habilis.errors import BadInput, ManifestInvalid
from habilis.names import RESERVED_IDS, AccountId, ProjectSlug
from habilis.reading import read_yaml
from habilis.records import (
    Account,
    Asset,
    AssetFile,
    Project,
    Publication,
    account_folder,
    read_account,
    read_asset,
    read_project,
    stamp,
    write_account,
    write_asset,
    write_project,
)

SLUG = ProjectSlug("acme")
FILE = "projects/acme/connections/blog/connection.yaml"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ACCOUNT = """\
id: blog
label: The blog
ability: wordpress
service: wordpress
default: true
created_by: user
created_at: "2026-11-30T12:00:00Z"
private_hosts: ["localhost:8080"]
kind: wordpress
destination: {page: 7, section: news}
asks_first: false
publications:
- {asset: article/hello, link: "https://blog.example/1", at: "2026-11-30T13:00:00Z"}
last_published: "2026-11-30T13:00:00Z"
"""
ASSET = """\
---
title: Hello
summary: A greeting.
tags: [news, first]
---

Some **bold** words.
"""


def account_of(text):
    return read_account(read_yaml(text.encode(), FILE), project=SLUG, file=FILE)


def project_of(text):
    return read_project(read_yaml(text.encode(), "project.yaml"), slug=SLUG, file="project.yaml")


def asset_of(text):
    return read_asset(text if isinstance(text, bytes) else text.encode(), ref="article/hello", file="a/asset.md")


def rewritten(account):
    return yaml.safe_load(write_account(account))


def fault(read, text):
    with pytest.raises(ManifestInvalid) as caught:
        read(text)
    return str(caught.value)


def changed(old, new, text):
    assert text.count(old) == 1
    return text.replace(old, new)


def test_an_account_says_what_its_record_says():
    assert account_of(ACCOUNT) == Account(
        id=AccountId("blog"),
        project=SLUG,
        label="The blog",
        ability="wordpress",
        service="wordpress",
        created_by="user",
        created_at=NOON,
        is_default=True,
        kind="wordpress",
        destination={"page": 7, "section": "news"},
        asks_first=False,
        private_hosts=frozenset({"localhost:8080"}),
        publications=(Publication(asset="article/hello", link="https://blog.example/1", at=NOON + timedelta(hours=1)),),
    )


def test_an_account_of_an_older_home_belongs_to_its_ability_and_asks_first():
    account = account_of("id: blog\nlabel: B\nability: wordpress\ncreated_at: '2026-11-30T12:00:00Z'\n")

    assert (account.service, account.created_by, account.kind) == ("wordpress", "user", "")
    assert (account.is_default, account.asks_first) == (False, True)
    assert (account.destination, account.private_hosts, account.publications) == ({}, frozenset(), ())


def test_an_account_lies_where_its_project_and_id_say():
    account = account_of(ACCOUNT)

    assert account.path == FILE
    assert account.folder == account_folder("acme", "blog") == "projects/acme/connections/blog"


def test_a_record_is_written_field_by_field_in_one_order():
    assert write_account(account_of(ACCOUNT)).decode() == (
        "id: blog\n"
        "label: The blog\n"
        "ability: wordpress\n"
        "service: wordpress\n"
        "default: true\n"
        "created_by: user\n"
        "created_at: '2026-11-30T12:00:00Z'\n"
        "private_hosts:\n- localhost:8080\n"
        "kind: wordpress\n"
        "destination:\n  page: 7\n  section: news\n"
        "asks_first: false\n"
        "publications:\n"
        "- asset: article/hello\n  link: https://blog.example/1\n  at: '2026-11-30T13:00:00Z'\n"
        "last_published: '2026-11-30T13:00:00Z'\n"
    )


def test_an_account_that_is_no_channel_is_written_without_a_channels_fields():
    account = replace(account_of(ACCOUNT), kind="", destination={}, asks_first=True, publications=())

    assert set(rewritten(account)) == {
        "id", "label", "ability", "service", "default", "created_by", "created_at", "private_hosts",
    }  # fmt: skip


def test_what_a_person_wrote_for_a_channel_stays_where_the_kind_is_not_named():
    account = account_of(changed("kind: wordpress\n", "", ACCOUNT))

    assert rewritten(account) == {name: value for name, value in yaml.safe_load(ACCOUNT).items() if name != "kind"}


def test_the_last_publish_is_told_from_the_publications():
    account = account_of(ACCOUNT)
    later = Publication(asset="article/new", link="", at=NOON + timedelta(days=2))

    record = rewritten(replace(account, publications=(*account.publications, later)))

    assert record["last_published"] == "2026-12-02T12:00:00Z"
    assert record["publications"][1] == {"asset": "article/new", "link": "", "at": "2026-12-02T12:00:00Z"}


def test_a_last_publish_that_a_person_wrote_stays_until_there_is_one():
    account = replace(account_of(ACCOUNT), publications=())
    written = account_of(write_account(account).decode() + "last_published: last week\n")

    published = replace(written, publications=(Publication(asset="a/b", link="", at=NOON),))

    assert rewritten(written)["last_published"] == "last week"
    assert rewritten(published)["last_published"] == stamp(NOON)


def test_fields_of_other_makers_are_carried_through_an_account():
    text = ACCOUNT + "publisher: wp-plus\nnotes: {a: [1, null, 2.5], 'yes': no}\n"
    text = changed('13:00:00Z"}', '13:00:00Z", by: anna}', text)

    account = account_of(text)

    assert account.extra == {"publisher": "wp-plus", "notes": {"a": [1, None, 2.5], "yes": False}}
    assert rewritten(account) == yaml.safe_load(text)
    assert account_of(write_account(account).decode()) == account


def test_fields_of_other_makers_survive_a_change_of_the_known_ones():
    account = account_of(ACCOUNT + "publisher: wp-plus\n")

    record = rewritten(replace(account, label="Other", is_default=False))

    assert (record["label"], record["default"], record["publisher"]) == ("Other", False, "wp-plus")


def test_a_known_field_wins_over_one_of_its_name_among_the_others():
    account = replace(account_of(ACCOUNT), extra={"id": "other", "label": "other", "publisher": "wp-plus"})

    record = rewritten(account)

    assert (record["id"], record["label"], record["publisher"]) == ("blog", "The blog", "wp-plus")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("id: blog\n", "", "1:1: id: expected text, found nothing"),
        ("id: blog", "id: 12", "1:5: id: expected text, found a number; quote it"),
        ("id: blog", "id: no", "1:5: id: expected text, found true or false; quote it"),
        ("id: blog", "id: ../x", "1:5: id: '../x' is no account id"),
        ("id: blog", "id: con", "1:5: id: 'con' is a reserved name and can be no account id"),
        ("id: blog", "id: other", "1:5: id: expected the name of its folder, found 'other'"),
        ("label: The blog", "label: [a]", "2:8: label: expected text, found a list"),
        ("ability: wordpress", "ability: {a: 1}", "3:10: ability: expected text, found fields"),
        ("service: wordpress", "service: 1.10", "4:10: service: expected text, found a number; quote it"),
        ("default: true", "default: maybe", "5:10: default: expected true or false, found text"),
        ("default: true", "default: 1", "5:10: default: expected true or false, found a number"),
        ("created_by: user", "created_by: []", "6:13: created_by: expected text, found a list"),
        ('"2026-11-30T12:00:00Z"', "yesterday", "7:13: created_at: expected a moment such as YYYY-MM-DDTHH:MM:SSZ"),
        ('"2026-11-30T12:00:00Z"', "2024-02-30T00:00:00Z", "7:13: created_at: expected a moment such as"),
        ('"2026-11-30T12:00:00Z"', "0001-01-01T00:00:00+14:00", "7:13: created_at: expected a moment such as"),
        ('"2026-11-30T12:00:00Z"', "2026-11-30", "7:13: created_at: expected a moment with its zone, such as"),
        ('"2026-11-30T12:00:00Z"', "2026-11-30 12:00:00", "7:13: created_at: expected a moment with its zone"),
        ('["localhost:8080"]', "localhost:8080", "8:16: private_hosts: expected a list, found text"),
        ('["localhost:8080"]', "[8080]", "8:17: private_hosts[0]: expected text, found a number"),
        ('["localhost:8080"]', "[localhost:8080, nas]", "8:33: private_hosts[1]: the port is missing"),
        ('["localhost:8080"]', '["169.254.169.254:80"]', "8:17: private_hosts[0]: 169.254.169.254 is not allowed"),
        ("kind: wordpress", "kind: 7", "9:7: kind: expected text, found a number; quote it"),
        ("{page: 7, section: news}", "[page]", "10:14: destination: expected fields, found a list"),
        ("asks_first: false", "asks_first: 'no'", "11:13: asks_first: expected true or false, found text"),
        ("- {asset", "- just text\n- {asset", "13:3: publications[0]: expected fields, found text"),
        ("asset: article/hello, ", "", "13:3: publications[0].asset: expected text, found nothing"),
        ("publications:\n-", "publications:\n ", "13:3: publications: expected a list, found fields"),
        ('at: "2026-11-30T13:00:00Z"', "at: 7", "publications[0].at: expected text, found a number; quote it"),
        ('link: "https://blog.example/1"', "link: 7", "publications[0].link: expected text, found a number"),
    ],
)
def test_a_wrong_field_of_an_account_is_told_with_file_line_and_name(old, new, told):
    message = fault(account_of, changed(old, new, ACCOUNT))

    assert message.startswith(f"{FILE}:")
    assert told in message


@pytest.mark.parametrize("data", [[], "text", 7, None, True])
def test_a_record_that_has_no_fields_is_told_so(data):
    with pytest.raises(ManifestInvalid, match="expected fields, found"):
        read_account(data, project=SLUG, file=FILE)
    with pytest.raises(ManifestInvalid, match="expected fields, found"):
        read_project(data, slug=SLUG, file="project.yaml")


def test_data_without_places_still_names_file_and_field():
    with pytest.raises(ManifestInvalid) as caught:
        read_account({"ability": 7}, project=SLUG, file=FILE)

    assert str(caught.value) == f"{FILE}:1:1: ability: expected text, found a number; quote it"


def test_an_account_may_not_lie_in_the_folder_of_another():
    # It would be listed under one name and use the keys of the other.
    with pytest.raises(ManifestInvalid, match="expected the name of its folder, found 'blog'"):
        read_account(
            read_yaml(ACCOUNT.encode(), "x"), project=SLUG, file="projects/acme/connections/other/connection.yaml"
        )


def test_a_private_host_is_taken_in_its_plain_form():
    account = account_of(changed('["localhost:8080"]', '["LocalHost.:8080", "[::1]:9000"]', ACCOUNT))

    assert account.private_hosts == {"localhost:8080", "[::1]:9000"}


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-11-30T12:00:00Z"),
        (NOON.replace(microsecond=999_999), "2026-11-30T12:00:00Z"),
        (datetime(2026, 12, 1, 1, 30, tzinfo=timezone(timedelta(hours=13, minutes=30))), "2026-11-30T12:00:00Z"),
        (datetime(33, 4, 3, tzinfo=UTC), "0033-04-03T00:00:00Z"),
    ],
)
def test_a_moment_is_written_in_utc_and_whole_seconds(moment, text):
    assert stamp(moment) == text


@pytest.mark.parametrize(
    "written", ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000Z", "2026-11-30T13:00:00+01:00", "2026-11-30 12:00:00Z"]
)
def test_a_moment_is_read_as_people_and_other_programs_write_it(written):
    assert account_of(changed('"2026-11-30T12:00:00Z"', written, ACCOUNT)).created_at == NOON


def test_a_project_says_what_its_record_says():
    text = "name: Acme Ltd.\nabilities_off: [b, a]\nzone: Europe/Prague\ntasks: [{at: '9:00'}]\n"

    project = project_of(text)

    assert (project.slug, project.name, project.abilities_off) == ("acme", "Acme Ltd.", {"a", "b"})
    assert project.extra == {"zone": "Europe/Prague", "tasks": [{"at": "9:00"}]}
    assert yaml.safe_load(write_project(project)) == yaml.safe_load(text) | {"abilities_off": ["a", "b"]}


def test_a_project_without_a_name_is_called_by_its_slug():
    assert read_project({}, slug=SLUG, file="project.yaml") == Project(slug=SLUG, name="acme")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: 2024\n", "project.yaml:1:7: name: expected text, found a number; quote it"),
        ("name: Acme\nabilities_off: wordpress\n", "project.yaml:2:16: abilities_off: expected a list, found text"),
        ("abilities_off:\n- a\n- b: 1\n", "project.yaml:3:3: abilities_off[1]: expected text, found fields"),
    ],
)
def test_a_wrong_field_of_a_project_is_told_with_file_line_and_name(text, told):
    assert fault(project_of, text) == told


def test_an_asset_says_what_its_file_says():
    assert asset_of(ASSET) == Asset(
        ref="article/hello",
        title="Hello",
        summary="A greeting.",
        tags=("news", "first"),
        text="Some **bold** words.\n",
    )


def test_an_asset_is_written_as_people_write_it():
    assert write_asset(asset_of(ASSET)).decode() == (
        "---\ntitle: Hello\nsummary: A greeting.\ntags:\n- news\n- first\n---\n\nSome **bold** words.\n"
    )


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_any_editors_line_ends_and_mark_are_read(bom, ending):
    assert asset_of(bom + ASSET.encode().replace(b"\n", ending)) == asset_of(ASSET)


@pytest.mark.parametrize(
    "body",
    [
        "One\n\n---\n\nTwo\n",
        "---\nfront: matter\n---\nagain\n",
        "```\n---\nx\n---\n```\n",
        "--- not a fence\n",
        "Title\n---\n",
        "  indented first line\n",
        "a\tb\u2028c\x85d\x0ce\n",
    ],
)
def test_the_text_is_kept_to_the_letter(body):
    asset = asset_of(f"---\ntitle: Hello\n---\n{body}")

    assert asset.text == body
    assert asset_of(write_asset(asset)).text == body


@pytest.mark.parametrize(
    ("written", "text"),
    [("", ""), ("\n\n", ""), ("no line end", "no line end\n"), ("\n\n\nfirst\n\n\n", "first\n"), ("  \n", "  \n")],
)
def test_empty_lines_around_the_text_do_not_count(written, text):
    assert asset_of(f"---\ntitle: Hello\n---\n{written}").text == text


@pytest.mark.parametrize("fence", ["---", "--- ", "---\t"])
def test_blanks_behind_a_fence_do_not_count(fence):
    assert asset_of(f"{fence}\ntitle: Hello\n{fence}\nText\n") == asset_of("---\ntitle: Hello\n---\nText\n")


def test_a_line_that_only_begins_like_a_fence_closes_nothing():
    asset = asset_of("---\ntitle: |\n  a\nlist:\n---x: 1\n---\nText\n")

    assert asset.extra == {"list": None, "---x": 1}


def test_a_frontmatter_may_end_the_file():
    assert asset_of("---\ntitle: Hello\n---").text == ""


def test_files_and_other_fields_of_an_asset_are_carried_through():
    text = changed("---\n\n", "files:\n- {name: a.png, mime: image/png, alt: 'A cat'}\nauthor: anna\n---\n\n", ASSET)

    asset = asset_of(text)

    assert asset.files == (AssetFile(name="a.png", file="a.png", mime="image/png", alt="A cat"),)
    assert asset.extra == {"author": "anna"}
    assert asset_of(write_asset(replace(asset, title="Other"))) == replace(asset, title="Other")


def test_a_file_may_be_called_otherwise_than_it_lies_there_and_keeps_its_other_fields():
    named = "files:\n- {name: 'He said \"hi\" 🎉.png', file: hi.png, prompt: a wave}\n---\n\n"

    asset = asset_of(changed("---\n\n", named, ASSET))

    assert asset.files == (AssetFile(name='He said "hi" 🎉.png', file="hi.png", extra={"prompt": "a wave"}),)
    assert asset_of(write_asset(asset)) == asset


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1:1: starts with no frontmatter"),
        ("Just text\n", "1:1: starts with no frontmatter"),
        ("\n---\ntitle: x\n---\n", "1:1: starts with no frontmatter"),
        ("---\ntitle: x\n", "1:1: starts with no frontmatter"),
        ("---\n---\ntext\n", "the file is empty"),
        ("---\nsummary: x\n---\n", "title: expected text, found nothing"),
        ("---\nsummary: a\ntitle: 2024\n---\n", "3:8: title: expected text, found a number; quote it"),
        ("---\ntitle: x\ntags: news\n---\n", "3:7: tags: expected a list, found text"),
        ("---\ntitle: x\ntags: [a, 5]\n---\n", "3:11: tags[1]: expected text, found a number"),
        ("---\ntitle: x\ntitle: y\n---\n", "3:1: title: 'title' is given twice"),
        ("---\ntitle: When asked: write\n---\n", "2:18: "),
        ("---\n- a\n---\n", "2:1: expected fields"),
        ("---\ntitle: x\nfiles: a.png\n---\n", "3:8: files: expected a list, found text"),
        ("---\ntitle: x\nfiles:\n- a.png\n---\n", "4:3: files[0]: expected fields, found text"),
        ("---\ntitle: x\nfiles:\n- {alt: A cat}\n---\n", "4:3: files[0].name: expected text, found nothing"),
        ("---\ntitle: x\nfiles:\n- {name: ../a.png}\n---\n", "4:10: files[0].name: expected a file's name, without a"),
        ("---\ntitle: x\nfiles:\n- {name: a, file: b/c}\n---\n", "4:19: files[0].file: expected a file's name"),
        ("---\ntitle: x\nfiles:\n- {name: asset.md}\n---\n", "4:10: files[0].name: expected another file than"),
        ("---\ntitle: x\nfiles:\n- {name: a, mime: png}\n---\n", "4:19: files[0].mime: expected a media type"),
        (b"---\ntitle: x\n---\na\nb\xe9\n", "5:1: the file is not UTF-8; save it as UTF-8"),
        (b"\xff\xfe-\0-\0-\0\n\0", "1:1: the file is not UTF-8; save it as UTF-8"),
    ],
)
def test_a_wrong_asset_is_told_with_file_and_line(text, told):
    message = fault(asset_of, text)

    assert message.startswith("a/asset.md:")
    assert told in message


def test_a_text_with_half_a_character_is_not_written():
    with pytest.raises(BadInput, match="half of a character") as caught:
        write_asset(Asset(ref="article/hello", title="x", text="a\ud800"))

    assert caught.value.__context__ is None


words = st.text(st.characters(codec="utf-8"), max_size=12)
moments = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | words,
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(words, inside, max_size=2),
    max_leaves=4,
)
ids = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True).filter(lambda text: text not in RESERVED_IDS)


def other_fields(*known):
    return st.dictionaries(words.filter(lambda name: name not in known), values, max_size=2)


publications = st.builds(
    Publication, asset=words, link=words, at=moments, extra=other_fields("asset", "link", "at")
)  # fmt: skip
accounts = st.builds(
    Account,
    id=ids,
    project=st.just(SLUG),
    label=words,
    ability=words,
    service=words,
    created_by=words,
    created_at=moments,
    is_default=st.booleans(),
    kind=words,
    destination=st.dictionaries(words, values, max_size=2),
    asks_first=st.booleans(),
    private_hosts=st.frozensets(st.sampled_from(["localhost:80", "[::1]:443", "nas.local:5000"])),
    publications=st.lists(publications, max_size=2).map(tuple),
    extra=other_fields(*yaml.safe_load(ACCOUNT)),
)


@given(accounts)
def test_an_account_reads_back_as_it_was_written(account):
    text = write_account(account)

    again = read_account(read_yaml(text, account.path), project=SLUG, file=account.path)

    assert again == account
    assert write_account(again) == text


@given(
    st.builds(
        Project,
        slug=st.just(SLUG),
        name=words,
        abilities_off=st.frozensets(words),
        extra=other_fields("name", "abilities_off"),
    )
)
def test_a_project_reads_back_as_it_was_written(project):
    text = write_project(project)

    assert read_project(read_yaml(text, "project.yaml"), slug=SLUG, file="project.yaml") == project


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30)


@given(
    st.builds(
        Asset,
        ref=st.just("article/hello"),
        title=words,
        summary=words,
        tags=st.lists(words, max_size=2).map(tuple),
        text=texts.map(lambda text: text.strip("\n") and text.strip("\n") + "\n"),
        extra=other_fields("title", "summary", "tags"),
    )
)
@example(Asset(ref="article/hello", title="---", text="---\n---\n", extra={"a": "---\n---\n"}))
def test_an_asset_reads_back_as_it_was_written(asset):
    assert asset_of(write_asset(asset)) == asset


@given(st.binary(max_size=60) | texts.map(lambda text: f"---\ntitle: x\n---\n{text}".encode()))
@example(b"---\ntitle: x\n---\n\r\r\n\r")
def test_a_file_that_is_read_loses_nothing_more_when_it_is_written_and_read_again(text):
    try:
        asset = asset_of(text)
    except ManifestInvalid:
        return

    assert asset_of(write_asset(asset)) == asset
