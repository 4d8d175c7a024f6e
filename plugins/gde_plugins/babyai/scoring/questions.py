"""A metric of the answers to questions of one task."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from gde.data.arrays import Bools, Doubles
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model, tabulate
from gde.numerics.numbers import Mean, Number
from gde.numerics.verdicts import judged
from gde_plugins.babyai.scoring.answers import (
    NO_ANSWER,
    Answer,
    Pick,
    Rate,
    Score,
    recorded,
    share,
    unusable,
)
from gde_plugins.babyai.scoring.numbers import Lead
from gde_plugins.babyai.tasks.parsing import REASONS
from gde_plugins.babyai.worlds.levels import LEVELS, SIZES, competencies, difficulty

LABELS = ("size", "difficulty", "competency")
"""Labels of the breakdown, in its order."""
CLASSES = {"0-2": (0, 2), "3-6": (3, 6), "7-9": (7, 9), "10+": (10, 10**6)}
"""Ranges of the number of subgoals that the expert adds to the translated mission
(Choukrani et al. 2025, section 5.2.3, which names the first, the third and the last).
"""
OTHERS = ("level", "sa", "right")
"""Facts that have no mean: the level's place in `LEVELS`, the subgoals that the expert
usually adds, and whether the answer to one of a grounded pair is right.
"""
Group = tuple[Labels, Bools]
"""Its label, and (N,) which episodes are in it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Questions(EpisodeMetric):
    """Numbers over answers; those of a whole run are also broken down."""

    broken_down: tuple[Mean, ...]
    """By size, difficulty and competency if several levels were asked about, and by the
    subgoals that the expert usually adds.
    """

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        measured = list(_corrected(super().__call__(evidence)))
        if evidence.part:
            return measured
        table = tabulate(self, evidence)
        parts = [*product(self.broken_down, _by_level(table["level"]))]
        for group in _by_added(table["sa"]):
            parts += [(mean, group) for mean in self.broken_down]
        for number, (where, chosen) in parts:
            found = number.measured(table.where(chosen), evidence.seed)
            measured.append(replace(found, where=where))
        # Pairs come last.
        return sorted(measured, key=lambda one: one.name.endswith(".pairs"))


def questions(
    task: str,
    baselines: Iterable[str],
    rates: Sequence[Rate],
    scores: Sequence[Score],
    broken_down: tuple[str, ...],
    others: Sequence[Number] = (),
) -> Questions:
    """The metric of a task: its rates and scores, the shares of unusable answers, the
    rates of blind baselines with the leads over them, and other numbers.
    """
    every = [rate.plain for rate in rates]
    for rate in rates:
        every += rate.others()
    every += scores
    every += [unusable(task, reason) for reason in ("", NO_ANSWER, *REASONS)]
    names = sorted(baselines)
    for rate, name in product(rates, names):
        # A baseline with any score has the first one.
        only = f"{rates[0].name}.blind.{name}"
        pick = recorded(rate.score, name)
        every.append(share(f"{rate.name}.blind.{name}", pick, only=only))
    picks = {mean.name: pick for mean, pick in every}
    means = [mean for mean, _ in every]
    return Questions(
        columns=(*picks, *OTHERS),
        facts=partial(_facts, task, picks),
        numbers=(
            *means,
            *(Lead(rate.name, names[::-1]) for rate in rates),
            *others,
        ),
        broken_down=tuple(mean for mean in means if mean.name in broken_down),
    )


def _facts(
    task: str, picks: Mapping[str, Pick], episode: Trajectory, _: Model
) -> Facts:
    world = episode.world.facts
    found: dict[str, float | None] = dict.fromkeys((*picks, *OTHERS))
    if world.get("task") == task:
        answer = Answer.of(episode)
        found |= {name: pick(answer) for name, pick in picks.items()}
        found["level"] = LEVELS.index(str(world["level"]))
        found["sa"] = answer.number("sa")
        if "change" in world:
            found["right"] = answer.number("score") == 1
    return found


def _corrected(measured: Sequence[Measurement]) -> Iterator[Measurement]:
    """Judge the leads of a task together, by Holm's correction."""
    made = {one.identity: one.verdict for one in measured if one.verdict}
    found = judged(made, lambda _: "more")
    for one in measured:
        yield replace(one, verdict=found.get(one.identity))


def _by_level(levels: Doubles) -> Iterator[Group]:
    """Yield the answers by size, difficulty and competency, none of a single level."""
    asked = dict.fromkeys(levels[~np.isnan(levels)].astype(int).tolist())
    groups: dict[tuple[str, str], list[int]] = {}
    for level in asked if len(asked) > 1 else ():
        for group in _labels(LEVELS[level]):
            groups.setdefault(group, []).append(level)
    for label, value in sorted(groups, key=lambda group: LABELS.index(group[0])):
        yield {label: value}, np.isin(levels, groups[label, value])


def _labels(level: str) -> Iterator[tuple[str, str]]:
    # The size of a world of the Plan task is part of its name.
    for size in SIZES:
        if f"-{size}-" in level:
            yield "size", size
    yield "difficulty", difficulty(level)
    for name in competencies(level):
        yield "competency", name


def _by_added(added: Doubles) -> Iterator[Group]:
    """Yield the answers by the number of subgoals that the expert usually adds."""
    for name, (low, high) in CLASSES.items():
        chosen = (added >= low) & (added <= high)
        if chosen.any():
            yield {"added": name}, chosen
