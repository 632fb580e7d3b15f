import pytest
from tests.manifest.samples import changed, fault, faults, loaded


@pytest.mark.parametrize(
    "text",
    ["''", ".", "..", "a/b", "A", "-rf", "con", ".git", "kiqr-render", "habilis-render", "a" * 200, "\u0430cme", "a_b"],
)
def test_an_id_that_cannot_be_a_folder_and_a_word_is_refused(text):
    found = fault(changed("id: press", f"id: {text}"))

    assert found.startswith("1:5 id: ")
    assert "^[a-z][a-z0-9-]{0,62}$" in found or "is a reserved name" in found


@pytest.mark.parametrize("text", ["pubIish", "Publish", "a b", "a" * 200, "a-b", "1st", "\u0430rticle"])
def test_a_tools_name_looks_like_nothing_else(text):
    found = faults(changed("name: list_articles", f"name: {text}"))

    assert len(found) == 1
    assert "^[a-z][a-z0-9_]{0,63}$" in found[0]


def test_names_of_keys_that_steer_programs_or_break_files_are_refused_each():
    keys = (
        'auth: [{env: "A B"}, {env: "A=B"}, {env: LD_PRELOAD}, {env: PATH}, {env: PYTHONPATH}, {env: no}, '
        "{env: PRESS_SITE}, {env: PRESS_TOKEN}]\n"
    )
    text = changed(
        "auth:\n  - { env: PRESS_SITE, label: Site, secret: false }\n  - { env: PRESS_TOKEN, label: Token }\n", keys
    )

    found = faults(text)

    assert [one.partition(":")[0] for one in found] == ["5"] * 6
    assert [one.split()[1] for one in found] == [f"auth[{number}].env:" for number in range(6)]
    assert "no key name" in found[0]
    assert "no key name" in found[1]
    assert all("changes how programs start" in one for one in found[2:5])
    assert found[5].endswith('YAML reads no as false; quote it: "no"')


def test_a_key_without_a_label_is_called_by_its_name():
    assert loaded(changed("env: PRESS_TOKEN, label: Token", "env: PRESS_TOKEN")).auth[1].label == "PRESS_TOKEN"


def test_a_key_may_be_chosen_from_a_list():
    key = loaded(changed("label: Token", "label: Token, options: [a, b], optional: true")).auth[1]

    assert (key.options, key.optional) == (("a", "b"), True)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("name: list_articles", "name: publish_article", "the first tool of this name is in line 10"),
        ("env: PRESS_TOKEN, label: Token", "env: PRESS_SITE", "the first key of this name is in line 6"),
        ("channels:\n", "channels:\n  - { kind: press, label: A, does: [read] }\n", "channel kind of this name is in"),
    ],
)
def test_two_of_one_name_are_one_too_many(old, new, expected):
    assert any(expected in one for one in faults(changed(old, new)))


def test_a_description_floods_no_prompt():
    assert loaded(changed("Create an article.", "x" * 1024)).tools[0].description == "x" * 1024
    assert fault(changed("Create an article.", "x" * 1025)).endswith("found 1,025 characters; expected at most 1,024")


def test_a_description_carries_no_terminal_commands():
    assert "without control characters" in fault(changed("Create an article.", '"\\x1b[2J"'))


def test_the_argument_that_names_the_account_is_not_a_tools_own():
    found = fault(
        changed("        status: { type: string }", "        connection: { type: string }").replace(
            "{{status|draft}}", "{{title}}"
        )
    )

    assert found.endswith("`connection` names the account of a call; choose another name")
