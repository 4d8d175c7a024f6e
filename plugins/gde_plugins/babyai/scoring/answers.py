"""The answers of a run as recorded, and the numbers computed from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.evidence import Evidence
from gde.data.json import Json, is_number
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import finished, over_episodes, unmeasured
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.babyai.tasks.parsing import REASONS
from gde_plugins.babyai.worlds.levels import SIZES, competencies

NO_ANSWER = "no_answer"
"""The agent gave no text to parse: an empty answer, a refusal, one that was cut off."""
OK = "ok"


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    cluster: str
    level: str
    difficulty: str
    reading: str
    """`OK`, `NO_ANSWER` or a reason of `tasks.parsing`."""
    scores: Mapping[str, Json]
    """Empty if there was nothing to parse."""

    def number(self, name: str) -> float | None:
        """Return a score; None if it has no value."""
        value = self.scores.get(name)
        return float(value) if is_number(value) else None

    @property
    def size(self) -> str:
        """The size of a world of the Plan task, which is part of its name; empty for
        all others.
        """
        for size in SIZES:
            if f"-{size}-" in self.level:
                return size
        return ""


def answers(evidence: Evidence, task: str) -> list[Answer]:
    """Return the answers to questions of one kind, of finished episodes."""
    return [
        _answer(one)
        for one in finished(evidence)
        if one.world.facts.get("task") == task
    ]


def _answer(one: Trajectory) -> Answer:
    scores = one.final_state.facts.get("scores") if one.final_state else None
    if not isinstance(scores, Mapping):
        scores = {}
    return Answer(
        cluster=one.world.cluster,
        level=str(one.world.facts.get("level", one.labels.get("level", ""))),
        difficulty=str(one.world.labels.get("difficulty", "")),
        reading=str(scores.get("reading", NO_ANSWER)),
        scores=scores,
    )


Pick = Callable[[Answer], float | None]


@dataclass(frozen=True, kw_only=True)
class Number:
    """The mean of one value per answer; answers without the value are left out."""

    name: str
    unit: str
    pick: Pick
    estimate: Callable[..., Estimate] = cluster_mean
    reason: str = "no answer could be used"
    """The reason to give if no answer has the value."""

    def of(
        self,
        evidence: Evidence,
        found: Sequence[Answer],
        where: Mapping[str, str] | None = None,
    ) -> Measurement:
        """Measure some answers; `where` names them."""
        values = []
        for one in found:
            value = self.pick(one)
            if value is not None:
                values.append((one.cluster, value))
        if values:
            measurement = over_episodes(
                evidence, self.name, self.unit, values, self.estimate
            )
        else:
            measurement = unmeasured(self.name, self.unit, self.reason)
        return replace(measurement, where=where or {})


def share(name: str, score: str) -> Number:
    """Return the mean of a score in [0, 1], which is 0 for an answer that cannot be
    used.
    """
    return Number(
        name=name,
        unit="share",
        pick=lambda one: one.number(score) or 0.0,
        estimate=cluster_share,
    )


def measure(
    evidence: Evidence,
    task: str,
    numbers: Sequence[Number],
    broken_down: Sequence[Number],
) -> list[Measurement]:
    """Measure the numbers of a task and the shares of unusable answers.

    For the whole run, `broken_down` follow by size, difficulty and competency.
    """
    found = answers(evidence, task)
    every = [*numbers, *_unusable(task)]
    if not found:
        return [
            unmeasured(
                each.name, each.unit, f"no question of the kind {task} was asked"
            )
            for each in every
        ]

    measured = [each.of(evidence, found) for each in every]
    if not evidence.part:
        measured += _breakdown(evidence, found, broken_down)
    return measured


def _unusable(task: str) -> Iterator[Number]:
    yield Number(
        name=f"{task}.unusable",
        unit="share",
        pick=lambda one: float(one.reading != OK),
        estimate=cluster_share,
    )
    for reason in (NO_ANSWER, *REASONS):
        yield Number(
            name=f"{task}.unusable.{reason}",
            unit="share",
            pick=_is(reason),
            estimate=cluster_share,
        )


def _is(reason: str) -> Pick:
    return lambda one: float(one.reading == reason)


def _breakdown(
    evidence: Evidence, found: Sequence[Answer], numbers: Sequence[Number]
) -> Iterator[Measurement]:
    """Measure by size, difficulty and competency, if there are several levels."""
    if len({one.level for one in found}) < 2:
        return

    for number in numbers:
        for where, group in _groups(found):
            yield number.of(evidence, group, where)


def _groups(found: Sequence[Answer]) -> Iterator[tuple[dict[str, str], list[Answer]]]:
    for size in dict.fromkeys(one.size for one in found):
        if size:
            yield {"size": size}, [one for one in found if one.size == size]
    for difficulty in dict.fromkeys(one.difficulty for one in found):
        yield (
            {"difficulty": difficulty},
            [one for one in found if one.difficulty == difficulty],
        )

    tested: dict[str, None] = {}
    for one in found:
        tested.update(dict.fromkeys(competencies(one.level)))
    for name in tested:
        yield (
            {"competency": name},
            [one for one in found if name in competencies(one.level)],
        )
