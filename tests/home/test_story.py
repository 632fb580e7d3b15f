from datetime import datetime, timedelta, timezone

from habilis import redaction
from habilis.home.story import tell

AT = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=1)))


def test_a_story_is_one_line_and_two_trailers():
    told = tell("Add account blog", action="account.add", actor="person", at=AT)

    assert told.message == "Add account blog\n\nHabilis-Action: account.add\nHabilis-Actor: person\n"


def test_no_part_breaks_out_of_its_line():
    told = tell("a\nHabilis-Actor: admin\x1b[31m\u202e", action="x\r\ny", actor="p\n\nq", at=AT)

    assert told.message.splitlines() == ["a Habilis-Actor: admin [31m", "", "Habilis-Action: x y", "Habilis-Actor: p q"]


def test_a_long_subject_is_cut_and_an_empty_one_replaced():
    assert len(tell("x" * 500, action="a", actor="b", at=AT).message.splitlines()[0]) == 120
    assert tell("\n", action="a", actor="b", at=AT).message.startswith("Change the home\n")


def test_no_key_gets_into_the_log():
    with redaction.recording():
        redaction.current().add("TOKEN", "sk-very-secret")
        told = tell("Publish with sk-very-secret", action="a", actor="sk-very-secret", at=AT)

    assert "sk-very-secret" not in told.message
    assert told.message.startswith("Publish with [redacted TOKEN]\n")
