"""Options of the course of beliefs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from annotated_types import Ge, MinLen

from gde.data.ranges import Index
from gde.offers import WeightsName
from gde_plugins.probes.config import Depth, Several, check_pattern
from gde_plugins.probes.course.events import EVENTS, FORMS

MAP_FALLS = "map falls"
ACTION_RISES = "action rises"
THINGS = ("agent", "goal", "map", "optimal", "action")
"""What is read: the cells of agent and goal, the mean of both, an optimal action, and the
action taken.
"""
STATED = re.compile(
    rf"(?P<thing>{'|'.join(THINGS)}) (?P<verb>falls|rises)"
    rf"(?: from (?P<first>{'|'.join(EVENTS)}) to (?P<second>{'|'.join(EVENTS)}))?"
)


class Change(NamedTuple):
    """A change that is stated before anything is measured."""

    text: str
    thing: str
    sign: int
    """-1 for a fall, 1 for a rise."""
    first: str
    """Event."""
    second: str
    """A later event."""

    @classmethod
    def of(cls, text: str) -> "Change":
        """Read a change.

        Raises:
            ValueError: the text states none.
        """
        found = STATED.fullmatch(text)
        if not found:
            raise ValueError(
                f"changes: wanted THING falls or THING rises, perhaps `from EVENT to EVENT`, with THING one of"
                f" {', '.join(THINGS)} and EVENT one of {', '.join(EVENTS)}, got {text!r}"
            )
        sign = 1 if found["verb"] == "rises" else -1
        first = found["first"] or EVENTS[0]
        second = found["second"] or EVENTS[-1]
        return cls(text, found["thing"], sign, first, second)


@dataclass(frozen=True, kw_only=True)
class CourseStudyConfig:
    """How events are found: a regular expression for each, with a group around what is
    said, unless that is all of it. An empty one finds nothing. The defaults are nano's.
    """

    agent: str = FORMS["agent"]
    """The first mention of the agent's cell."""
    goal: str = FORMS["goal"]
    """The first mention of the goal's cell."""
    move: str = FORMS["move"]
    """The first mention of the move, or of the cell that it leads to."""
    last: str = FORMS["last"]
    """The last step of a path of several. Of a group that is repeated, the last match
    counts.
    """
    after: str = FORMS["after"]
    """What a model writes before its answer, if no template closes its reasoning."""

    def __post_init__(self) -> None:
        for event, pattern in self.patterns.items():
            check_pattern("course", event, pattern)

    @property
    def patterns(self) -> Mapping[str, str]:
        """Event to pattern."""
        return {event: getattr(self, event) for event in EVENTS[1:]}


@dataclass(frozen=True, kw_only=True)
class EventsConfig(CourseStudyConfig):
    """How events are found, and in which model."""

    weights: WeightsName = ""
    """Local weights of a served model, which replay its answers; empty if the agent's
    model gives activations itself.
    """


@dataclass(frozen=True, kw_only=True)
class CourseCausesConfig(EventsConfig):
    """Which tokens are changed."""

    texts: Annotated[tuple[Literal["fixed", "goes on"], ...], MinLen(1), Several()] = (
        "fixed",
    )
    """Whether the text stays word for word, or goes on from the event: many times as
    long.
    """
    layers: Annotated[tuple[Index | Depth, ...], Several()] = (
        "early",
        "middle",
        "late",
    )
    """Decoder layers, as `cogmap.layer`."""
    pairs: Annotated[int, Ge(2)] = 32
    """Turns that are changed, at most."""


@dataclass(frozen=True, kw_only=True)
class CourseConfig(EventsConfig):
    """What is read along the reasoning, and what is claimed of it."""

    layer: Index | Depth = "middle"
    """Decoder layer counted from 0, or a depth, as `cogmap.layer`."""
    changes: Annotated[tuple[str, ...], Several()] = (MAP_FALLS, ACTION_RISES)
    """The changes that are tested, each as THING falls or THING rises, perhaps with
    `from EVENT to EVENT`. State them before the run: p values are corrected for all of
    them.
    """
    initialisations: Annotated[int, Ge(2)] = 19
    """Random initialisations of the model that are read likewise."""
    splits: Annotated[int, Ge(2)] = 15
    """Random splits of the worlds, each with readers of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.changes)) != len(self.changes):
            raise ValueError(f"changes: each once, got {self.changes}")
        _ = self.stated

    @property
    def stated(self) -> Sequence[Change]:
        """The changes, read."""
        return [Change.of(text) for text in self.changes]
