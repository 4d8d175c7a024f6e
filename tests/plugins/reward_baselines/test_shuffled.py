"""A reward for every observation that says nothing of progress."""

import asyncio
from dataclasses import replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.observation import OBJECTIVE, Observation
from gde.data.trajectory import Decision, Trajectory
from gde.data.transcript import Transcript
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines.models import Shuffled


def rewards(trajectory: Trajectory, seed: int = 0) -> Doubles:
    return asyncio.run(Shuffled(seed).rewards(Transcript.of(trajectory))).values


def test_what_looks_alike_earns_alike_wherever_it_is_seen() -> None:
    for one in sample_evidence().trajectories:
        backwards = replace(one, turns=one.turns[::-1])
        assert np.array_equal(rewards(one), rewards(backwards)[::-1])
        assert all(
            len({*rewards(replace(one, turns=(turn, turn)))}) == 1 for turn in one.turns
        )


def test_other_observations_earn_otherwise() -> None:
    one = next(one for one in sample_evidence().trajectories if one.turns)
    turns = [
        replace(one.turns[0], observation=Observation(text=f"seen {i}"))
        for i in range(10)
    ]
    assert len({*rewards(replace(one, turns=tuple(turns)))}) == 10


def test_it_follows_from_seed_objective_and_observation_alone() -> None:
    one = next(one for one in sample_evidence().trajectories if one.turns)
    again = replace(one, key=replace(one.key, repeat=one.key.repeat + 1))
    assert np.array_equal(rewards(one), rewards(again))
    acted = [
        replace(turn, decision=Decision.act("something else")) for turn in one.turns
    ]
    assert np.array_equal(rewards(one), rewards(replace(one, turns=tuple(acted))))
    named = replace(one, world=replace(one.world, id="another"))
    assert np.array_equal(rewards(one), rewards(named))
    facts = {**one.world.facts, OBJECTIVE: "another"}
    elsewhere = replace(one, world=replace(one.world, facts=facts))
    drawn = [rewards(one), rewards(one, seed=1), rewards(elsewhere)]
    assert np.array_equal(drawn[0], rewards(one))
    assert len({tuple(each) for each in drawn}) == 3
    assert all(((each >= 0) & (each < 1)).all() for each in drawn)
