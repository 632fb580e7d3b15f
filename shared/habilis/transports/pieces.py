"""Files read while they are sent: never whole in memory, and never another size than was promised."""

from collections.abc import Iterator
from pathlib import Path

from habilis.errors import EngineFailed
from habilis.messages import FileSlice


def read_pieces(file: FileSlice, piece_bytes: int, *, where: str) -> Iterator[bytes]:
    """Yield a run of a file's bytes in order, each piece of `piece_bytes` but for the last.

    Raises:
        EngineFailed: The file is gone, or ends before its promised size.
    """
    left = file.size
    try:
        with Path(file.path).open("rb") as stream:
            stream.seek(file.offset)
            while left and (piece := stream.read(min(left, piece_bytes))):
                left -= len(piece)
                yield piece
    except OSError:
        fault = "cannot be read"
    else:
        fault = "became shorter while it was sent" if left else ""
    if fault:
        raise EngineFailed(f"the file {Path(file.path).name!r} {fault}", where=where, hint="try again")
