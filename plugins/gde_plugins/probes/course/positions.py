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

    @classmethod
    def of(cls, chosen: Sequence[str], events: Mapping[str, str]) -> "CoursePositions":
        """Take nano's patterns for the events that have none of their own."""
        return cls(chosen=chosen, patterns={**FORMS, **events})

    @property
    def read(self) -> tuple[str, ...]:
        """The names of all positions."""
        names: list[str] = []
        for position in self.chosen:
            is_all = position == ALL
            several = [PREFIX + event for event in EVENTS] if is_all else [position]
            names += map(self._named, several)
        return tuple(names)

    @property
    def marks(self) -> "Marks | None":
        """What finds the events, see `gde.parts.probe.Probe`; None where none is read."""
        has_events = any(name.startswith(PREFIX) for name in self.read)
        return self._marked if has_events else None

    def _named(self, position: str) -> str:
        """The name of a position. That of an event tells patterns other than nano's apart:
        what is stored under a name must not have been found by others.
        """
        if self.patterns == FORMS or not position.startswith(PREFIX):
            return position
        digest = sha256(repr([self.patterns[each] for each in FORMS]).encode())
        return f"{position}-{digest.hexdigest()[:8]}"

    def _marked(
        self, completion: Completion, sequence: "TokenSequence", tokenize: "Tokenize"
    ) -> "Marked":
        found = find_events(completion, sequence, self.patterns, tokenize)
        names = {event: self._named(PREFIX + event) for event in EVENTS}
        return {
            name: found.positions.get(PREFIX + event, found.reasons.get(event, ""))
            for event, name in names.items()
            if name in self.read
        }
