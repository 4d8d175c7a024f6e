"""The answers of a run as recorded, and the numbers computed from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gde.data.evidence import Evidence
from gde.data.json import Json, is_number
from gde.data.result import Measurement
from gde.data.verdict import outcome_of
from gde.numerics.controls import compare_with_control
from gde.numerics.episodes import finished, over_episodes, unmeasured
from gde.numerics.stats import Estimate, adjusted, cluster_mean, cluster_share, holm
from gde.seeding import generator
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
    """As of `tasks.question.scores_of`; empty if there was nothing to parse."""
    blind: Mapping[str, Json]
    """The scores of each baseline that does not read the world."""
    is_grounded: bool
    """Whether it is one of a pair of worlds that differ in one thing."""

    @property
    def reading(self) -> str:
        """`OK`, `NO_ANSWER` or a reason of `tasks.parsing`."""
        return str(self.scores.get("reading", NO_ANSWER))

    def number(self, name: str, way: str = "") -> float | None:
        """Return a score of the lenient reading, or of another; None if it has no
        value.
        """
        scores = self.scores.get(way) if way else self.scores
        return _number(scores, name)

    def published(self, name: str) -> float | None:
        """Return a score as published; None for an answer that is left out."""
        return self.number(name, "published")

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
        blind = one.world.facts.get("blind")
        answer = Answer(
            cluster=one.world.cluster,
            level=str(one.world.facts["level"]),
            difficulty=str(one.world.labels["difficulty"]),
            scores=scores if isinstance(scores, Mapping) else {},
            blind=blind if isinstance(blind, Mapping) else {},
            is_grounded="change" in one.world.facts,
        )
        found.append(answer)
    return found


def _number(scores: object, name: str) -> float | None:
    value = scores.get(name) if isinstance(scores, Mapping) else None
    return float(value) if is_number(value) else None


Pick = Callable[[Answer], float | None]


@dataclass(frozen=True, kw_only=True)
class Number:
    """The mean of one value per answer; answers without it are left out."""

    name: str
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
        measurement = over_episodes(
            evidence, self.name, values, self.estimate, self.reason
        )
        return replace(measurement, where=where)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A score in [0, 1] with its baselines and the other ways of reading."""

    name: str
    score: str
    published: bool = True
    """Whether the published harness has this score."""

    @property
    def number(self) -> Number:
        """The lenient reading, in which nothing is dropped."""
        return self._number(self.name, self.value)

    def value(self, one: Answer, way: str = "") -> float | None:
        """Return the value of an answer; None where the world has no such score."""
        found = one.number(self.score, way)
        if found is not None:
            return found
        for name in one.blind:
            if _of_baseline(one, name, self.score) is None:
                return None
        return 0.0

    def others(self) -> Iterator[Number]:
        """Yield the same strictly, among usable answers, and as published."""

        def among_usable(one: Answer) -> float | None:
            return one.number(self.score) if one.reading == OK else None

        strict = partial(self.value, way="strict")
        yield self._number(f"{self.name}.strict", strict)
        yield self._number(f"{self.name}.usable", among_usable)
        if self.published:
            yield self._number(
                f"{self.name}.published", lambda one: one.published(self.score)
            )

    def _number(self, name: str, pick: Pick) -> Number:
        return Number(name=name, pick=pick, estimate=cluster_share)

    def baselines(
        self, evidence: Evidence, found: Sequence[Answer]
    ) -> Iterator[Measurement]:
        """Yield the rate of each blind baseline, and the lead over the best one."""
        names = sorted({name for one in found for name in one.blind})
        rates = []
        for name in names:
            pick = partial(_of_baseline, name=name, score=self.score)
            number = self._number(f"{self.name}.blind.{name}", pick)
            rates.append(number.of(evidence, found))
        yield from rates

        valued = [(one.value, name) for one, name in zip(rates, names, strict=True)]
        known = [(value, name) for value, name in valued if value is not None]
        lead = f"{self.name}.above_blind"
        if not known:
            yield unmeasured(lead, "no blind baseline has this score")
            return
        _, best = max(known)
        yield self._lead(lead, best, evidence, found)

    def _lead(
        self, name: str, best: str, evidence: Evidence, found: Sequence[Answer]
    ) -> Measurement:
        """The difference from a baseline, paired by world."""
        pairs: dict[str, list[tuple[float, float]]] = {}
        for one in found:
            ours = self.value(one)
            theirs = _of_baseline(one, best, self.score)
            if ours is not None and theirs is not None:
                pairs.setdefault(one.cluster, []).append((ours, theirs))
        means = np.array([np.mean(of_world, axis=0) for of_world in pairs.values()])

        rng = generator(evidence.seed, "metric", name)
        ours, theirs = means.T
        verdict = compare_with_control(best, ours, theirs[None], rng)
        return Measurement(
            name=name,
            value=verdict.difference,
            n=sum(map(len, pairs.values())),
            clusters=len(pairs),
            interval=verdict.interval,
            verdict=verdict,
        )


def _of_baseline(one: Answer, name: str, score: str) -> float | None:
    return _number(one.blind.get(name), score)


def measure(
    evidence: Evidence,
    task: str,
    rates: Sequence[Rate],
    numbers: Sequence[Number],
    broken_down: Sequence[Number],
) -> list[Measurement]:
    """Measure the rates and numbers of a task and the shares of unusable answers.

    For the whole run, `broken_down` follow by size, difficulty and competency.
    """
    found = answers(evidence, task)
    every = [rate.number for rate in rates]
    for rate in rates:
        every += rate.others()
    every += [*numbers, _unusable(task, "")]
    every += [_unusable(task, reason) for reason in (NO_ANSWER, *REASONS)]
    if not found:
        reason = f"no question of the kind {task} was asked"
        return [unmeasured(each.name, reason) for each in every]

    measured = [each.of(evidence, found) for each in every]
    leads = []
    for rate in rates:
        *baselines, lead = rate.baselines(evidence, found)
        measured += baselines
        leads.append(lead)
    measured += _corrected(leads)
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


def pairs(evidence: Evidence, task: str) -> Measurement:
    """Measure the share of grounded pairs with two right answers.

    A deterministic answer that does not read the world has none.
    """
    name = f"{task}.pairs"
    both: dict[str, list[bool]] = {}
    for one in answers(evidence, task):
        if one.is_grounded:
            both.setdefault(one.cluster, []).append(one.number("score") == 1)
    shares = []
    for cluster, right in both.items():
        if len(right) > 1:
            shares.append((cluster, float(all(right))))
    none = "no pair was asked: set env.grounded=true"
    return over_episodes(evidence, name, shares, reason=none)


def _corrected(leads: Sequence[Measurement]) -> Iterator[Measurement]:
    """Judge the leads of a task together, by Holm's correction."""
    made = [one.verdict.p if one.verdict else None for one in leads]
    for one, p in zip(leads, adjusted(made, holm), strict=True):
        if one.verdict is None:
            yield one
        else:
            outcome = outcome_of(one.verdict.difference, p, "more")
            yield replace(one, verdict=replace(one.verdict, p=p, outcome=outcome))


def _unusable(task: str, reason: str) -> Number:
    """Return the share of answers that are unusable for a reason, empty for any."""

    def pick(one: Answer) -> float:
        return float(one.reading == reason if reason else one.reading != OK)

    name = f"{task}.unusable.{reason}" if reason else f"{task}.unusable"
    return Number(name=name, pick=pick, estimate=cluster_share)
