"""From an empty home to a mail in a reader's box, by way of a real mail server."""

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest
from local_runner import Runner
from tests.parts.plugin import Exim

from habilis.engine.assets import asset_folder, save_asset
from habilis.engine.projects import add_project
from habilis.home.worktree import WorkTreeHome
from habilis.records import Asset, AssetFile

ABILITY = Path(__file__).resolve().parents[1] / "manifest" / "data" / "smtp-mail"
PICTURE = bytes(range(256)) * 300
ARTICLE = Asset(
    ref="article/hello-world",
    title="Hällo & <b>world</b>",
    text="We shipped **abilities** today.\n\n<script>alert(1)</script>\n",
    files=(AssetFile(name="Grüße «1».png", file="picture.png"),),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A client of the running functions, with a channel to one reader and an account beside it."""

    client: httpx.Client
    home: Path

    def call(self, **arguments: object) -> httpx.Response:
        order = {"project": "acme", "tool": "email", "arguments": arguments}
        return self.client.post("/api/call", json=order)

    def publish(self) -> httpx.Response:
        return self.client.post("/api/publish", json={"project": "acme", "asset": ARTICLE.ref, "channel": "reader"})

    def approve(self, asked: httpx.Response) -> httpx.Response:
        """Say yes to what an order asked for."""
        assert asked.status_code == 202, asked.text
        approval = asked.json()["approval"]["id"]
        return self.client.post(f"/api/projects/acme/approvals/{approval}", json={"decision": "approve"})

    def set_key(self, name: str, value: str) -> httpx.Response:
        return self.client.put(f"/api/projects/acme/connections/reader/keys/{name}", json={"value": value})

    def log(self) -> str:
        """What the account's log of actions says."""
        return (self.home / "projects/acme/connections/reader/activity.jsonl").read_text(encoding="utf-8")


@pytest.fixture
def desk(exim: Exim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("HABILIS_CA_FILE", exim.ca)
    folder = tmp_path / "home"
    with Runner(folder) as runner:
        home = WorkTreeHome(folder)
        add_project(home, "acme", name="Acme", actor="tests")
        place = folder / asset_folder("acme", ARTICLE.ref)
        place.mkdir(parents=True)
        (place / "picture.png").write_bytes(PICTURE)
        save_asset(home, "acme", ARTICLE, actor="tests")
        home.close()
        signed = {"Authorization": f"Bearer {runner.token}"}
        with httpx.Client(base_url=runner.url, headers=signed, timeout=60, trust_env=False) as client:
            client.post("/api/install", json={"spec": str(ABILITY)}).raise_for_status()
            keys = {
                "SMTP_HOST": "localhost",
                "SMTP_PORT": str(exim.port),
                "SMTP_USER": exim.user,
                "SMTP_PASSWORD": exim.password,
                "SMTP_FROM": "Pépé <pepe@example.test>",
            }
            channel = {"id": "reader", "kind": "email", "destination": {"to": "Ben <ben@example.org>"}}
            order = {"ability": "smtp-mail", "keys": keys, **channel}
            client.post("/api/projects/acme/connections", json=order).raise_for_status()
            yield Desk(client=client, home=folder)


@pytest.fixture
def allowed(desk: Desk, exim: Exim) -> Desk:
    """The same, once the operator has allowed the server on this machine."""
    path = "/api/projects/acme/connections/reader/private-hosts"
    desk.client.post(path, json={"host": f"localhost:{exim.port}"}).raise_for_status()
    return desk


def read(exim: Exim, subject: str) -> EmailMessage:
    [raw] = exim.mails(subject)
    return message_from_bytes(raw, policy=policy.default)


def test_an_asset_goes_out_to_the_channels_reader_with_its_files_after_a_yes(allowed, exim):
    asked = allowed.publish()
    shown = asked.json()["approval"]["requests"][0]

    done = allowed.approve(asked).raise_for_status().json()

    mail = read(exim, ARTICLE.title)
    assert shown["headers"] == {
        "From": "pepe@example.test (Pépé)",
        "To": "ben@example.org (Ben)",
        "Subject": ARTICLE.title,
        "Attachments": "Grüße «1».png (76,800 bytes)",
    }
    assert done["text"] == "sent to ben@example.org"
    assert (mail["From"], mail["To"]) == ("Pépé <pepe@example.test>", "Ben <ben@example.org>")
    assert mail.get_body(("plain",)).get_content().replace("\r\n", "\n") == ARTICLE.text
    html = mail.get_body(("html",)).get_content()
    assert "<strong>abilities</strong>" in html
    assert "<script" not in html
    [file] = mail.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("Grüße «1».png", PICTURE)
    assert '"done"' in allowed.log()


def test_an_agents_mail_waits_for_a_yes_and_goes_to_everybody_it_names(allowed, exim):
    asked = allowed.call(to=["ann@example.org", "eve@example.org"], subject="From an agent", text="Hi")

    done = allowed.approve(asked).raise_for_status().json()

    assert done["text"] == "sent to ann@example.org, eve@example.org"
    reached = b"".join(exim.mails("From an agent", count=2))
    assert all(f"Envelope-to: {name}@example.org\n".encode() in reached for name in ("ann", "eve"))


def test_a_mail_that_some_did_not_get_is_told_and_logged_as_partly_done(allowed, exim):
    asked = allowed.call(to=["ann@example.org", "nobody@example.org"], subject="For some", text="Hi")

    failed = allowed.approve(asked)

    error = failed.json()["error"]
    assert (failed.status_code, error["code"], error["outcome"]) == (502, "upstream_error", "partial")
    assert error["message"] == ("sent to ann@example.org, but not to nobody@example.org (550 there is no such person)")
    assert read(exim, "For some")
    assert '"partial"' in allowed.log()


def test_a_mail_with_a_header_in_its_subject_is_refused_before_anybody_is_asked(allowed):
    refused = allowed.call(to="ann@example.org", subject="Hi\r\nBcc: eve@example.org", text="Hi")

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "mail_invalid")
    assert allowed.client.get("/api/projects/acme/approvals").json()["approvals"] == []


def test_a_server_on_this_machine_is_not_spoken_to_before_the_operator_allowed_it(desk, exim):
    asked = desk.call(to="ann@example.org", subject="Not allowed", text="Hi")

    refused = desk.approve(asked)

    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "address_not_allowed")
    assert f"allow-private acme reader localhost:{exim.port}" in refused.json()["error"]["hint"]


