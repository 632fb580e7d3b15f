"""Signing an account in: the page it opens, the single-use wait, the return that ends it, and the ways without one."""

from habilis.engine.connecting.beginning import CALLBACK_PATH, begin
from habilis.engine.connecting.browsers import (
    START_PATH,
    Started,
    connect,
    finish_pasted,
    finish_sign_in,
    open_start,
    pasted_query,
    start_sign_in,
)
from habilis.engine.connecting.finishing import Connected, finish
from habilis.engine.connecting.pending import Pending

__all__ = [
    "CALLBACK_PATH",
    "START_PATH",
    "Connected",
    "Pending",
    "Started",
    "begin",
    "connect",
    "finish",
    "finish_pasted",
    "finish_sign_in",
    "open_start",
    "pasted_query",
    "start_sign_in",
]
