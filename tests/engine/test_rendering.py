import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest

from habilis.engine.rendering import as_json, error_data, error_id, json_bytes
from habilis.errors import CapReached, ManifestInvalid, Problem


@dataclass(frozen=True, slots=True)
class Inner:
    at: datetime
    tags: frozenset[str]


def test_data_of_the_engine_becomes_plain_json():
    noon = datetime(2026, 11, 30, 13, 0, tzinfo=timezone(timedelta(hours=1)))

    shown = as_json({"inner": Inner(at=noon, tags=frozenset({"b", "a"})), "pair": (1, None), "yes": True, 5: 0.5})

    assert shown == {
        "inner": {"at": "2026-11-30T12:00:00Z", "tags": ["a", "b"]},
        "pair": [1, None],
        "yes": True,
        "5": 0.5,
    }


@pytest.mark.parametrize(("number", "shown"), [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")])
def test_a_number_that_json_cannot_write_becomes_text(number, shown):
    assert as_json([number]) == [shown]


def test_a_deep_answer_of_a_service_is_passed_on():
    deep = json.loads("[" * 900 + "]" * 900)

    assert as_json({"data": deep}) == {"data": deep}


@pytest.mark.parametrize("odd", [{1: "a"}, ("a", ["b"]), {"a": ({"b"},)}])
def test_what_only_looks_like_json_becomes_json(odd):
    assert json.loads(json_bytes(as_json(odd))) == as_json(odd)


def test_what_has_no_json_form_is_a_fault_of_ours():
    with pytest.raises(TypeError, match="object has no JSON form"):
        as_json(object())


@pytest.mark.parametrize("text", ["é 👩‍💻", "half \ud83d of a character", "\x00\x1b\u2028"])
def test_any_text_can_be_written_and_reads_back_the_same(text):
    data = json_bytes({"text": text})

    assert json.loads(data.decode("utf-8")) == {"text": text}
    assert data.endswith(b"\n")


def test_an_error_is_shown_in_the_one_shape():
    error = CapReached("20 of 20 actions are used today", where="account 'blog'", hint="wait")

    data = error_data(error)

    assert data == {
        "code": "cap_reached",
        "message": "20 of 20 actions are used today",
        "where": "account 'blog'",
        "hint": "wait",
        "retryable": True,
        "outcome": "refused",
        "error_id": error.error_id,
    }


def test_an_error_keeps_its_id_and_no_two_share_one():
    first, second = CapReached("x"), CapReached("x")

    assert error_id(first) == error_id(first) != error_id(second)


def test_every_fault_of_a_file_is_shown():
    faults = [Problem(file="a.yaml", line=line, column=1, path="id", message="wrong") for line in (1, 2)]

    assert error_data(ManifestInvalid(faults))["problems"] == ["a.yaml:1:1 id: wrong", "a.yaml:2:1 id: wrong"]
