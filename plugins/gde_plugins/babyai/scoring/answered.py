"""The answers of a run, as the record tells of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Json, is_number
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import finished, over_episodes, unmeasured
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.babyai.tasks.readings import REASONS
from gde_plugins.babyai.worlds.levels import SIZES, competencies

NO_ANSWER = "no_answer"
"""The agent itself gave nothing to be read: an empty answer, a refusal, one that was cut off."""
OK = "ok"


@dataclass(frozen=True)
class Answer:
    """One question and what became of it."""

    cluster: str
    level: str
    difficulty: str
    reading: str
    """`OK`, `NO_ANSWER` or a reason of `tasks.readings`."""
    scores: Mapping[str, Json]
    """Empty without an answer that was read."""

    def number(self, name: str) -> float | None:
        """A score; None where it has no value."""
        value = self.scores.get(name)
        return float(value) if is_number(value) else None


def answers(evidence: Evidence, task: str) -> list[Answer]:
    """Those to questions of one kind, of finished episodes."""
    return [_answer(one) for one in finished(evidence) if one.world.facts.get("task") == task]


def _answer(one: Trajectory) -> Answer:
    told = one.final_state.facts.get("scores") if one.final_state else None
    scores = told if isinstance(told, Mapping) else {}
    labels = one.labels
    return Answer(
        cluster=one.world.cluster,
        level=str(one.world.facts.get("level", labels.get("level", ""))),
        difficulty=str(one.world.labels.get("difficulty", "")),
        reading=str(scores.get("reading", NO_ANSWER)),
        scores=scores,
    )


Pick = Callable[[Answer], float | None]


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number: the mean of what is picked of each answer; answers of which nothing is picked are left out."""

    name: str
    unit: str
    pick: Pick
    estimate: Callable[..., Estimate] = cluster_mean
    reason: str = "no answer could be used"
    """Why there may be none."""

    def of(self, evidence: Evidence, found: Sequence[Answer], where: Mapping[str, str] | None = None) -> Measurement:
        """Measured on some answers."""
        values = [(one.cluster, value) for one in found if (value := self.pick(one)) is not None]
        if not values:
            return Measurement(name=self.name, value=None, unit=self.unit, n=0, reason=self.reason, where=where or {})
        measured = over_episodes(evidence, self.name, self.unit, values, self.estimate)
        return Measurement(
            name=self.name,
            value=measured.value,
            unit=self.unit,
            n=measured.n,
            interval=measured.interval,
            where=where or {},
            reason=measured.reason,
        )


def share(name: str, score: str) -> Number:
    """The mean of a score between 0 and 1, 0 for what could not be read."""
    return Number(name=name, unit="share", pick=lambda one: one.number(score) or 0.0, estimate=cluster_share)


def measure(
    evidence: Evidence, task: str, numbers: Sequence[Number], broken_down: Sequence[Number]
) -> list[Measurement]:
    """The numbers of a task, the shares of answers that cannot be used and, over the whole run, breakdowns by
    difficulty, by competency and by size."""
    found = answers(evidence, task)
    every = [*numbers, *_unusable(task)]
    if not found:
        return [unmeasured(each.name, each.unit, f"no question of the kind {task} was asked") for each in every]
    measured = [each.of(evidence, found) for each in every]
    return measured if evidence.part else [*measured, *_breakdown(evidence, found, broken_down)]


def _unusable(task: str) -> Iterator[Number]:
    yield Number(
        name=f"{task}.unusable", unit="share", pick=lambda one: float(one.reading != OK), estimate=cluster_share
    )
    for reason in (NO_ANSWER, *REASONS):
        yield Number(name=f"{task}.unusable.{reason}", unit="share", pick=_is(reason), estimate=cluster_share)


def _is(reason: str) -> Pick:
    return lambda one: float(one.reading == reason)


def _breakdown(evidence: Evidence, found: Sequence[Answer], numbers: Sequence[Number]) -> Iterator[Measurement]:
    """By what varies."""
    classes = dict.fromkeys(one.difficulty for one in found)
    asked = dict.fromkeys(name for one in found for name in competencies(one.level))
    several = len({one.level for one in found}) > 1
    sizes = dict.fromkeys(size for one in found if (size := _size(one)))
    for number in numbers if several else ():
        for each in sizes:
            yield number.of(evidence, [one for one in found if _size(one) == each], {"size": each})
        for each in classes:
            yield number.of(evidence, [one for one in found if one.difficulty == each], {"difficulty": each})
        for each in asked:
            having = [one for one in found if each in competencies(one.level)]
            yield number.of(evidence, having, {"competency": each})


def _size(one: Answer) -> str:
    """Of a world of the Plan task, in its name; empty for all others."""
    return next((size for size in SIZES if f"-{size}-" in one.level), "")
