"""The one fault of a body: it is not what it is read as."""


class Unreadable(Exception):
    """A body is not what it is read as; the message says what it is or lacks, and quotes nothing of it."""
