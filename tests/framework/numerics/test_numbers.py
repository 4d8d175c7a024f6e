"""A declared number is one number, of a run, of a condition and of each world."""

from dataclasses import replace
from random import Random
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.episode_table import EPISODES, EpisodeTable, Head
from gde.data.trajectory import ENDINGS
from gde.numerics.episode_metric import EpisodeMetric
from gde.numerics.numbers import Mean, Missing, Number, Ratio, Total
from gde.testing.samples import sample_evidence

MISSING = (Missing("unseen", of="turns", reason="{} of {} turns are unseen"),)
NUMBERS: tuple[Number, ...] = (
    Mean("success", "success"),
    Mean("length", "turns", share=False),
    Mean("accuracy", "hits", per="turns", over="worlds", missing=MISSING),
    Mean("of episodes", "hits", per="turns", missing=MISSING),
    Ratio("pooled", "hits", per="turns", missing=MISSING),
    Ratio("rate", "turns", per=EPISODES, share=False),
    Ratio("endings.horizon", "ending.horizon", per=EPISODES),
    Total("failed", "ending.failed"),
)


def made(rows: list[tuple[int, str, int, int, float | None, int]]) -> EpisodeTable:
    """A table of (world, ending, turns, hits, success, unseen)."""
    worlds, endings, turns, hits, success, unseen = zip(*rows, strict=True)
    failed = np.array([ending == "failed" for ending in endings])

    def facts(values: tuple[float | None, ...]) -> np.ndarray:
        return np.where(failed, np.nan, np.array(values, dtype=np.float64))

    return EpisodeTable(
        conditions=np.array(worlds) % 2,
        worlds=np.array(worlds),
        clusters=np.array(worlds) // 2,
        endings=np.array([ENDINGS.index(ending) for ending in endings]),
        facts={
            "turns": facts(turns),
            "hits": facts(tuple(map(min, hits, turns))),
            "success": facts(success),
            "unseen": facts(unseen),
        },
        faults=np.zeros(len(rows), dtype=bool),
    )


ROWS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.sampled_from(ENDINGS),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from([0.0, 1.0, 1 / 3, None]),
        st.sampled_from([0, 0, 0, 0, 1]),
    ),
    min_size=1,
    max_size=40,
)


@given(ROWS)
def test_a_worlds_number_is_that_of_its_episodes_alone(
    rows: list[tuple[int, str, int, int, float | None, int]],
) -> None:
    table = made(rows)
    for number in NUMBERS:
        each = number.each(table, table.worlds, 10)
        for world in range(10):
            alone = table.where(table.worlds == world)
            found = number.measured(alone, seed=0).value if len(alone) else None
            if len(alone):
                assert found == (None if np.isnan(each[world]) else each[world])


@given(ROWS, st.randoms())
def test_the_order_of_episodes_is_no_matter(
    rows: list[tuple[int, str, int, int, float | None, int]], dice: Random
) -> None:
    shuffled = [*rows]
    dice.shuffle(shuffled)
    for number in NUMBERS:
        one = number.measured(made(rows), seed=0)
        other = number.measured(made(shuffled), seed=0)
        assert (one.n, one.reason) == (other.n, other.reason)
        assert one.value == pytest.approx(other.value, abs=1e-12)


def test_worlds_count_equally_whatever_their_episodes_and_turns() -> None:
    table = made(
        [
            (0, "horizon", 4, 1, 0.0, 0),
            (0, "horizon", 2, 2, 1.0, 0),
            (1, "horizon", 1, 1, 1.0, 0),
        ]
    )
    numbers = {number.name: number.measured(table, seed=0) for number in NUMBERS}
    accuracy = numbers["accuracy"]
    assert (accuracy.value, accuracy.n) == (fmean([fmean([0.25, 1.0]), 1.0]), 2)
    assert (numbers["of episodes"].value, numbers["of episodes"].n) == (0.75, 3)
    assert (numbers["pooled"].value, numbers["pooled"].n) == (4 / 7, 7)
    assert (numbers["success"].value, numbers["success"].n) == (2 / 3, 3)
    assert numbers["length"].value == pytest.approx(7 / 3)


def test_what_is_missing_anywhere_refuses_the_run_and_costs_its_world_alone() -> None:
    table = made([(0, "horizon", 4, 1, 0.0, 3), (1, "horizon", 2, 1, 0.0, 0)])
    number = Ratio("pooled", "hits", per="turns", missing=MISSING)
    found = number.measured(table, seed=0)
    assert (found.value, found.reason) == (None, "3 of 6 turns are unseen")
    assert str(number.each(table, table.worlds, 2).tolist()) == "[nan, 0.5]"


def test_why_there_is_no_number_is_said() -> None:
    failed = made([(0, "failed", 4, 1, 0.0, 0)])
    goalless = made([(0, "horizon", 4, 1, None, 0)])
    number = Mean("success", "success", reason="there is no goal")
    assert number.measured(failed, seed=0).reason == "no episode was finished"
    assert number.measured(goalless, seed=0).reason == "there is no goal"
    faulty = replace(goalless, faults=np.array([True]))
    reason = "the facts of 1 of 1 episodes failed"
    assert number.measured(faulty, seed=0).reason == reason
    none = goalless.where(np.array([False]))
    assert number.measured(none, seed=0).reason == "no episode was finished"


@pytest.mark.parametrize(
    "number", [Mean("m", "hits"), Ratio("r", "hits", per=EPISODES)]
)
def test_a_share_outside_its_bounds_is_a_fault_beyond_rounding(number: Number) -> None:
    table = made([(world, "horizon", 4, 1, 0.0, 0) for world in range(8)])
    rounded = replace(table, facts={"hits": np.full(8, 1 + 2e-16)})
    assert number.measured(rounded, seed=0).value == 1
    assert number.each(rounded, table.worlds, 8).tolist() == [1.0] * 8
    wrong = replace(table, facts={"hits": np.full(8, 1.1)})
    for ask in (
        lambda: number.measured(wrong, seed=0),
        lambda: number.each(wrong, table.worlds, 8),
    ):
        with pytest.raises(ValueError, match="hits must lie between 0 and trials"):
            ask()


def test_worlds_that_look_alike_in_other_clusters_are_other_worlds() -> None:
    heads = [
        Head(f"0/{i}/0", 0, "same", cluster, "horizon")
        for i, cluster in enumerate(("a", "b", "b"))
    ]
    table = replace(EpisodeTable.of(heads), facts={"hits": np.array([1.0, 0.0, 0.5])})
    found = Mean("hits", "hits", over="worlds").measured(table, 0)
    assert (found.value, found.n) == (0.625, 2)


def test_a_number_of_some_runs_alone_has_a_reason_or_is_not_there() -> None:
    metric = EpisodeMetric(
        columns=("fog",), facts=lambda *_: {"fog": None}, numbers=(ONLY,)
    )
    calm = sample_evidence()
    assert not metric(calm)
    foggy = replace(metric, facts=lambda *_: {"fog": 1})
    assert [one.value for one in foggy(calm)] == [1.0]
    lost = [replace(one, ending="failed", failure="lost") for one in calm.trajectories]
    (found,) = metric(replace(calm, trajectories=lost))
    assert found.reason == "no episode was finished"


ONLY = Mean("fog", "fog", only="fog")
