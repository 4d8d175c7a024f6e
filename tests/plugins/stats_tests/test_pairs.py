"""Variations are paired with their unvaried worlds, tested, and corrected as one
family.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gde.data.result import Measurement
from gde.errors import UnknownName
from gde.numerics.stats import benjamini_hochberg, holm
from gde.testing import check_metric
from gde.testing.context import PlainContext
from gde_plugins.stats_tests.config import PairsConfig
from gde_plugins.stats_tests.pairs import NAMES, Pairs

TRANSFORMS: list[dict[str, Any]] = [
    {"transform": name} for name in ("none", "reflect", "rotate90")
]
SHORT = PairsConfig(measures=("success", "accuracy", "policy.jsd"))
MakeRun = Callable[..., Any]


def weak_when_reflected(labels: dict[str, Any], _: int) -> float:
    return 0.5 if labels["transform"] == "reflect" else 0.9


def by_name(
    found: list[Measurement], variation: str, label: str = "transform"
) -> dict[str, Measurement]:
    return {
        one.name.removeprefix("pairs."): one
        for one in found
        if one.where == {label: variation}
    }


def test_a_variation_that_matters_is_found_and_another_is_not(
    make_run: MakeRun,
) -> None:
    found = [*Pairs(SHORT, PlainContext())(make_run(weak_when_reflected, TRANSFORMS))]
    reflect, rotate = by_name(found, "reflect"), by_name(found, "rotate90")
    assert reflect["accuracy.difference"].value == pytest.approx(-0.4, abs=0.1)
    assert reflect["accuracy.p_holm"].value < 0.001 > reflect["accuracy.q"].value
    assert (
        reflect["accuracy.rank_biserial"].value
        < -0.9
        < 0.9
        < reflect["accuracy.effect_paper"].value
    )
    assert rotate["accuracy.p_holm"].value > 0.05
    low, high = rotate["accuracy.difference"].interval
    assert low < 0 < high
    assert rotate["accuracy.mde"].value < 0.2
    assert {one.n for one in found if "p_any" not in one.name} == {20}
    assert (
        reflect["accuracy.p_any_holm"].value
        < 0.01
        < rotate["accuracy.p_any_holm"].value
    )
    assert len(found) == 2 * (3 * len(NAMES) + 3 * 2)


def test_a_preference_that_helps_in_half_of_the_worlds_is_found(
    make_run: MakeRun,
) -> None:
    """As of an agent that likes to go left, when goals lie left and right: reflected,
    it errs where it did not.
    """
    run = make_run(lambda *_: 1.0, TRANSFORMS[:2], repeats=10)
    worse = iter(make_run(lambda *_: 0.6, TRANSFORMS[:2], repeats=10).trajectories)
    trajectories = []
    for right, wrong in zip(run.trajectories, worse, strict=True):
        reflected = right.labels["transform"] == "reflect"
        trajectories.append(wrong if reflected == (right.key.world % 2 == 0) else right)
    found = by_name(
        [*Pairs(SHORT, PlainContext())(replace(run, trajectories=tuple(trajectories)))],
        "reflect",
    )
    assert found["accuracy.p_wilcoxon"].value > 0.05
    assert found["accuracy.p_any_holm"].value < 0.01


def test_a_family_is_all_variations_by_a_label_times_all_measures(
    make_run: MakeRun,
) -> None:
    found = [*Pairs(SHORT, PlainContext())(make_run(weak_when_reflected, TRANSFORMS))]
    raw = [
        one.value
        for one in found
        if one.name.endswith("p_wilcoxon") and one.value is not None
    ]
    for name, adjust in (("p_holm", holm), ("q", benjamini_hochberg)):
        assert adjust(raw) == tuple(
            one.value
            for one in found
            if one.name.endswith(f".{name}") and one.value is not None
        )


def test_counterfactuals_share_all_labels_but_the_variation_and_the_worlds_own_numbers(
    make_run: MakeRun,
) -> None:
    conditions = [
        {"transform": t, "artefact": a}
        for t in ("none", "reflect")
        for a in ("none", "key")
    ]
    skill: Any = lambda labels, _: {"none": 0.9, "key": 0.4}[labels["artefact"]]  # noqa: E731
    found = [*Pairs(SHORT, PlainContext())(make_run(skill, conditions))]
    assert {tuple(one.where.items()) for one in found} == {
        (("transform", "reflect"),),
        (("artefact", "key"),),
    }
    assert by_name(found, "key", "artefact")[
        "accuracy.difference"
    ].value == pytest.approx(-0.5, abs=0.1)
    assert abs(by_name(found, "reflect")["accuracy.difference"].value) < 0.05


def test_one_world_met_under_two_labels_is_two_places(make_run: MakeRun) -> None:
    run = make_run(weak_when_reflected, TRANSFORMS[:2])
    same = replace(
        run,
        trajectories=tuple(
            replace(one, world=replace(one.world, id=one.world.base))
            for one in run.trajectories
        ),
    )
    assert [*Pairs(SHORT, PlainContext())(same)] == [*Pairs(SHORT, PlainContext())(run)]


def test_an_agent_that_does_not_care_gives_reasons_and_no_numbers(
    make_run: MakeRun,
) -> None:
    found = by_name(
        [*Pairs(SHORT, PlainContext())(make_run(lambda *_: 1.0, TRANSFORMS))], "reflect"
    )
    assert found["accuracy.difference"].value == 0.0
    assert (
        found["accuracy.p_holm"].reason == "not measured: 0 of 20 pairs differ, needs 6"
    )
    few = by_name(
        [*Pairs(SHORT, PlainContext())(make_run(weak_when_reflected, TRANSFORMS, n=4))],
        "reflect",
    )
    assert few["accuracy.p_wilcoxon"].reason == "not measured: 4 pairs, needs 6"


def test_what_cannot_be_measured_in_both_counterfactuals_has_no_pairs(
    make_run: MakeRun,
) -> None:
    run = make_run(weak_when_reflected, TRANSFORMS[:2])
    blind = tuple(
        replace(one, turns=tuple(replace(turn, optimal=None) for turn in one.turns))
        for one in run.trajectories
    )
    found = by_name(
        [*Pairs(SHORT, PlainContext())(replace(run, trajectories=blind))], "reflect"
    )
    assert (
        found["accuracy.q"].reason
        == "not measured: 0 pairs of worlds in which it has a value"
    )
    assert found["success.difference"].value is not None


def test_there_is_nothing_to_say_of_parts_and_of_runs_without_variations(
    make_run: MakeRun,
) -> None:
    run = make_run(weak_when_reflected, TRANSFORMS)
    assert (
        Pairs(SHORT, PlainContext())(replace(run, part={"transform": "reflect"})) == ()
    )
    assert (
        Pairs(SHORT, PlainContext())(make_run(weak_when_reflected, TRANSFORMS[1:]))
        == ()
    )


def test_a_measure_that_no_metric_gives_is_named(make_run: MakeRun) -> None:
    run = make_run(weak_when_reflected, TRANSFORMS[:2], n=2)
    with pytest.raises(UnknownName, match="accurcy"):
        Pairs(PairsConfig(measures=("accurcy.pooled",)), PlainContext())(run)
    unknown = Pairs(
        PairsConfig(measures=("accuracy.unheard",), each_episode=()), PlainContext()
    )(run)
    assert {one.reason for one in unknown} == {
        "not measured: 0 pairs of worlds in which it has a value"
    }


def test_the_metric_keeps_its_promises(make_run: MakeRun) -> None:
    check_metric(
        lambda: Pairs(SHORT, PlainContext()),
        make_run(weak_when_reflected, TRANSFORMS, n=6),
    )
