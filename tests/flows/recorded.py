"""Cassettes of the abilities that ship, played at the HTTP library: all of Habilis is in the way, the transport too."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import vcr
import yaml
from vcr.cassette import Cassette as Tape
from vcr.request import Request

from habilis.cassettes import Cassette, Interaction, Sent, differences, read_cassette
from habilis.marketplace import shipped


def cassette_of(ability: str, name: str) -> tuple[Cassette, Path]:
    """A cassette of an ability that ships, and where it lies."""
    path = shipped(ability) / "cassettes" / f"{name}.yaml"
    return read_cassette(path.read_bytes(), path.name), path


@contextmanager
def playing(path: Path) -> Iterator[Tape]:
    """Answer every request from a cassette, and fail at the end where one of it was not sent."""
    recorder = vcr.VCR(record_mode="none", match_on=["what_is_said"], serializer="with_defaults")
    recorder.register_matcher("what_is_said", _require_alike)
    recorder.register_serializer("with_defaults", _WithDefaults)
    with recorder.use_cassette(str(path)) as tape:
        yield tape
        assert tape.all_played, f"{tape.play_count} of {len(tape)} were sent"


class _WithDefaults:
    """Reads a cassette in which a person left out what is empty; the library itself wants it written."""

    @staticmethod
    def deserialize(text: str) -> dict:
        tape = yaml.load(text, Loader=yaml.CSafeLoader)
        for interaction in tape["interactions"]:
            interaction["request"] = {"body": None, "headers": {}, **interaction["request"]}
            interaction["response"] = {"headers": {}, **interaction["response"]}
        return tape

    @staticmethod
    def serialize(_: dict) -> str:
        raise AssertionError("nothing is recorded here")


def _require_alike(sent: Request, recorded: Request) -> None:
    """Raise AssertionError unless a request says what the recorded one says, as an ability's own tests see it."""
    headers = {name.lower(): value for name, value in recorded.headers.items()}
    expected = Interaction(
        method=recorded.method, url=recorded.uri, headers=headers, body=recorded.body or b"", status=0,
        answer_headers=(), answer_body=b"", line=0,
    )  # fmt: skip
    names = {name.lower(): value for name, value in sent.headers.items()}
    told = differences(
        expected, Sent(method=sent.method, url=sent.uri, headers=names, body=sent.body or b"", is_read=True)
    )
    assert not told, "; ".join(told)
