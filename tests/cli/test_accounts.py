import pytest

TOKEN = "tok-9f2c41d7a8b3"
ADD = ("accounts", "add", "acme", "sample-blog")


def keys_of(view):
    return {key["name"]: key["is_set"] for key in view["keys"]}


def test_keys_come_from_standard_input(shell, service):
    view = shell.json(*ADD, "--keys", "-", stdin=f"SAMPLE_SITE={service.url}\nSAMPLE_TOKEN={TOKEN}\n".encode())

    assert keys_of(view) == {"SAMPLE_SITE": True, "SAMPLE_TOKEN": True}
    assert view["is_ready"]
    assert f"SAMPLE_TOKEN={TOKEN}\n" in shell.key_text("sample-blog")


def test_keys_come_from_a_file_as_people_write_it(shell, tmp_path):
    (tmp_path / "keys.env").write_bytes(
        b"\xef\xbb\xbf# from the wiki\r\nexport SAMPLE_SITE=https://blog.example/\r\n\r\nSAMPLE_TOKEN='a b # c'\r\n"
    )

    shell.ok(*ADD, "--keys", tmp_path / "keys.env")

    assert "SAMPLE_SITE=https://blog.example\n" in shell.key_text("sample-blog")
    assert "a b # c" in shell.key_text("sample-blog")


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        (f"SAMPLE_TOKEN={TOKEN}\n{TOKEN}\n".encode(), "--keys: line 2 is no NAME=value"),
        (f"OTHER={TOKEN}\n".encode(), "'sample-blog' declares no key 'OTHER'"),
        (TOKEN.encode() + b"\xff\n", "--keys: the keys are not UTF-8 text"),
        (f"SAMPLE_SITE=javascript:{TOKEN}\n".encode(), "habilis: "),
    ],
)
def test_keys_that_do_not_fit_are_refused_without_their_values(shell, keys, complaint):
    outcome = shell.run(*ADD, "--keys", "-", stdin=keys)

    assert outcome.code == 1
    assert complaint in outcome.err
    assert TOKEN not in outcome.out + outcome.err
    assert shell.json("accounts", "ls", "acme") == {"accounts": []}


def test_a_file_of_keys_that_is_not_there_is_named(shell, tmp_path):
    outcome = shell.run(*ADD, "--keys", tmp_path / "none.env")

    assert outcome.code == 1
    assert "--keys: there is no file" in outcome.err


def test_away_from_a_terminal_nothing_is_asked_and_what_is_missing_is_said(shell):
    outcome = shell.ok(*ADD, stdin=f"SAMPLE_TOKEN={TOKEN}\n".encode())

    assert outcome.out == (
        "Added the account sample-blog to acme.\n"
        "Still to set: habilis accounts set acme sample-blog SAMPLE_SITE\n"
        "Still to set: habilis accounts set acme sample-blog SAMPLE_TOKEN\n"
    )
    assert shell.key_text("sample-blog") == ""


@pytest.mark.parametrize(
    ("typed", "kept"),
    [(b"abcdef\n", "abcdef"), (b"abcdef\r\n", "abcdef"), (b"abcdef", "abcdef"), (b"  ab cd  \n", "  ab cd  ")],
)
def test_a_key_is_set_from_standard_input_without_its_last_line_break(shell, typed, kept):
    from habilis.home.keyfile import KeyFile

    shell.ok(*ADD)

    outcome = shell.ok("accounts", "set", "acme", "sample-blog", "SAMPLE_TOKEN", stdin=typed)

    keys = KeyFile(shell.folder / "projects/acme/connections/sample-blog/.env").load()
    assert keys == {"SAMPLE_TOKEN": kept}
    assert outcome.out == "SAMPLE_TOKEN is set.\n"


def test_an_empty_value_is_not_called_set(shell):
    shell.ok(*ADD)

    outcome = shell.ok("accounts", "set", "acme", "sample-blog", "SAMPLE_TOKEN", stdin=b"")

    assert outcome.out == "SAMPLE_TOKEN is empty, which counts as not set.\n"
    assert "SAMPLE_TOKEN not set" in shell.ok("accounts", "ls", "acme").out


