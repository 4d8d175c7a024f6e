"""Evidence is split by place, and metrics are taken in each part."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gde import Evidence, GdeError, Measurement, RewardTrace
from gde.data.measure import Measure, Measures
from gde.numerics.by_world import Quantity, measured, split
from gde.numerics.episode_metric import EpisodeMetric
from gde.numerics.numbers import Mean
from gde.parts.metric import Declared
from gde.testing.samples import sample_evidence


def turns(evidence: Evidence) -> Sequence[Measurement]:
    """The number of turns, where there are any."""
    n = sum(len(one.turns) for one in evidence.trajectories)
    reason = "" if n else "no turns"
    return (
        Measurement(
            name="turns",
            value=float(n) if n else None,
            unit="turns",
            n=n,
            reason=reason,
        ),
        Measurement(name="turns", value=1.0, unit="turns", n=n, where={"b": 1, "a": 2}),
    )


def test_every_episode_is_in_one_part_and_takes_its_rewards_along() -> None:
    sample = sample_evidence()
    traces = tuple(
        RewardTrace(model=model, episode=str(one.key), values=np.zeros(0))
        for model in ("x", "y")
        for one in sample.trajectories
    )
    evidence = Evidence(trajectories=sample.trajectories, reward_traces=traces, seed=5)
    parts = split(evidence, worlds_of(evidence))
    assert sum(len(part.trajectories) for part in parts.values()) == len(
        sample.trajectories
    )
    for world, part in parts.items():
        keys = [str(one.key) for one in part.trajectories]
        assert (
            {one.world.id for one in part.trajectories}
            == {part.part["world"]}
            == {world}
        )
        assert sorted(trace.episode for trace in part.reward_traces) == sorted(keys * 2)
        assert (part.seed, part.probe_reports) == (5, ())


def test_quantities_are_told_apart_and_what_has_no_value_is_left_out() -> None:
    sample = sample_evidence()
    have_turns = [bool(one.turns) for one in sample.trajectories]
    found = measured([("turns", turns)], sample, have_turns)
    whole = Quantity(name="turns", unit="turns")
    assert set(found[whole]) == {True}
    (broken_down,) = found.keys() - {whole}
    assert broken_down.where == {"a": 2, "b": 1}
    assert set(found[broken_down]) == {True, False}


def test_a_part_of_several_worlds_is_named_after_the_first() -> None:
    sample = sample_evidence()
    renamed = [
        replace(one, world=replace(one.world, id=f"w{i}"))
        for i, one in enumerate(sample.trajectories)
    ]
    every = ["all"] * len(renamed)
    (part,) = split(replace(sample, trajectories=renamed), every).values()
    assert part.part == {"world": "w0"}
    assert [one.world.id for one in part.trajectories][-1] != "w0"


def worlds_of(evidence: Evidence) -> list[str]:
    """The world of each episode."""
    return [one.world.id for one in evidence.trajectories]


TOLD = EpisodeMetric(
    columns=("turns", "first"),
    facts=lambda one, _: {
        "turns": len(one.turns),
        "first": one.turns[0].reward if one.turns else None,
    },
    numbers=(
        Mean("length", "turns", share=False),
        Mean("first", "first", share=False),
        Mean("never", "first", per="nowhere", share=False),
    ),
)
NOWHERE = replace(
    TOLD,
    columns=(*TOLD.columns, "nowhere"),
    facts=lambda one, model: {**TOLD.facts(one, model), "nowhere": 0},
)


@pytest.mark.parametrize("declared", [True, False])
def test_numbers_over_facts_are_those_of_each_part_alone(declared: bool) -> None:
    sample = sample_evidence()
    evidence = replace(
        sample, trajectories=[*sample.trajectories, *sample.trajectories]
    )
    measures = Measures((Measure("length", "Length", "turns"),))
    metric = Declared(NOWHERE, measures) if declared else NOWHERE
    keys = [str(one.key) for one in evidence.trajectories]
    some = [None, *keys[1:]]
    for places in (worlds_of(evidence), keys, some):
        found = measured([("turns", turns), ("told", metric)], evidence, places)
        alone = measured(
            [("turns", turns), ("told", lambda part: metric(part))], evidence, places
        )
        assert found == alone
        length = Quantity(name="length", unit="turns" if declared else "")
        assert found[length].keys() == {
            place
            for place, one in zip(places, evidence.trajectories, strict=True)
            if place is not None and one.ending != "failed"
        }
    assert {quantity.name for quantity in found} == {"turns", "length", "first"}
    assert measured([("told", metric)], evidence, [None] * len(keys)) == {}


def test_baselines_are_not_taken_in_each_world() -> None:
    sample = sample_evidence()
    measures = Measures((Measure("length", "Length", "turns", beside="first"),))
    found = measured([("told", Declared(NOWHERE, measures))], sample, worlds_of(sample))
    assert {quantity.name for quantity in found} == {"first"}


def test_facts_and_numbers_that_fail_name_their_metric() -> None:
    sample = sample_evidence()
    broken = replace(TOLD, facts=lambda *_: {})
    with pytest.raises(GdeError, match=r"metric 'odd' fails on world .*its facts are"):
        measured([("odd", broken)], sample, worlds_of(sample))
    beyond = replace(TOLD, numbers=(Mean("length", "turns"),))
    with pytest.raises(GdeError, match=r"metric 'odd' fails: ValueError.*between 0"):
        measured([("odd", beyond)], sample, worlds_of(sample))


def test_a_metric_that_raises_is_named_with_its_world() -> None:
    def broken(evidence: Evidence) -> Sequence[Measurement]:
        raise KeyError("lost")

    sample = sample_evidence()
    with pytest.raises(GdeError, match=r"metric 'odd' fails on world .*KeyError"):
        measured([("odd", broken)], sample, worlds_of(sample))


def test_a_refusal_is_told_as_a_sentence() -> None:
    def refusing(evidence: Evidence) -> Sequence[Measurement]:
        raise GdeError("its file is not there")

    sample = sample_evidence()
    with pytest.raises(GdeError, match=r"on world [^:]*: its file is not there$"):
        measured([("odd", refusing)], sample, worlds_of(sample))
