"""The argument that names an account: offered only where there is a choice, and honoured."""

import pytest

from habilis.engine.accounts import AccountOrder, add_account, set_default
from habilis.engine.calls import call_tool, rehearse_call
from habilis.engine.installs import install, plan_install
from habilis.engine.offer import offer_tools
from habilis.engine.resolve import CallOrder
from habilis.errors import ArgsInvalid, NotFound, SecretMissing


def offered(world, name):
    return next(tool for tool in offer_tools(world.home, "acme") if tool.name == name).input["properties"]


def shown(world, tool, **arguments):
    return rehearse_call(world.home, CallOrder(project="acme", tool=tool, arguments=arguments), world.outside)


def add_mail(world, account, sender):
    keys = {"SMTP_HOST": "smtp.example.com", "SMTP_USER": sender, "SMTP_PASSWORD": f"secret-of-{account}"}
    order = AccountOrder(project="acme", ability="smtp-mail", id=account, label=account.title(), keys=keys)
    add_account(world.home, order, actor="user", now=world.clock())


def test_one_account_is_no_choice(world):
    world.add_account()

    assert "connection" not in offered(world, "list_posts")


def test_several_accounts_are_offered_by_name_with_the_default_first(world):
    world.add_account(id="ours", label="Our blog")
    world.add_account(id="theirs", label="Their blog")
    set_default(world.home, "acme", "theirs", actor="user")

    assert offered(world, "list_posts")["connection"] == {
        "type": "string",
        "enum": ["theirs", "ours"],
        "description": "Account to use: theirs (Their blog), ours (Our blog). Leave out for theirs.",
    }


def test_a_call_goes_through_the_account_it_names_with_that_account_s_keys_only(world):
    world.add_account(id="ours")
    world.add_account(
        id="theirs", keys={"SAMPLE_SITE": "https://theirs.example.com", "SAMPLE_TOKEN": "token-of-theirs-1"}
    )

    assert shown(world, "list_posts", connection="theirs")[0]["url"].startswith("https://theirs.example.com/")
    assert shown(world, "list_posts")[0]["url"].startswith(world.service.url)


def test_an_account_without_a_key_does_not_borrow_that_of_another(world):
    world.add_account(id="ours")
    world.add_account(id="bare", keys={"SAMPLE_SITE": world.service.url})

    with pytest.raises(SecretMissing, match="'bare' lacks SAMPLE_TOKEN"):
        shown(world, "list_posts", connection="bare")


@pytest.mark.parametrize("value", [5, True, ["ours"], {"id": "ours"}])
def test_what_is_no_text_names_no_account(world, value):
    world.add_account(id="ours")

    with pytest.raises(ArgsInvalid, match="expected the id of an account"):
        shown(world, "list_posts", connection=value)


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_stands_for_the_default(world, value):
    world.add_account(id="ours")

    assert shown(world, "list_posts", connection=value)


def test_two_names_in_one_call_are_refused(world):
    world.add_account(id="ours")
    world.add_account(id="theirs")
    order = CallOrder(project="acme", tool="list_posts", arguments={"connection": "theirs"}, account="ours")

    with pytest.raises(ArgsInvalid, match="names two accounts"):
        call_tool(world.home, order, world.outside, actor="agent")


@pytest.fixture
def mail(world):
    install(world.home, plan_install(world.home, "smtp-mail"), actor="tests", now=world.clock())
    add_mail(world, "sales", "sales@example.com")
    return world


def test_one_mail_account_is_no_choice(mail):
    assert not {"from", "connection"} & offered(mail, "email").keys()


def test_of_several_mail_accounts_a_mail_says_whom_it_is_from(mail):
    add_mail(mail, "support", "support@example.com")

    assert offered(mail, "email")["from"]["enum"] == ["sales", "support"]
    assert "connection" not in offered(mail, "email")
    told = str(shown(mail, "email", to="ann@example.org", text="Hello", subject="Hi", **{"from": "support"}))
    assert "support@example.com" in told
    assert "sales@example.com" not in told


def test_a_mail_from_nobody_of_the_project_is_refused(mail):
    with pytest.raises(NotFound, match=r"no account 'boss@example\.com'"):
        shown(mail, "email", to="ann@example.org", text="Hello", subject="Hi", **{"from": "boss@example.com"})
