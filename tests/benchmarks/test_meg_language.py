"""A language model's action probabilities, and goals swapped at test time."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from meg_studies.config import LanguageConfig
from meg_studies.language.policies import policies_of
from meg_studies.language.scenes import Scene, swaps
from meg_studies.language.study import LanguageStudy
from meg_studies.placebo import goal_of

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Agent, Brief
from gde.testing import check_reproduction
from gde.testing.context import PlainContext

SETTINGS = {"size": 7, "density": 1.0}
MOVES = ("UP", "DOWN", "LEFT", "RIGHT")


class Reader:
    """Steps to the goal where it is beside it, else anywhere: it reads where the goal
    is.
    """

    def begin(self, brief: Brief) -> None:
        pass

    async def act(self, observation: Observation) -> Decision:
        raise AssertionError("nothing is played")

    async def action_probabilities(
        self, observation: Observation, least: float
    ) -> Mapping[str, float]:
        rows = [line.split()[1:] for line in observation.text.splitlines()[1:]]
        a, g = (
            next(
                (i, row.index(position))
                for i, row in enumerate(rows)
                if position in row
            )
            for position in "AG"
        )
        pull = [a[0] - g[0], g[0] - a[0], a[1] - g[1], g[1] - a[1]]
        weights = np.exp(0.5 * np.array(pull))
        return dict(zip(MOVES, (0.9 * weights / weights.sum()).tolist(), strict=True))


class Study(LanguageStudy):
    def _make(self) -> Agent:
        return Reader()


STUDY = Study(LanguageConfig(worlds=2, samples=2, episodes=(1, 3)), PlainContext())
"""Computes its tables once."""


def test_the_agent_is_put_everywhere_and_the_goal_elsewhere(tmp_path: Path) -> None:
    for swap in swaps(3, SETTINGS, tmp_path):
        before, after = swap.before, swap.after
        np.testing.assert_array_equal(before.mdp.start, after.mdp.start)
        assert not (before.goal & after.goal).any()
        for scene in (before, after):
            assert {view.state for view in scene.views} == {
                *np.flatnonzero(~goal_of(scene.mdp)).tolist()
            }
            assert len({view.observation.text for view in scene.views}) == len(
                scene.views
            )
            assert scene.task.horizon == before.task.horizon, (
                "the places are equally far away"
            )


def test_policies_hold_what_is_told(tmp_path: Path) -> None:
    (swap,) = swaps(1, SETTINGS, tmp_path)
    before, after = asyncio.run(policies_of(Reader, [swap.before, swap.after], 0.01))
    np.testing.assert_allclose(before[~swap.before.goal].sum(axis=1), 0.9)
    assert (before[swap.before.goal] == 0).all()
    assert not np.allclose(before, after)


def test_an_agent_that_does_not_tell_is_named(tmp_path: Path) -> None:
    class Silent:
        def begin(self, brief: Brief) -> None:
            pass

        async def act(self, observation: Observation) -> Decision:
            return Decision.act("UP")

    (swap,) = swaps(1, SETTINGS, tmp_path)
    with pytest.raises(GdeError, match="Silent does not tell its action probabilities"):
        asyncio.run(policies_of(Silent, [swap.before], 0.01))


def test_the_contract() -> None:
    check_reproduction(lambda: STUDY)


def test_what_reads_the_goal_is_told_from_a_habit() -> None:
    rows = {row.quantity: row for row in STUDY.compare({})}
    agent, habit, random = (
        rows[name] for name in ("agent", "habit: acts as before the swap", "random")
    )
    old = "towards the place where it was"
    assert rows["probability of a usable answer"].ours.value == pytest.approx(0.9)
    assert agent.others["as observed alone"].value == pytest.approx(
        habit.others["as observed alone"].value
    )
    assert agent.ours.value is not None
    assert agent.ours.value > (agent.others[old].value or 0.0) > -1
    assert (habit.others[old].value or 0.0) > (habit.ours.value or 0.0)
    assert random.ours.value == pytest.approx(0, abs=1e-9)


def test_samples_are_held_against_the_exact_value() -> None:
    rows = {row.quantity: row for row in STUDY.compare({})}
    alone = rows["agent"].others["as observed alone"].value
    assert rows["from probabilities"].ours.value == pytest.approx(alone, rel=0.05), (
        "the other place is out of the way"
    )
    assert rows["from 3 episodes a grid"].ours.n == 2
    assert (rows["from 3 episodes a grid"].others["typical error"].value or 0) >= 0
    assert rows["agent"].ours.n == 2


def test_nano_tells(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from gde_plugins.language_models.config import NanoConfig
    from gde_plugins.language_models.plugin import make_nano
    from gde_plugins.text_agent.agent import TextAgent
    from gde_plugins.text_agent.config import TextAgentConfig

    model = make_nano(NanoConfig(), PlainContext())
    (swap,) = swaps(1, SETTINGS, tmp_path)
    scene = Scene(
        mdp=swap.before.mdp,
        goal=swap.before.goal,
        task=swap.before.task,
        views=swap.before.views[:3],
    )
    (policy,) = asyncio.run(
        policies_of(
            lambda: TextAgent(TextAgentConfig(), PlainContext(models={"nano": model})),
            [scene],
            0.05,
        )
    )
    told = [policy[view.state].sum() for view in scene.views]
    assert 0.8 < np.mean(told) <= 1 + 1e-9
    model.close()
