"""XML read as plain objects."""

from collections.abc import Mapping
from xml.parsers.expat import ExpatError, ParserCreate

from habilis.exchange.unreadable import Unreadable
from habilis.messages import Json

_DEEPEST = 200
_MOST_ELEMENTS = 500_000


def read_markup(text: str) -> Json:
    """An XML document as an object whose one field is its root element.

    Args:
        text: With or without an XML declaration; what that says of the encoding no longer counts.

    Returns:
        An element that holds text alone is that text, without the spaces around it. Any other is an object: `@name` for
        each attribute, a field for each name of its children, `#text` for text of its own. Among the children of one
        element, those that are objects are always a list, also when there is but one, so that one row is read as many
        are; so are texts of a name that stands several times. `<feed><title>a</title><entry><id>1</id></entry></feed>`
        is `{"feed": {"title": "a", "entry": [{"id": "1"}]}}`. Names keep their prefix; declarations of namespaces,
        comments and processing instructions are left out.

    Raises:
        Unreadable: It is not well-formed, has a document type (and with it entities of its own), is nested past 200
            levels, or has more than 500,000 elements.

    Source: XML 1.0 (Fifth Edition).
    """
    building = _Building()
    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = building.start
    parser.EndElementHandler = building.end
    parser.CharacterDataHandler = building.text
    parser.StartDoctypeDeclHandler = building.refuse
    fault = ""
    try:
        parser.Parse(text.removeprefix("\ufeff"), True)
    except ExpatError as error:
        fault = f"no well-formed XML in line {error.lineno}"
    except ValueError:
        fault = "no XML: half of a character in a text"
    # Raised out here so that the library's error, which may quote the text, does not hang on ours.
    if fault:
        raise Unreadable(fault)
    return building.whole


class _Element:
    """An element that is being read."""

    __slots__ = ("attributes", "children", "texts")

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.attributes = attributes
        self.children: dict[str, list[Json]] = {}
        self.texts: list[str] = []

    def value(self) -> Json:
        """What it is read as."""
        text = "".join(self.texts).strip()
        made: dict[str, Json] = {f"@{name}": value for name, value in self.attributes.items() if not _declares(name)}
        for name, found in self.children.items():
            made[name] = found[0] if len(found) == 1 and isinstance(found[0], str) else found
        if not made:
            return text
        if text:
            made["#text"] = text
        return made


def _declares(name: str) -> bool:
    return name == "xmlns" or name.startswith("xmlns:")


class _Building:
    """The document, as far as it is read."""

    def __init__(self) -> None:
        self.whole: Json = None
        self._open: list[_Element] = []
        self._elements = 0

    def start(self, _: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        if len(self._open) >= _DEEPEST:
            raise Unreadable(f"XML nested past {_DEEPEST} levels")
        if self._elements > _MOST_ELEMENTS:
            raise Unreadable(f"XML of more than {_MOST_ELEMENTS:,} elements")
        self._open.append(_Element(attributes))

    def text(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def end(self, name: str) -> None:
        value = self._open.pop().value()
        if self._open:
            self._open[-1].children.setdefault(name, []).append(value)
        else:
            self.whole = {name: value}

    def refuse(self, *_: object) -> None:
        raise Unreadable("XML with a document type, which is not read")
