"""What templates use: the arguments and keys that have to be there for them to be filled."""

from collections.abc import Iterable, Mapping

from habilis.templating.expressions import Expression, Key, Path, inside
from habilis.templating.grammar import Placeholder


class Uses:
    """What is found while a template is compiled.

    Attributes:
        paths: The path of every argument, also of those that functions are given.
        keys: Names of keys, and whether each has a default wherever it stands.
        asks_answer: Whether an answer is looked into.
    """

    __slots__ = ("asks_answer", "keys", "paths")

    def __init__(self, parts: Iterable[str | Placeholder] = ()) -> None:
        self.paths: set[tuple[str, ...]] = set()
        self.keys: dict[str, bool] = {}
        self.asks_answer = False
        self.add(parts)

    def add(self, parts: Iterable[str | Placeholder]) -> None:
        """Note the placeholders among parts."""
        for part in parts:
            if isinstance(part, str):
                continue
            if part.kind == "key":
                self._add_key(part.name, has_default=part.default is not None)
            else:
                self.add_expression(part.expression)

    def add_expression(self, expression: Expression) -> None:
        """Note what an expression uses."""
        for one in inside(expression):
            if isinstance(one, Path):
                self.paths.add(one.parts)
            elif isinstance(one, Key):
                self._add_key(one.name, has_default=False)

    def merge(self, paths: Iterable[tuple[str, ...]], keys: Mapping[str, bool]) -> None:
        """Note what another template uses."""
        self.paths.update(paths)
        for name, has_default in keys.items():
            self._add_key(name, has_default=has_default)

    def _add_key(self, name: str, *, has_default: bool) -> None:
        self.keys[name] = self.keys.get(name, True) and has_default

    @property
    def arguments(self) -> frozenset[str]:
        """The first names of all paths."""
        return frozenset(path[0] for path in self.paths)
