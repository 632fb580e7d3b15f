"""Manifests of real services, written with the words of the format alone."""

import json
from pathlib import Path

import pytest

from habilis.manifest.load import load_manifest
from habilis.manifest.model import Manifest
from habilis.manifest.plain import from_plain, to_plain

FOLDERS = sorted((Path(__file__).parent / "data").iterdir())


def service(name: str) -> Manifest:
    folder = Path(__file__).parent / "data" / name
    return load_manifest((folder / "extension.yaml").read_bytes(), folder=name)


@pytest.mark.parametrize("name", [folder.name for folder in FOLDERS])
def test_a_manifest_of_a_real_service_loads_and_comes_back_equal_from_its_plain_form(name):
    manifest = service(name)

    assert manifest.id == name
    assert from_plain(json.loads(json.dumps(to_plain(manifest)))) == manifest


def test_wordpress_uploads_each_file_and_writes_the_post_with_the_first():
    publish, listing = service("wordpress").tools

    media, alt, post = publish.steps
    assert [(step.name, step.loop and step.loop.over) for step in publish.steps] == [
        ("media", "files"),
        ("alt", "media"),
        ("post", None),
    ]
    assert media.request.body_file is not None
    assert alt.when is not None
    assert post.request.json is not None
    assert post.request.json.source["featured_media"] == "{{media.0.id}}"
    assert publish.result.said is not None
    assert publish.result.said.source == "{{post.url}}"
    assert listing.role == "read"


def test_mastodon_sends_each_file_as_a_part():
    media = service("mastodon").tools[0].steps[0].request

    assert [(part.name, part.file is not None) for part in media.multipart] == [("description", False), ("file", True)]


def test_a_picture_is_made_by_its_contract_and_fetched_from_where_the_answer_says():
    manifest = service("fal-image")

    (image,) = manifest.provides
    assert (image.contract, image.cost, image.role) == ("image", "about $0.005 per image", "manage")
    assert image.result.file_url is not None
    assert (image.result.file_url.source, image.result.mime) == ("/images/0/url", "image/jpeg")
    assert manifest.cost == "about $0.003 per megapixel"


def test_a_property_is_picked_from_the_list_of_the_service():
    manifest = service("google-analytics")

    choices = manifest.auth[0].choices
    assert choices is not None
    assert (choices.list.source, choices.strip) == ("/accountSummaries/*/propertySummaries/*", "properties/")
    assert [way.flow for way in manifest.ways] == ["cloud", "service_account"]


def test_mail_goes_through_the_accounts_own_server():
    manifest = service("smtp-mail")

    assert manifest.smtp is not None
    assert manifest.smtp.security.source == "${SMTP_SECURITY|starttls}"
    assert (manifest.channels[0].publish, manifest.provides[0].steps) == ("email", ())
