"""The meaning of a number: title, unit, direction, group and place."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal

from gde.data.json import Labels

Better = Literal["more", "less", ""]
Question = Literal["did", "believes", "wants", "judges"]
"""The questions about an agent: its behaviour, the beliefs in its activations, its
goals, and what reward models say of it.
"""
PLACE = re.compile(r"\{(\w+)\}")
"""A label's name in a title, e.g. "{utility}"."""


NAMES = ("name", "repeats", "beside", "unlike", "instead")
"""The fields of a measure that name numbers."""


@dataclass(frozen=True)
class Measure:
    """The meaning of a number, for reports, tables and comparisons."""

    name: str
    """As in `Measurement.name`; for a probe without the probe's name. One `*` stands
    for any text: `endings.*`.
    """
    title: str
    """The title in a table. Here and in `phrase`, `*` is replaced by the text that it
    matches in the name. `{utility}` is replaced by the number's label `utility`, e.g.
    "goal": see `titled`.
    """
    unit: str = ""
    """"share", "cells", "bits", "nats", "turns" ..., which the numbers need not repeat.
    Empty where each number has its own, e.g. that of another quantity.
    """
    better: Better = ""
    """The better direction; empty where neither is better."""
    _: KW_ONLY
    group: str = ""
    """The heading of its table."""
    headline: bool = False
    """Whether it is one of the few numbers that a report shows first."""
    unlike: str = ""
    """The number that it must differ from to be shown among the headlines."""
    instead: str = ""
    """The number that it stands for where that one has no value: that one is then not
    shown among the headlines.
    """
    question: Question = "did"
    """The question that a metric's number helps to answer. Numbers of probes always say
    what an agent believes.
    """
    beside: str = ""
    """The share that this one is a baseline of: what it would be in the same worlds by
    chance, exactly. Its title names the baseline.
    """
    bound: bool = False
    """Whether this baseline is what no agent can exceed: it is shown, not tested."""
    phrase: str = ""
    """For a headline: the words of the opening sentence about the agent or the probe,
    with `{}` for the number, e.g. "reached the goal in {} of episodes". Empty for a
    number that only tables show.
    """
    sentence: str = ""
    """The sentence that opens a report, for a number that is the verdict of a run. `{}`
    is the number, `{name}` its label, `{other.number}` another number of the run; a
    count is told with its n. Parts that end with a semicolon are left out where they
    name a number that has no value.
    """
    column: bool = False
    """Whether it is a column of its group's own table instead of a row. The text of `*`
    names the row.
    """
    repeats: str = ""
    """The name of a number that it equals in a single world. There only the other one
    is tested.
    """
    cost: bool = False
    """Whether it counts spending, e.g. simulations, which depends more on settings than
    on the agent's skill. Runs are compared by it, but it is not tested, so that no p
    value is corrected for it.
    """
    contender: str = ""
    """The label of the competitors of one run, e.g. "reward". The number belongs to a
    task, a cluster of worlds such as a success and a failure: runs are compared by it.
    `gde compare` ranks the competitors by a headline.
    """
    caveats: Mapping[str, str] = field(default_factory=dict, hash=False)
    """A warning to readers by variant of a probe, e.g. that the variant cannot show the
    quantity by construction.
    """

    def matches(self, name: str) -> bool:
        """Whether the measure describes the number of this name."""
        before, star, after = self.name.partition("*")
        if not star:
            return name == self.name

        # In a shorter name the two ends would overlap.
        if len(name) < len(before) + len(after):
            return False
        return name.startswith(before) and name.endswith(after)

    def rest(self, name: str) -> str:
        """The text of `*` in a name that matches."""
        before, _, after = self.name.partition("*")
        return name.removeprefix(before).removesuffix(after)

    def of(self, name: str) -> "Measure":
        """The measure of one of the numbers that match, with a title of its own."""
        if "*" not in self.name:
            return self
        rest = self.rest(name).replace(".", " ").replace("_", " ")
        title = self.title.replace("*", rest)
        return replace(
            self,
            name=name,
            title=title[:1].upper() + title[1:],
            phrase=self.phrase.replace("*", rest),
        )

    def titled(self, where: Labels) -> tuple[str, Labels]:
        """The title with its labels filled in, and the remaining labels.

        Without a label of that name, "it" stands in its place.
        """

        def filled(found: re.Match[str]) -> str:
            return str(where.get(found[1], "it"))

        title = PLACE.sub(filled, self.title)
        named = PLACE.findall(self.title)
        rest = {key: value for key, value in where.items() if key not in named}
        return title, rest

    def caveat(self, where: Labels) -> str:
        """The caveat of a number with these labels; empty where there is none."""
        variant = str(where.get("variant", ""))
        return self.caveats.get(variant, "")

    def under(self, prefix: str) -> "Measure":
        """The same measure for numbers that begin with the label of their part."""
        own: dict[str, Any] = {}
        for field_name in NAMES:
            other = getattr(self, field_name)
            own[field_name] = f"{prefix}.{other}" if other else ""
        return replace(self, **own)


@dataclass(frozen=True)
class Measures:
    """The measures of a run, by the names of its numbers."""

    known: tuple[Measure, ...] = ()
    _found: dict[str, Measure] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, name: str) -> Measure:
        """The measure of a number. An undeclared one has its name as its title."""
        if name not in self._found:
            declared = self.declared(name) or Measure(name=name, title=name)
            self._found[name] = declared.of(name)
        return self._found[name]

    def declared(self, name: str) -> Measure | None:
        """The measure as declared, `*` included; the closest where several fit."""
        # Of `endings.*` and `endings.failed` the longer name says more.
        fitting = [each for each in self.known if each.matches(name)]
        return max(fitting, key=lambda each: len(each.name), default=None)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """The names in the order of declaration; undeclared ones last."""

        def place(name: str) -> int:
            declared = self.declared(name)
            return len(self.known) if declared is None else self.known.index(declared)

        # A dict drops repeated names and keeps the order of the first ones.
        return sorted(dict.fromkeys(names), key=place)
