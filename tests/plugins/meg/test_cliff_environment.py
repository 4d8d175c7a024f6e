"""The cliff world as agents meet it."""

from collections.abc import Mapping
from typing import Any

import pytest

from gde.errors import ConfigError, GdeError
from gde.request.settings import build
from gde.testing import check_environment
from gde_plugins.meg.cliffworld.environment import CliffWorldEnvironment
from gde_plugins.meg.config import CliffWorldConfig

SHOWN = """\
ACCCCCCCCG
__________
__________
__________
The agent stands in row 0, column 0; 30 steps are left."""


def make(**config: Any) -> CliffWorldEnvironment:
    return CliffWorldEnvironment(CliffWorldConfig(**config))


@pytest.mark.parametrize(
    "config", [{}, {"width": 5, "goal_length": 3, "wind": 0.0}, {"horizon": 3}]
)
def test_the_contract(config: Mapping[str, Any]) -> None:
    check_environment(lambda: make(**config))


def test_what_the_agent_sees() -> None:
    environment = make()
    assert environment.reset(0).text == SHOWN
    task = environment.task()
    assert task.objective == "Earn as much as possible in 30 steps."
    assert "With probability 0.3 the wind" in task.rules


def test_a_step_pays_for_the_cell_it_is_taken_in() -> None:
    environment = make(wind=0.0, height=2, width=2, horizon=3)
    environment.reset(0)
    paid = [
        environment.step(action).reward
        for action in ("UP-RIGHT", "UP-RIGHT", "DOWN-LEFT")
    ]
    assert paid == [-1.0, 10.0, 10.0]
    assert environment.state().facts == {"agent": [1, 0], "time": 3}


def test_the_world_ends_with_its_horizon() -> None:
    environment = make(horizon=2)
    environment.reset(0)
    assert not environment.step("UP-LEFT").terminated
    assert environment.step("UP-LEFT").terminated
    with pytest.raises(ValueError, match="over after 2 steps"):
        environment.step("UP-LEFT")


def test_the_seed_decides_about_the_wind_alone() -> None:
    environment, ends = make(), []
    for seed in range(8):
        environment.reset(seed)
        assert environment.world() == make().world()
        for _ in range(3):
            environment.step("DOWN-RIGHT")
        ends.append(environment.state().index)
    assert len(set(ends)) > 1


def test_before_the_first_reset() -> None:
    with pytest.raises(GdeError, match="call reset"):
        make().step("UP-LEFT")


def test_an_unknown_action_and_a_foreign_snapshot() -> None:
    environment = make()
    environment.reset(0)
    with pytest.raises(
        ValueError,
        match="takes the actions UP-LEFT, UP-RIGHT, DOWN-LEFT, DOWN-RIGHT, got 'UP'",
    ):
        environment.step("UP")
    with pytest.raises(ValueError, match="wanted a snapshot of this episode"):
        environment.restore((0, 31))


def test_a_goal_that_does_not_fit_is_refused_by_the_configuration() -> None:
    with pytest.raises(
        ConfigError, match="goal_length of at most 2 in a world of 2 x 10, got 3"
    ):
        build(CliffWorldConfig, {"height": 2, "goal_length": 3}, "env")
