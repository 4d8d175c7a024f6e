"""A factorised state: objects with attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Item:
    """One object of a state or of a goal."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Key to value; empty where the name says everything."""

    def texts(self) -> Iterator[str]:
        """Everything that is compared."""
        yield self.name
        for key, value in self.attributes.items():
            yield from (key, value)


Items = Sequence[Item]
