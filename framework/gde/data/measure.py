"""What the numbers of a part mean: title, unit, direction, group and place in a report."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gde.data.json import Labels

Better = Literal["more", "less", ""]
Question = Literal["did", "believes", "wants"]
"""What is asked about an agent: what it did, what its activations say it believes, what it is after."""
PLACE = re.compile(r"\{(\w+)\}")
"""Of a title: a label that says what the number is restricted to."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a number that a part gives means to a reader. Reports, tables and comparisons read it from here alone."""

    name: str
    """As in `Measurement.name`; for a probe without the probe's name. One `*` stands for any text: `endings.*`."""
    title: str
    """What a table calls it. Here and in `phrase`, `*` stands for what it stands for in the name. `{utility}` is filled
    with what the number's label `utility` says, e.g. "goal": see `titled`."""
    unit: str = ""
    """"share", "cells", "bits", "nats", "turns" ...; empty where it is that of what is measured."""
    better: Better = ""
    """Whether more or less of it is better; empty where neither is."""
    group: str = ""
    """The heading that it is shown under."""
    headline: bool = False
    """Whether it is among the few that are shown first."""
    question: Question = "did"
    """Of the numbers of metrics: whose answer it is part of. Those of probes say what an agent believes."""
    beside: str = ""
    """The number beside which this one stands as a baseline: what another agent would get in the same worlds. Its title
    names the baseline."""
    phrase: str = ""
    """For a headline: how the opening sentence tells it of the agent, or of the probe, with `{}` for the number, e.g.
    "reached the goal in {} of episodes". Empty where it is left to the tables."""
    column: bool = False
    """Whether it is a column of its group's own table, in the row of what `*` stands for, instead of a row."""
    repeats: str = ""
    """The name of a number that it equals in a single world: of the two only the other is tested there."""
    cost: bool = False
    """Whether it counts what was spent, which follows from settings more than from how an agent does, e.g. simulations:
    runs are compared by it, and it is not tested, so that no p value is corrected for it."""
    caveats: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a reader must know of its numbers of one variant of a probe, a sentence by the variant's name, e.g. that the
    variant cannot do by construction what is measured."""

    def matches(self, name: str) -> bool:
        """Whether the number of this name is one of those meant."""
        before, star, after = self.name.partition("*")
        if not star:
            return name == self.name
        long_enough = len(name) >= len(before) + len(after)
        return long_enough and name.startswith(before) and name.endswith(after)

    def rest(self, name: str) -> str:
        """What `*` stands for in the name of a number that is meant."""
        before, _, after = self.name.partition("*")
        return name.removeprefix(before).removesuffix(after)

    def of(self, name: str) -> "Measure":
        """The measure of one number among those meant, with a title of its own."""
        if "*" not in self.name:
            return self
        rest = self.rest(name).replace(".", " ").replace("_", " ")
        title = self.title.replace("*", rest)
        title = title[:1].upper() + title[1:]
        return replace(self, name=name, title=title, phrase=self.phrase.replace("*", rest))

    def titled(self, where: Labels) -> tuple[str, Labels]:
        """The title of a number with its labels filled in, and the labels that the title does not tell.

        Without a label of that name, "it" stands in its place.
        """
        title = PLACE.sub(lambda found: str(where.get(found[1], "it")), self.title)
        named = PLACE.findall(self.title)
        return title, {key: value for key, value in where.items() if key not in named}

    def caveat(self, where: Labels) -> str:
        """The caveat of a number with these labels; empty where there is none."""
        return self.caveats.get(str(where.get("variant", "")), "")

    def under(self, prefix: str) -> "Measure":
        """The same measure for numbers whose names begin with the label of their part."""
        repeats = f"{prefix}.{self.repeats}" if self.repeats else ""
        beside = f"{prefix}.{self.beside}" if self.beside else ""
        return replace(self, name=f"{prefix}.{self.name}", repeats=repeats, beside=beside)


@dataclass(frozen=True)
class Measures:
    """The measures of a run, by the names of its numbers."""

    known: tuple[Measure, ...] = ()
    _found: dict[str, Measure] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, name: str) -> Measure:
        """What a number means. Of one that no part declared, its name is all that is known."""
        if name not in self._found:
            declared = self.declared(name)
            self._found[name] = declared.of(name) if declared else Measure(name=name, title=name)
        return self._found[name]

    def declared(self, name: str) -> Measure | None:
        """The measure as a part declares it, `*` included; the closest where several fit."""
        fitting = [each for each in self.known if each.matches(name)]
        return max(fitting, key=lambda each: len(each.name), default=None)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """The names in the order in which parts declare what they mean; undeclared ones last, as they come."""
        places = {each.name: place for place, each in enumerate(self.known)}

        def place(name: str) -> int:
            declared = self.declared(name)
            return places[declared.name] if declared else len(places)

        return sorted(dict.fromkeys(names), key=place)