def test_a_wrong_password_says_to_check_it_and_the_yes_waits_on(allowed):
    allowed.set_key("SMTP_PASSWORD", "not-the-password-at-all").raise_for_status()
    asked = allowed.call(to="ann@example.org", subject="Wrong password", text="Hi")

    failed = allowed.approve(asked)

    error = failed.json()["error"]
    assert (error["code"], error["outcome"]) == ("upstream_error", "not_sent")
    assert "check the user name and the password" in error["hint"]
    assert len(allowed.client.get("/api/projects/acme/approvals").json()["approvals"]) == 1


def test_another_server_after_the_asking_needs_another_yes(allowed):
    asked = allowed.call(to="ann@example.org", subject="Elsewhere", text="Hi")
    allowed.set_key("SMTP_HOST", "smtp.elsewhere.example").raise_for_status()

    refused = allowed.approve(asked)

    assert refused.json()["error"]["code"] == "approval_required"


def test_a_key_that_no_mail_could_be_sent_with_is_not_stored(desk):
    bad = [
        ("SMTP_HOST", "169.254.169.254", "address_not_allowed"),
        ("SMTP_HOST", "smtp.example.com:587", "secret_malformed"),
        ("SMTP_PORT", "587abc", "secret_malformed"),
        ("SMTP_FROM", "Ann", "secret_malformed"),
        ("SMTP_SECURITY", "STARTLS", "args_invalid"),
    ]

    told = [desk.set_key(name, value).json()["error"]["code"] for name, value, _ in bad]

    assert told == [code for *_, code in bad]
