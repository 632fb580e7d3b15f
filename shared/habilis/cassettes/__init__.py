"""Recorded conversations with a service: read, compared with what an ability sends, and played back with faults."""

from habilis.cassettes.compare import Sent, differences
from habilis.cassettes.faults import FAULTS, Fault, read_fault
from habilis.cassettes.model import Case, CaseFile, Cassette, Expected, Interaction
from habilis.cassettes.player import Exchanged, Played, Player, UnexpectedRequest
from habilis.cassettes.read import read_cassette

__all__ = [
    "FAULTS",
    "Case",
    "CaseFile",
    "Cassette",
    "Exchanged",
    "Expected",
    "Fault",
    "Interaction",
    "Played",
    "Player",
    "Sent",
    "UnexpectedRequest",
    "differences",
    "read_cassette",
    "read_fault",
]
