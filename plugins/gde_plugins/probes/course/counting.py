"""The metric `events`: at which tokens of its reasoning a model says what."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import finished, unmeasured
from gde.parts.context import Context
from gde_plugins.probes.course.config import EventsConfig
from gde_plugins.probes.course.events import EVENTS, Found
from gde_plugins.probes.course.told import Told, told
from gde_plugins.probes.course.turns import NO_MODEL, located, read_model

NO_TOKENS = "the answer cannot be replayed"
Key = tuple[str, int]
Turns = Mapping[Key, tuple[Found, Sequence[Told]]]
"""The events of each turn, and what is said there."""


@dataclass(frozen=True)
class Events:
    """Find the events of every turn.

    - "events.found": share of the turns with an answer that have the event.
    - "events.missing": number of the others, by reason.
    - "events.true": share of the turns that say it in which the cell of agent or goal is
      the true one, and the move the one that is made.
    - "events.repeated": number of turns in which its pattern matches again; the first
      match counts.
    """

    config: EventsConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        turns = self._turns(evidence)
        if not turns:
            return [unmeasured("events.found", NO_MODEL)]
        return [*_counts([found for found, _ in turns.values()]), *_true(turns)]

    def remarks(self, evidence: Evidence) -> Mapping[Key, str]:
        """The events of each turn, with the place of their token in the answer, and what
        is said otherwise than it is.
        """
        return {key: _line(*turn) for key, turn in self._turns(evidence).items()}

    def _turns(self, evidence: Evidence) -> Turns:
        episodes = finished(evidence)
        model = read_model(self.context, self.config.weights, episodes)
        if model is None:
            return {}
        turns = {}
        for trajectory in episodes:
            for turn in trajectory.turns:
                completion = turn.decision.completion
                if completion is None:
                    continue
                answer = located(completion, self.config.patterns, model)
                nothing = Found(reasons=dict.fromkeys(EVENTS, NO_TOKENS))
                found = answer[1] if answer else nothing
                key = str(trajectory.key), turn.index
                turns[key] = found, [*told(trajectory, turn, found)]
        return turns


def _true(turns: Turns) -> Iterator[Measurement]:
    agree: dict[str, list[bool]] = {}
    for _, said in turns.values():
        for one in said:
            agree.setdefault(one.event, []).append(one.agrees)
    for event, each in agree.items():
        yield Measurement(
            name="events.true",
            value=sum(each) / len(each),
            n=len(each),
            where={"event": event},
        )


def _counts(turns: Sequence[Found]) -> Iterator[Measurement]:
    for event in EVENTS:
        n_found = sum(event in found.tokens for found in turns)
        where = {"event": event}
        share = n_found / len(turns)
        yield Measurement(name="events.found", value=share, n=len(turns), where=where)
        repeated = sum(event in found.repeated for found in turns)
        if repeated:
            yield Measurement(
                name="events.repeated", value=repeated, n=n_found, where=where
            )
        reasons = Counter(found.reasons.get(event, "") for found in turns)
        del reasons[""]
        for reason, count in sorted(reasons.items()):
            labels = {**where, "why": reason}
            yield Measurement(
                name="events.missing", value=count, n=len(turns), where=labels
            )


def _line(found: Found, said: Sequence[Told]) -> str:
    first = found.tokens.get("before", 0)
    events = []
    for event in EVENTS:
        if event in found.tokens:
            words = [event, found.said.get(event, ""), "at token"]
            token = str(found.tokens[event] - first)
            again = ["and again"] if event in found.repeated else []
            events.append(" ".join([*filter(None, words), token, *again]))
        else:
            events.append(f"no {event}: {found.reasons[event]}")
    for one in said:
        if not one.agrees:
            events.append(f"says {one.event} {one.said}, but it is {one.real}")
    return f"events: {'; '.join(events)}"
