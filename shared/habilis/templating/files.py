"""Files as templates see them: facts that may stand in a body, and where the bytes are."""

from collections.abc import Mapping

from habilis.reading import Json


class FileValue(dict[str, Json]):
    """A file's facts: `name`, `mime` and `size`, and what else is known of it (`alt`, `width`, `height`, `sha256`, …).

    In a body it is what its facts are. Where a file is meant (`body_file`, a part's `file`) it is its bytes: a template
    gives the value itself, so where they are travels with it and is never part of what is sent.

    Attributes:
        path: Absolute path of the file on this machine.
        offset: Where its bytes begin there; not 0 only for a part of a file.
    """

    __slots__ = ("offset", "path")

    def __init__(self, facts: Mapping[str, Json], *, path: str, offset: int = 0) -> None:
        super().__init__(facts)
        self.path = path
        self.offset = offset

    @property
    def size(self) -> int:
        """Bytes to send."""
        size = self["size"]
        assert isinstance(size, int)  # noqa: S101 - whoever made it gave the size
        return size
