"""Trends over difficulty are found in the unvaried worlds of a run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gde.data.result import Measurement
from gde.testing import check_metric
from gde.testing.context import PlainContext
from gde_plugins.stats_tests.config import TrendsConfig
from gde_plugins.stats_tests.trends import Trends

CONDITIONS: list[dict[str, Any]] = [
    {"size": size, "density": d} for size in (5, 7, 9) for d in (0.0, 0.5)
]
SHORT = TrendsConfig(measures=("accuracy",))
MakeRun = Callable[..., Any]


def worse_with_size(labels: dict[str, Any], _: int) -> float:
    return 1.2 - 0.07 * float(labels["size"])


def worse_with_distance(_: dict[str, Any], distance: int) -> float:
    return max(1 - 0.05 * distance, 0.3)


def named(run: Any, by: str, config: TrendsConfig = SHORT) -> dict[str, Measurement]:
    return {
        one.name.removeprefix("trends."): one
        for one in Trends(config, PlainContext())(run)
        if one.where == {"by": by}
    }


def test_a_trend_with_size_is_found_and_one_with_density_is_not(
    make_run: MakeRun,
) -> None:
    run = make_run(worse_with_size, CONDITIONS, n=8)
    size, density = named(run, "size"), named(run, "density")
    assert size["accuracy.spearman"].value < -0.5
    assert (
        max(size["accuracy.spearman_p"].value, size["accuracy.page_l_p"].value) < 0.01
    )
    assert (size["accuracy.spearman"].n, size["accuracy.page_l"].n) == (48, 16)
    assert density["accuracy.spearman_p"].value > 0.05
    assert (
        density["accuracy.page_l"].reason
        == "not measured: 24 blocks of 2 conditions, needs 3 of 3"
    )


def test_accuracy_is_regressed_on_the_distance_to_the_goal(make_run: MakeRun) -> None:
    slope = named(
        make_run(worse_with_distance, CONDITIONS, n=8, repeats=5), "distance"
    )["accuracy.slope"]
    assert slope.value == pytest.approx(-0.05, abs=0.01)
    assert slope.interval[1] < 0


def test_values_that_are_no_distances_give_no_slope(make_run: MakeRun) -> None:
    run = make_run(worse_with_size, CONDITIONS, n=3)
    halved = tuple(
        replace(
            one, turns=tuple(replace(turn, value=turn.value / 4) for turn in one.turns)
        )
        for one in run.trajectories
    )
    reason = "not measured: the optimal values of the unvaried worlds are no distances to a goal"
    assert (
        named(replace(run, trajectories=halved), "distance")["accuracy.slope"].reason
        == reason
    )


def test_variations_are_no_more_worlds(make_run: MakeRun) -> None:
    varied = [
        {**labels, "transform": name}
        for name in ("none", "reflect")
        for labels in CONDITIONS
    ]
    assert (
        named(make_run(worse_with_size, varied, n=4), "size")["accuracy.spearman"].n
        == 24
    )


def test_blocks_are_complete(make_run: MakeRun) -> None:
    run = make_run(worse_with_size, CONDITIONS, n=8)
    fewer = [
        one for one in run.trajectories if one.labels["size"] != 9 or one.key.world < 5
    ]
    assert (
        named(replace(run, trajectories=tuple(fewer)), "size")["accuracy.page_l"].n
        == 10
    )


def test_there_is_nothing_to_say_without_difficulties(make_run: MakeRun) -> None:
    assert (
        Trends(SHORT, PlainContext())(make_run(worse_with_size, CONDITIONS[:1])) == ()
    )
    run = make_run(worse_with_size, CONDITIONS, n=2)
    assert Trends(SHORT, PlainContext())(replace(run, part={"size": 5})) == ()
    assert Trends(TrendsConfig(by=("colour",)), PlainContext())(run) == ()


def test_the_metric_keeps_its_promises(make_run: MakeRun) -> None:
    check_metric(
        lambda: Trends(SHORT, PlainContext()),
        make_run(worse_with_size, CONDITIONS, n=4),
    )
