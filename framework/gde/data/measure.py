"""What the numbers of a part mean to a reader."""

from dataclasses import dataclass, field, replace
from typing import Literal

Better = Literal["more", "less", ""]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a number that a part gives means to a reader. Reports, tables and comparisons read it from here alone."""

    name: str
    """As in `Measurement.name`; for a probe without the probe's name. `a.*` stands for all that begin with `a.`."""
    title: str
    """What a table calls it; `{}` stands for what the `*` of the name stands for."""
    unit: str = ""
    """"share", "cells", "bits", "nats", "turns" ..."""
    better: Better = ""
    """Whether more or less of it is better; empty where neither is."""
    group: str = ""
    """The heading that it is shown under."""
    headline: bool = False
    """Whether it is among the few that are shown first."""

    def matches(self, name: str) -> bool:
        """Whether the number of this name is one of those meant."""
        return name == self.name or (self.name.endswith("*") and name.startswith(self.name[:-1]))

    def of(self, name: str) -> "Measure":
        """The measure of one number among those meant, with a title of its own."""
        rest = name.removeprefix(self.name.rstrip("*"))
        return replace(self, name=name, title=self.title.replace("{}", rest))

    def under(self, prefix: str) -> "Measure":
        """The same for a part that the run calls otherwise, or whose numbers bear its name."""
        return replace(self, name=f"{prefix}.{self.name}")


@dataclass(frozen=True)
class Measures:
    """The measures of a run, by the names of its numbers."""

    known: tuple[Measure, ...] = ()
    _found: dict[str, Measure] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, name: str) -> Measure:
        """What a number means. Of one that no part declared, its name is all that is known."""
        if name not in self._found:
            fitting = [each for each in self.known if each.matches(name)]
            exact = max(fitting, key=lambda each: len(each.name), default=Measure(name=name, title=name))
            self._found[name] = exact.of(name)
        return self._found[name]

    @property
    def headlines(self) -> tuple[Measure, ...]:
        """Those that are shown first, in the order of their parts."""
        return tuple(each for each in self.known if each.headline)
