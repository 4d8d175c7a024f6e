"""The events of a course as positions of every probe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from gde.data.completion import Completion
from gde_plugins.probes.course.events import EVENTS, FORMS, PREFIX, find_events

if TYPE_CHECKING:
    from gde.data.activations import TokenSequence
    from gde.parts.probe import Marked, Marks, Tokenize

ALL = "course"
"""In the place of a position: all events."""


@dataclass(frozen=True, kw_only=True)
class CoursePositions:
    """The positions of a probe, of which some are events."""

    chosen: Sequence[str]
    """As in its configuration."""
    patterns: Mapping[str, str]
    """Of each event."""

    @property
    def read(self) -> tuple[str, ...]:
        """The names of all positions."""
        names: list[str] = []
        for position in self.chosen:
            if position == ALL:
                names += map(self._named, EVENTS)
            else:
                event = position.removeprefix(PREFIX)
                names.append(self._named(event) if event != position else position)
        return tuple(names)

    @property
    def marks(self) -> "Marks | None":
        """What finds the events, see `gde.parts.probe.Probe`; None where none is read."""
        names = {self._named(event) for event in EVENTS}
        return self._marked if names.intersection(self.read) else None

    def _named(self, event: str) -> str:
        """The name of an event's position, which tells patterns other than nano's apart:
        what is stored under a name must not have been found by others.
        """
        if self.patterns == FORMS:
            return PREFIX + event
        digest = sha256(repr([self.patterns[each] for each in FORMS]).encode())
        return f"{PREFIX}{event}-{digest.hexdigest()[:8]}"

    def _marked(
        self, completion: Completion, sequence: "TokenSequence", tokenize: "Tokenize"
    ) -> "Marked":
        found = find_events(completion, sequence, self.patterns, tokenize)
        marked: dict[str, tuple[int, ...] | str] = {}
        for event in EVENTS:
            name = self._named(event)
            if name not in self.read:
                continue
            if event in found.tokens:
                marked[name] = (found.tokens[event],)
            else:
                marked[name] = found.reasons[event]
        return marked
