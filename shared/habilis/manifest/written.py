"""What the texts of a manifest are taken for, where one field may hold several kinds."""

from habilis.messages import Json


def is_template(value: Json) -> bool:
    """Whether a value is a text with a placeholder."""
    return isinstance(value, str) and ("{{" in value or "${" in value)


def expression(text: str) -> str:
    """What a `for_each` runs over as a placeholder: an expression is written with its braces or without."""
    return text if "{{" in text else f"{{{{{text}}}}}"


def is_relative(url: str) -> bool:
    """Whether a url is put behind the base of the defaults."""
    return url.startswith(("/", "?"))


def is_given(url: str) -> bool:
    """Whether a url is one that an earlier answer gave."""
    return url.startswith("{{")


def joined(base: str, url: str) -> str:
    """A relative url behind the base, whose own path stays."""
    return base.rstrip("/") + url if url.startswith("/") else base + url
