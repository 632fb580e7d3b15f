"""What root may do beyond what a file's mode allows, laid down for a while: permission tests run as root too.

Source: capabilities(7), capget(2).
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_ANY_FILE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


@contextmanager
def modes_count() -> Iterator[None]:
    """Let this thread open only what the modes of files let their owner open."""
    if os.geteuid() != 0:
        yield
        return
    held = _capabilities()
    _set(held[0] & ~_ANY_FILE, held)
    try:
        yield
    finally:
        _set(held[0], held)


_Header = ctypes.c_uint32 * 2
_Sets = ctypes.c_uint32 * 6
_libc = ctypes.CDLL(None, use_errno=True)


def _capabilities() -> list[int]:
    """Effective, permitted and inheritable, the lower halves first, then the upper ones."""
    sets = _Sets()
    if _libc.capget(_Header(_VERSION_3, 0), sets):
        raise OSError(ctypes.get_errno(), "capget")
    return list(sets)


def _set(effective: int, held: list[int]) -> None:
    if _libc.capset(_Header(_VERSION_3, 0), _Sets(effective, *held[1:])):
        raise OSError(ctypes.get_errno(), "capset")
