"""Facts of the answer to a question, as recorded, and means of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from gde.data.json import Json, is_number
from gde.data.trajectory import Trajectory
from gde.numerics.numbers import Mean

NO_ANSWER = "no_answer"
"""Reason of an empty answer, a refusal, or one that was cut off: it has no text to
parse.
"""
OK = "ok"


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    scores: Mapping[str, Json]
    """As of `tasks.question.scores_of`; empty if there was nothing to parse."""
    blind: Mapping[str, Json]
    """The scores of each baseline that does not read the world."""

    @classmethod
    def of(cls, episode: Trajectory) -> "Answer":
        """The answer of an episode."""
        end = episode.final_state
        scores = end.facts.get("scores") if end else None
        return cls(_mapping(scores), _mapping(episode.world.facts.get("blind")))

    @property
    def reading(self) -> str:
        """`OK`, `NO_ANSWER` or a reason of `tasks.parsing`."""
        return str(self.scores.get("reading", NO_ANSWER))

    def number(self, name: str, way: str = "") -> float | None:
        """A score of the lenient reading, of another, or of a baseline; None if it has
        no value.
        """
        scores = {"": self.scores, **self.scores, **self.blind}
        value = _mapping(scores.get(way)).get(name)
        return float(value) if is_number(value) else None


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


Pick = Callable[[Answer], float | None]
Score = tuple[Mean, Pick]
"""A number, and the fact of each answer that it is the mean of."""


def score(
    name: str,
    pick: Pick,
    reason: str = "no answer could be used",
    share: bool = False,
    only: str = "",
) -> Score:
    """The mean over the answers that have the fact."""
    return Mean(name, name, share=share, reason=reason, only=only), pick


share = partial(score, share=True)


def recorded(name: str, way: str = "") -> Pick:
    """A score as it is recorded."""
    return lambda one: one.number(name, way)


@dataclass(frozen=True)
class Rate:
    """A score in [0, 1] with its baselines and the published way of reading."""

    name: str
    score: str
    published: bool = True
    """Whether the published harness has this score."""

    @property
    def plain(self) -> Score:
        """The lenient reading, in which nothing is dropped."""
        return share(self.name, self._valued)

    def others(self) -> Iterator[Score]:
        """Yield the same among usable answers, and as published."""

        def among_usable(one: Answer) -> float | None:
            return one.number(self.score) if one.reading == OK else None

        yield share(f"{self.name}.usable", among_usable)
        if self.published:
            pick = recorded(self.score, "published")
            yield share(f"{self.name}.published", pick)

    def _valued(self, one: Answer) -> float | None:
        """The score, 0 for an answer without it; None if the world has no such score."""
        found = one.number(self.score)
        blind = [one.number(self.score, name) for name in one.blind]
        return 0.0 if found is None and None not in blind else found


def unusable(task: str, reason: str) -> Score:
    """The share of answers that are unusable for a reason, empty for any."""

    def pick(one: Answer) -> float:
        return one.reading == reason if reason else one.reading != OK

    name = f"{task}.unusable.{reason}" if reason else f"{task}.unusable"
    return share(name, pick)
