"""Goal-directedness from action probabilities, against samples and against the tabular
solver.
"""

from dataclasses import replace

import numpy as np
import pytest
from meg_studies.language.tabular_agent import Tabulated, expected
from walking import mazes

from gde_plugins.meg import from_trajectories, soft_policy
from gde_plugins.meg.trajectories.sample import planning_horizon

STEPS = 30


def soft(beta: float, seed: int = 0) -> Tabulated:
    (world,) = mazes(1, first=seed)
    ahead = planning_horizon(world)
    return Tabulated(
        mdp=world,
        probabilities=soft_policy(world, beta, ahead).probabilities[0],
        steps=STEPS,
    )


def test_samples_tend_to_it() -> None:
    agent, rng = soft(0.5), np.random.default_rng(0)
    exact = expected([agent])
    sampled = from_trajectories([agent.draw(rng, "") for _ in range(400)], rng=rng)
    assert sampled.value == pytest.approx(exact.value, rel=0.15)
    assert sampled.plug_in == pytest.approx(exact.value, rel=0.15)


def test_the_rationality_of_a_soft_optimal_agent_is_found() -> None:
    assert expected([soft(0.7), soft(0.7, 1)]).beta == pytest.approx(0.7, rel=1e-3)


def test_random_choice_has_none_and_the_optimal_agent_an_infinite_rationality() -> None:
    agent = soft(0.5)
    random = replace(agent, probabilities=np.full_like(agent.probabilities, 1 / 4))
    assert expected([random]).value == pytest.approx(0, abs=1e-9)
    found = expected([soft(np.inf)])
    assert found.value > expected([agent]).value
    assert found.beta > 10


def test_avoidance_is_negative_and_silence_is_worth_nothing() -> None:
    assert expected([soft(-0.5)]).signed < 0
    agent = soft(0.5)
    silent = replace(agent, probabilities=agent.probabilities / 2, steps=4 * STEPS)
    assert silent.taken.sum() <= 2 * STEPS + 1e-9
    assert (
        0
        < expected([silent]).value
        <= expected([replace(agent, steps=4 * STEPS)]).value + 1e-9
    )


def test_counting_stops_where_it_is_told_to() -> None:
    agent = soft(0.5)
    until = np.zeros(agent.mdp.n_states, dtype=bool)
    assert agent.taken.sum() == pytest.approx(replace(agent, until=until).taken.sum())
    assert replace(agent, until=agent.mdp.start > 0).taken.sum() == 0
