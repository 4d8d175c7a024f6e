"""Baseline measures on walkers of which the truth is known."""

import numpy as np
import pytest
from meg_studies.baselines import study
from meg_studies.baselines.devices import _learned, probability_of_agent
from meg_studies.baselines.first_choices import (
    RESPONDS,
    response_to_actions,
    response_to_goal,
)
from meg_studies.baselines.study import ACTIONS, DEVICES, GOAL
from meg_studies.baselines.walkers import BLIND, SEEKING
from meg_studies.config import BaselinesConfig
from walking import episodes, mazes

from gde.testing import check_reproduction
from gde_plugins.meg.worlds import cliff_world

WORLDS = mazes(12, density=0.5)


@pytest.mark.parametrize("agent", ["optimal", "soft, beta 1"])
def test_who_knows_the_goal_is_no_device(agent: str) -> None:
    assert probability_of_agent(episodes(agent, WORLDS)) > 0.95


def test_random_choice_and_a_habit_are_devices() -> None:
    assert probability_of_agent(episodes("random", WORLDS)) < 0.5
    assert probability_of_agent(episodes("wall-following", WORLDS)) < 0.05


def test_an_agent_with_another_goal_is_no_device_and_its_choices_ignore_the_goal() -> (
    None
):
    assert probability_of_agent(episodes("goal-swapped", WORLDS)) > 0.95
    assert (
        response_to_goal(BLIND["goal-swapped"], WORLDS[0], np.random.default_rng(0))
        == 0
    )


@pytest.mark.parametrize("name", [*BLIND, *SEEKING])
def test_the_first_choices_of_who_knows_the_goal_depend_on_it(name: str) -> None:
    found = [
        response_to_goal({**BLIND, **SEEKING}[name], world, np.random.default_rng(i))
        for i, world in enumerate(WORLDS[:3])
    ]
    responds = np.mean([each for each in found if each is not None]) > RESPONDS
    assert responds == (name in SEEKING)


def test_habits_perceive_what_actions_do() -> None:
    rng = np.random.default_rng(0)
    assert response_to_actions(BLIND["non-reversing"], WORLDS[0], rng) > RESPONDS
    assert response_to_actions(BLIND["random"], WORLDS[0], rng) == 0


def test_what_is_learned_is_the_product_of_predictions() -> None:
    """Krichevsky and Trofimov's rule one action at a time."""
    rng = np.random.default_rng(0)
    context, actions = rng.integers(3, size=40), rng.integers(4, size=40)
    counts, total = np.full((3, 4), 0.5), 0.0
    for where, action in zip(context, actions, strict=True):
        total += np.log(counts[where, action] / counts[where].sum())
        counts[where, action] += 1
    assert _learned(context, actions, 4) == pytest.approx(total)


def test_worlds_with_chance_are_refused() -> None:
    from gde_plugins.meg.trajectories.episodes import Episode

    played = Episode(mdp=cliff_world(), states=np.array([0]), actions=np.array([0]))
    with pytest.raises(ValueError, match="leave nothing to chance"):
        probability_of_agent([played])


def test_the_contract_and_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "BLIND", {"random": BLIND["random"]})
    monkeypatch.setattr(study, "SEEKING", {"optimal": SEEKING["optimal"]})
    made = study.baselines_study(BaselinesConfig(samples=1, worlds=8, size=7))
    check_reproduction(lambda: made)
    rows = made.compare({})
    assert len(rows) == 3 * 2
    assert all(row.others.keys() == {DEVICES, GOAL, ACTIONS} for row in rows)