@pytest.mark.parametrize("name", ["OTHER", "PATH", "sample_token"])
def test_a_key_that_nobody_declares_is_refused_without_its_value(shell, name):
    shell.ok(*ADD)

    outcome = shell.run("accounts", "set", "acme", "sample-blog", name, stdin=TOKEN.encode())

    assert outcome.code == 1
    assert TOKEN not in outcome.out + outcome.err
    assert "it has SAMPLE_SITE, SAMPLE_TOKEN" in outcome.err


def test_accounts_are_listed_with_what_they_lack_and_who_uses_them(shell, channel):
    shell.ok(*ADD)

    listed = shell.ok("accounts", "ls", "acme").out.splitlines()

    assert listed == [
        (
            "* blog         sample-blog  ready       channel sample-blog  SAMPLE_SITE set, SAMPLE_TOKEN set          "
            "used by sample-blog"
        ),
        (
            "  sample-blog  sample-blog  needs keys                       SAMPLE_SITE not set, SAMPLE_TOKEN not set  "
            "used by sample-blog"
        ),
    ]


def test_no_key_is_ever_shown(shell, channel):
    token = shell.key_text(channel).split("SAMPLE_TOKEN=")[1].strip()

    said = [shell.ok("accounts", "ls", "acme", *more).out for more in ([], ["--json"])]
    said.append(shell.ok("tools", "acme", "--json").out)
    said.append(shell.ok("call", "acme", "list_posts", "--dry-run", "--json").out)

    assert token not in "".join(said)


def test_another_account_becomes_the_default(shell, channel):
    shell.ok(*ADD)

    shell.ok("accounts", "default", "acme", "sample-blog")

    accounts = shell.json("accounts", "ls", "acme")["accounts"]
    assert {view["id"]: view["is_default"] for view in accounts} == {"blog": False, "sample-blog": True}


def test_a_private_host_is_allowed(shell):
    shell.ok(*ADD)

    assert shell.json("accounts", "allow-private", "acme", "sample-blog", "NAS.local:5000") == {
        "account": "sample-blog",
        "private_host": "nas.local:5000",
    }
    assert shell.run("accounts", "allow-private", "acme", "sample-blog", "169.254.169.254:80").code == 1


def test_a_removed_account_is_gone_with_its_keys(shell, channel):
    unasked = shell.run("accounts", "rm", "acme", channel)
    assert (unasked.code, "--yes" in unasked.err) == (1, True)
    assert shell.ok("accounts", "rm", "acme", channel, "--yes").out == "Removed blog.\n"
    assert not (shell.folder / "projects/acme/connections/blog").exists()
    assert shell.run("accounts", "rm", "acme", channel, "--yes").code == 1


@pytest.mark.parametrize("field", ["title", "=x", ""])
def test_a_field_of_a_destination_is_name_and_value(shell, field):
    outcome = shell.run(*ADD, "--kind", "sample-blog", "--to", field)

    assert outcome.code == 1


def test_a_label_that_would_steer_the_terminal_is_shown_escaped_on_one_line(shell):
    shell.ok(*ADD, "--id", "odd", "--label", "x\x1b[2J\nERROR fake")
    record = shell.folder / "projects/acme/connections/odd/connection.yaml"
    record.write_text(record.read_text().replace("service: sample-blog", 'service: "s\\e[2J\\nERROR"'))

    listed = shell.ok("accounts", "ls", "acme").out

    assert listed.count("\n") == 1
    assert "\x1b" not in listed
    assert "s\\x1b[2J\\nERROR" in listed


def test_a_second_account_starts_with_the_keys_of_the_first(shell, service):
    shell.ok(*ADD, "--keys", "-", stdin=f"SAMPLE_SITE={service.url}\nSAMPLE_TOKEN={TOKEN}\n".encode())

    view = shell.json(*ADD, "--id", "news", "--same-as", "sample-blog")

    assert view["is_ready"]
    assert shell.key_text("news") == shell.key_text("sample-blog")
