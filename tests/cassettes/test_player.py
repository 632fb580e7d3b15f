import pytest

from habilis.cassettes import (
    FAULTS,
    Cassette,
    Exchanged,
    Interaction,
    Paused,
    Player,
    Sent,
    UnexpectedRequest,
    read_cassette,
    read_fault,
)
from habilis.errors import ArgsInvalid

SITE = "https://social.example"
HEAD = b"case: {tool: post}\ninteractions: []\nversion: 1\n"


def interaction(method: str, target: str, body: bytes, *, status: int = 200) -> Interaction:
    return Interaction(
        method=method,
        url=f"{SITE}{target}",
        headers={},
        body=b"",
        status=status,
        answer_headers=(
            ("Content-Type", "application/json"),
            ("Content-Length", "99"),
            ("Transfer-Encoding", "chunked"),
        ),
        answer_body=body,
        line=7,
    )


def cassette(*interactions: Interaction) -> Cassette:
    return Cassette(file="cassettes/post.yaml", case=read_cassette(HEAD, "x").case, interactions=interactions)


def sent(method: str, target: str, *, headers: dict[str, str] | None = None) -> Sent:
    return Sent(method=method, url=f"{SITE}{target}", headers=headers or {}, body=b"", is_read=method == "GET")


THREE = cassette(
    interaction("POST", "/media", b'{"id": 1}', status=202),
    interaction("GET", "/media/1", b'{"id": 1, "url": null}', status=206),
    interaction("POST", "/statuses", b'{"id": 2}'),
)
PAGES = cassette(
    interaction("GET", "/me", b"{}"),
    interaction("GET", "/items", b'{"next": "b"}'),
    interaction("GET", "/items?cursor=b", b'{"next": "c"}'),
    interaction("GET", "/items?cursor=c", b"{}"),
)


def test_answers_come_in_the_order_of_the_recording():
    player = Player(THREE)

    first = player.answer(sent("POST", "/media"))
    second = player.answer(sent("GET", "/media/1"))

    assert (first.status, first.body, second.status) == (202, b'{"id": 1}', 206)
    assert first.headers == (("Content-Type", "application/json"),)
    assert player.events == [
        Exchanged(method="POST", url=f"{SITE}/media", status=202),
        Exchanged(method="GET", url=f"{SITE}/media/1", status=206),
    ]
    assert player.missing == [f"request 3 was not sent: POST {SITE}/statuses (line 7)"]


def test_a_request_that_was_not_recorded_there_is_told_with_what_differs():
    player = Player(THREE)
    player.answer(sent("POST", "/media"))

    with pytest.raises(UnexpectedRequest) as caught:
        player.answer(sent("GET", "/media/2"))

    assert caught.value.lines == [
        f"request 2 is not the recorded one: GET {SITE}/media/2, recorded GET {SITE}/media/1 (line 7)",
        "  path: expected '/media/1', got '/media/2'",
    ]


def test_a_request_after_the_last_one_is_not_in_the_cassette():
    player = Player(cassette())

    with pytest.raises(UnexpectedRequest, match=r"^request 1 is not in the cassette: GET https://social.example/x$"):
        player.answer(sent("GET", "/x"))


def test_a_429_asks_to_wait_and_leaves_the_recorded_answer_for_the_next_try():
    player = Player(THREE, fault=read_fault("429"))

    refused = player.answer(sent("POST", "/media"))
    player.pause(7.0)
    done = player.answer(sent("POST", "/media"))

    assert (refused.status, dict(refused.headers)["Retry-After"], done.status) == (429, "7", 202)
    assert player.events == [
        Exchanged(method="POST", url=f"{SITE}/media", status=429, fault="429"),
        Paused(pause_s=7.0),
        Exchanged(method="POST", url=f"{SITE}/media", status=202),
    ]


def test_a_401_comes_in_the_middle():
    player = Player(THREE, fault=read_fault("401"))

    statuses = [player.answer(sent("POST", "/media")).status, player.answer(sent("GET", "/media/1")).status]

    assert statuses == [202, 401]


def test_a_fault_comes_at_the_request_that_is_named():
    player = Player(THREE, fault=read_fault("429@3"))

    statuses = [player.answer(one).status for one in (sent("POST", "/media"), sent("GET", "/media/1"))]

    assert [*statuses, player.answer(sent("POST", "/statuses")).status] == [202, 206, 429]


def test_a_cut_body_is_half_of_the_last_answer():
    player = Player(THREE, fault=read_fault("cut-body"))
    player.answer(sent("POST", "/media"))
    player.answer(sent("GET", "/media/1"))

    cut = player.answer(sent("POST", "/statuses"))

    assert (cut.body, cut.is_cut) == (b'{"id', True)


def test_a_read_whose_answer_was_cut_may_be_asked_again():
    player = Player(THREE, fault=read_fault("cut-body@2"))
    player.answer(sent("POST", "/media"))
    player.answer(sent("GET", "/media/1"))

    again = player.answer(sent("GET", "/media/1"))

    assert (again.body, again.is_cut) == (b'{"id": 1, "url": null}', False)
    assert player.answer(sent("POST", "/statuses")).status == 200


def test_a_change_whose_answer_was_cut_must_not_be_sent_again():
    player = Player(THREE, fault=read_fault("cut-body@1"))
    player.answer(sent("POST", "/media"))

    with pytest.raises(UnexpectedRequest, match="sent again, although it may have been done the first time: POST"):
        player.answer(sent("POST", "/media"))


def test_a_change_that_the_service_knows_again_may_be_sent_again():
    player = Player(THREE, fault=read_fault("cut-body@1"), idempotency=frozenset({"idempotency-key"}))
    first = sent("POST", "/media", headers={"idempotency-key": "1"})
    player.answer(first)

    assert player.answer(first).status == 202


def test_a_repeated_cursor_is_the_first_page_of_the_list_once_more():
    player = Player(PAGES, fault=read_fault("repeated-cursor"))

    bodies = [player.answer(sent("GET", target)).body for target in ("/me", "/items", "/items?cursor=b")]

    assert bodies == [b"{}", b'{"next": "b"}', b'{"next": "b"}']


@pytest.mark.parametrize(
    ("fault", "tape", "place"),
    [
        ("repeated-cursor", THREE, None),
        ("repeated-cursor", PAGES, 3),
        ("repeated-cursor@1", PAGES, None),
        ("429@4", THREE, None),
        ("429", cassette(), None),
        ("401", PAGES, 3),
        ("401", cassette(THREE.interactions[0]), 1),
        ("cut-body", PAGES, 4),
    ],
)
def test_a_fault_has_its_place_or_none(fault, tape, place):
    assert read_fault(fault).place(tape) == place


@pytest.mark.parametrize("text", ["", "500", "429@0", "429@", "cut-body@x", "repeated_cursor", "429 "])
def test_an_unknown_fault_names_those_there_are(text):
    with pytest.raises(ArgsInvalid) as caught:
        read_fault(text)

    assert all(name in caught.value.hint for name in FAULTS)
