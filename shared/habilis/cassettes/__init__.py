"""Recorded conversations with a service: read, compared with what an ability sends, and played back with faults."""

from habilis.cassettes.compare import Sent, differences, differing, differing_values
from habilis.cassettes.faults import FAULTS, Fault, read_fault
from habilis.cassettes.model import Case, CaseFile, Cassette, Expected, Interaction
from habilis.cassettes.player import Exchanged, Paused, Played, Player, UnexpectedRequest
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
    "Paused",
    "Played",
    "Player",
    "Sent",
    "UnexpectedRequest",
    "differences",
    "differing",
    "differing_values",
    "read_cassette",
    "read_fault",
]
