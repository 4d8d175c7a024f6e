"""The answers of a run as recorded, and the numbers computed from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.evidence import Evidence
from gde.data.json import Json, is_number
from gde.data.result import Measurement
from gde.numerics.episodes import finished, over_episodes, unmeasured
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.babyai.tasks.parsing import REASONS
from gde_plugins.babyai.worlds.levels import SIZES, competencies

NO_ANSWER = "no_answer"
"""Reason of an empty answer, a refusal, or one that was cut off: it has no text to
parse.
"""
OK = "ok"
LABELS = ("size", "difficulty", "competency")
"""Labels of the breakdown, in its order."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    cluster: str
    level: str
    difficulty: str
    scores: Mapping[str, Json]
    """The text; empty if there was nothing to parse."""

    @property
    def reading(self) -> str:
        """`OK`, `NO_ANSWER` or a reason of `tasks.parsing`."""
        return str(self.scores.get("reading", NO_ANSWER))

    def number(self, name: str) -> float | None:
        """Return a score; None if it has no value."""
        value = self.scores.get(name)
        return float(value) if is_number(value) else None

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the labels and values of the answer's breakdowns."""
        # The size of a world of the Plan task is part of its name.
        for size in SIZES:
            if f"-{size}-" in self.level:
                yield "size", size
        yield "difficulty", self.difficulty
        for name in competencies(self.level):
            yield "competency", name


def answers(evidence: Evidence, task: str) -> list[Answer]:
    """Return the answers to questions of one kind, of finished episodes."""
    found = []
    for one in finished(evidence):
        if one.world.facts.get("task") != task:
            continue
        scores = one.final_state.facts.get("scores") if one.final_state else None
        answer = Answer(
            cluster=one.world.cluster,
            level=str(one.world.facts["level"]),
            difficulty=str(one.world.labels["difficulty"]),
            scores=scores if isinstance(scores, Mapping) else {},
        )
        found.append(answer)
    return found


Pick = Callable[[Answer], float | None]


@dataclass(frozen=True, kw_only=True)
class Number:
    """The mean of one value per answer; answers without it are left out."""

    name: str
    unit: str
    pick: Pick
    estimate: Callable[..., Estimate] = cluster_mean
    reason: str = "no answer could be used"
    """Reason to give if no answer has the value."""

    def of(
        self, evidence: Evidence, found: Sequence[Answer], **where: str
    ) -> Measurement:
        """Measure some answers with the labels `where`."""
        values = []
        for one in found:
            value = self.pick(one)
            if value is not None:
                values.append((one.cluster, value))
        if not values:
            return replace(unmeasured(self.name, self.unit, self.reason), where=where)
        measurement = over_episodes(
            evidence, self.name, self.unit, values, self.estimate
        )
        return replace(measurement, where=where)


def share(name: str, score: str) -> Number:
    """Return the mean of a score in [0, 1], which is 0 for an unusable answer."""
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
    every = [*numbers, _unusable(task, "")]
    every += [_unusable(task, reason) for reason in (NO_ANSWER, *REASONS)]
    if not found:
        reason = f"no question of the kind {task} was asked"
        return [unmeasured(each.name, each.unit, reason) for each in every]

    measured = [each.of(evidence, found) for each in every]
    if not evidence.part and len({one.level for one in found}) > 1:
        groups: dict[tuple[str, str], list[Answer]] = {}
        for one in found:
            for group in one.groups():
                groups.setdefault(group, []).append(one)
        ordered = sorted(groups, key=lambda group: LABELS.index(group[0]))
        for number in broken_down:
            for label, value in ordered:
                some = groups[label, value]
                measured.append(number.of(evidence, some, **{label: value}))
    return measured


def _unusable(task: str, reason: str) -> Number:
    """Return the share of answers that are unusable for a reason, empty for any."""

    def pick(one: Answer) -> float:
        return float(one.reading == reason if reason else one.reading != OK)

    name = f"{task}.unusable.{reason}" if reason else f"{task}.unusable"
    return Number(name=name, unit="share", pick=pick, estimate=cluster_share)
