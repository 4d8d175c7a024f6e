"""Verdicts of behaviour: paired in the same worlds, corrected together, and against
nothing that no agent can exceed.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from walked_run import evidence  # noqa: F401

from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean
from gde.parts.metric import Declared
from gde.stages.baselines import with_verdicts

MEASURES = Measures(
    (
        Measure("mine", "Mine", "share", "more"),
        Measure("chance", "chance", "share", beside="mine"),
        Measure("best", "an oracle", "share", beside="mine", bound=True),
    )
)


def metric(values: dict[str, tuple[float | None, ...]]) -> Declared:
    """Numbers over columns that give these values to the episodes, in their order."""

    def facts(episode: Trajectory, _: Model) -> Facts:
        return {name: each[episode.key.world] for name, each in values.items()}

    numbers = tuple(Mean(name, name) for name in values)
    made = EpisodeMetric(columns=tuple(values), facts=facts, numbers=numbers)
    return Declared(made, MEASURES)


@pytest.fixture
def played(evidence: Evidence) -> Evidence:  # noqa: F811
    """Twelve finished episodes, each in a world of its own."""
    finished = [one for one in evidence.trajectories if one.ending != "failed"][:12]
    made = []
    for i, one in enumerate(finished):
        world = replace(one.world, id=f"w{i:02}")
        made.append(replace(one, key=replace(one.key, world=i), world=world))
    return replace(evidence, trajectories=tuple(made))


def judged(values: dict[str, tuple[float | None, ...]], played: Evidence) -> dict[str, object]:  # fmt: skip
    one = metric(values)
    found = with_verdicts(list(one(played)), [one], played)
    return {each.name: each.verdict for each in found}


def test_a_number_is_tested_against_its_baseline_paired_by_world(
    played: Evidence,
) -> None:
    rng = np.random.default_rng(0)
    chance = tuple(rng.uniform(0.1, 0.3, 12))
    mine = tuple(value + rng.uniform(0.6, 0.7) for value in chance)
    found = judged({"mine": mine, "chance": chance, "best": (1.0,) * 12}, played)
    assert found["best"] is None
    verdict = found["mine"]
    assert verdict == found["chance"] and verdict is not None
    assert verdict.control == "chance" and verdict.outcome == "better"  # type: ignore[attr-defined]
    assert verdict.difference == pytest.approx(np.mean(mine) - np.mean(chance))  # type: ignore[attr-defined]
    # An independent test of the same count.
    exact = binomtest(int(sum(mine)), 12, float(np.mean(chance)), alternative="greater")
    assert verdict.p == pytest.approx(2 * exact.pvalue)  # type: ignore[attr-defined]
    swapped = judged({"mine": chance, "chance": mine}, played)["mine"]
    assert swapped.outcome == "worse"  # type: ignore[attr-defined,union-attr]


def test_worlds_where_one_of_them_has_no_number_do_not_count(played: Evidence) -> None:
    mine = (None, *(0.9,) * 11)
    found = judged({"mine": mine, "chance": (0.5,) * 11 + (None,)}, played)
    assert found["mine"].worlds == 10  # type: ignore[attr-defined,union-attr]


def test_few_worlds_give_no_verdict(played: Evidence) -> None:
    few = replace(played, trajectories=played.trajectories[:4])
    found = judged({"mine": (1.0,) * 4, "chance": (0.5,) * 4}, few)
    assert found["mine"].outcome == "untested"  # type: ignore[attr-defined,union-attr]
    assert "a test needs 6" in found["mine"].reason  # type: ignore[attr-defined,union-attr]


def test_without_a_baseline_there_is_nothing_to_test(played: Evidence) -> None:
    assert judged({"mine": (1.0,) * 12}, played) == {"mine": None}


def test_each_condition_has_a_verdict_of_a_family_of_its_own(played: Evidence) -> None:
    halves = []
    for i, one in enumerate(played.trajectories):
        key = replace(one.key, condition=i // 6, world=i)
        halves.append(replace(one, key=key))
    swept = replace(played, trajectories=tuple(halves))
    rng = np.random.default_rng(1)
    chance = (*rng.uniform(0.1, 0.3, 6), *rng.uniform(0.4, 0.6, 6))
    above, below = [1.0] * 6, [0.3] * 6
    one = metric({"mine": (*above, *below), "chance": chance})
    conditions = [{"size": 7}, {"size": 9}]
    measured = [
        replace(each, where=labels) for labels in ({}, *conditions) for each in one(swept)
    ]  # fmt: skip
    found = {
        each.where.get("size"): each.verdict
        for each in with_verdicts(measured, [one], swept, conditions)
        if each.name == "mine"
    }
    assert found[7].difference > 0 > found[9].difference  # type: ignore[union-attr]
    # Six of six, from two sides, corrected for two conditions.
    by_chance = float(np.mean(chance[:6])) ** 6
    assert found[7].p == pytest.approx(2 * 2 * by_chance)  # type: ignore[union-attr]
    assert found[7].worlds == 6 and found[None].worlds == 12  # type: ignore[union-attr]
