"""Addresses as they are written: what is one, what is none, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import MailInvalid
from habilis.exchange.mailboxes import read_mailbox, read_mailboxes
from habilis.messages import Mailbox


@pytest.mark.parametrize(
    ("text", "address", "name"),
    [
        ("ann@example.com", "ann@example.com", ""),
        ("  ann@example.com ", "ann@example.com", ""),
        ("<ann@example.com>", "ann@example.com", ""),
        ("Ann Doe <ann@example.com>", "ann@example.com", "Ann Doe"),
        ("Dr. Ann (work) O'Doe <ann@example.com>", "ann@example.com", "Dr. Ann (work) O'Doe"),
        ('"Doe, Ann" <ann@example.com>', "ann@example.com", "Doe, Ann"),
        (r'"Ann \"the\" \\ Doe" <ann@example.com>', "ann@example.com", r'Ann "the" \ Doe'),
        ('"ceo@corp.test" <evil@x.test>', "evil@x.test", "ceo@corp.test"),
        ("Pépé <pepe@example.com>", "pepe@example.com", "Pépé"),
        ("Ann.Doe+news!#$%&'*/?=^_`{|}~-@EXAMPLE.com.", "Ann.Doe+news!#$%&'*/?=^_`{|}~-@example.com", ""),
        ("ann@bücher.example", "ann@xn--bcher-kva.example", ""),
        ("用户@例え.jp", "用户@xn--r8jz45g.jp", ""),
        ("re\u0301sume\u0301@example.com", "r\u00e9sum\u00e9@example.com", ""),
        ("root@localhost", "root@localhost", ""),
        ("a" * 64 + "@example.com", "a" * 64 + "@example.com", ""),
    ],
)
def test_an_address_is_read(text, address, name):
    assert read_mailbox(text, field="to") == Mailbox(address=address, name=name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "@example.com",
        "ann@",
        "ann@@example.com",
        "a@b.test, e@x.test",
        "a@b.test;e@x.test",
        "a@b.test e@x.test",
        "Doe, Ann <ann@example.com>",
        "ceo@corp.test <evil@x.test>",
        "Ann <ann@example.com> <eve@example.com>",
        "Ann <ann@example.com>, Eve <eve@example.com>",
        "Ann <ann@example.com",
        "Ann ann@example.com>",
        '"Ann" Doe" <ann@example.com>',
        "<ann@example.com",
        "friends:ann@example.com;",
        ".ann@example.com",
        "ann.@example.com",
        "a..b@example.com",
        "ann doe@example.com",
        '"ann doe"@example.com',
        "ann(work)@example.com",
        "an\u200bn@example.com",
        "an\u202en@example.com",
        "an\u00a0n@example.com",
        "ann@example.com\u200b",
        "ann@exa mple.com",
        "ann@example..com",
        "ann@[127.0.0.1]",
        "ann@[IPv6:::1]",
        "ann@[::1]",
        "ann@127.0.0.1",
        "ann@2130706433",
        "ann@169.254.169.254",
        "ann@example.com:25",
        "ann@example.com/x",
        "a" * 65 + "@example.com",
        "ü" * 33 + "@example.com",
        "a" * 20 + "@" + ("a" * 60 + ".") * 4 + "com",
        "n" * 201 + " <ann@example.com>",
    ],
)
def test_what_is_no_single_address_is_refused(text):
    with pytest.raises(MailInvalid):
        read_mailbox(text, field="to")


@pytest.mark.parametrize(
    "text",
    [
        "a@b.test\nBcc: e@x",
        "a@b.test\r\nRCPT TO:<e@x>",
        "a@b.test\n",
        "a@b.test\0",
        "Ann\r\n <a@b.test>",
        "Ann\u2028 <a@b.test>",
        '"Ann\\\n" <a@b.test>',
        "Ann\ud800 <a@b.test>",
        "a\x7f@b.test",
    ],
)
def test_a_line_break_or_control_character_is_refused(text):
    with pytest.raises(MailInvalid, match="line breaks and control characters"):
        read_mailbox(text, field="to")


@pytest.mark.parametrize("text", ["=?utf-8?q?a=40b.test=2C_evil?= <c@d.test>", "=?x?=@d.test"])
def test_an_encoded_word_is_refused(text):
    with pytest.raises(MailInvalid, match="not as an encoded word"):
        read_mailbox(text, field="to")


@pytest.mark.parametrize("value", [5, True, {"a": "b"}, ["ann@example.com", 5], [["ann@example.com"]]])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(MailInvalid, match="an address is text"):
        read_mailboxes(value, field="to")


def test_several_in_one_text_are_asked_for_as_a_list():
    with pytest.raises(MailInvalid) as caught:
        read_mailbox("a@b.test, e@x.test", field="to")

    assert "as a list" in caught.value.hint
    assert "a@b.test" not in str(caught.value)


@pytest.mark.parametrize("nothing", [None, "", []])
def test_nothing_is_nobody(nothing):
    assert read_mailboxes(nothing, field="cc") == ()


def test_the_address_is_shown_before_a_name_that_looks_like_one():
    assert str(read_mailbox('"ceo@corp.test" <evil@x.test>', field="to")) == "evil@x.test (ceo@corp.test)"


@given(st.text(alphabet=st.sampled_from('ab@.<>",;:\\ ()[]\r\n\0é=?'), max_size=30))
def test_whatever_is_taken_is_one_address_that_ends_no_command_and_no_header(text):
    try:
        box = read_mailbox(text, field="to")
    except MailInvalid:
        return

    assert box.address.count("@") == 1
    assert not set(box.address) & set('<>",;:\\ ()[]\r\n\0')
    assert not set(box.name) & set("\r\n\0")
    assert read_mailbox(box.address, field="to").address == box.address
