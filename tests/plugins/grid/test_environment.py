"""The grid world as an environment: rules, records, snapshots, and what its
configuration refuses.
"""

import math
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.errors import ConfigError, GdeError
from gde.numerics.tabular import solve
from gde.offers import Capability
from gde.parts.environment import Environment, HasMDP, HasWorlds
from gde.request.settings import build
from gde.testing.context import PlainContext
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.generation.transforms import Transform
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.plugin import gde_environments
from gde_plugins.grid.rendering.layout import render_text
from gde_plugins.grid.solver.dynamics import ACTIONS

MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
walks = st.lists(st.sampled_from(sorted(MOVES)), max_size=60)
few = settings(max_examples=40)


def begun(seed: int = 0, **config: object) -> GridEnvironment:
    environment = GridEnvironment(GridConfig(**config))  # type: ignore[arg-type]
    environment.reset(seed)
    return environment


def grid_of(environment: GridEnvironment) -> Grid:
    """The grid as it is recorded."""
    return Grid.from_record(environment.world(), environment.state())


def optimal_action(environment: GridEnvironment) -> str:
    model, index = environment.mdp(), environment.state().index
    assert index is not None
    return model.actions[int(solve(model).optimal[index].argmax())]


def test_the_page_on_grid_worlds_names_every_setting() -> None:
    page = (Path(__file__).parents[3] / "docs" / "grid-worlds.md").read_text(
        encoding="utf-8"
    )
    table = page.partition("| field |")[2].partition("\n## ")[0]
    assert {field.name for field in fields(GridConfig)} == {
        *re.findall(r"`(\w+)`", table)
    }


def test_offer() -> None:
    (offer,) = (each for each in gde_environments() if each.name == "grid")
    assert offer.config is GridConfig
    assert offer.gives == {
        Capability.STATE,
        Capability.MDP,
        Capability.GOALS,
        Capability.SNAPSHOT,
        Capability.SIMULATOR,
        Capability.MAP,
        Capability.WORLDS,
    }
    environment = offer.made(GridConfig(), PlainContext())
    assert isinstance(environment, Environment)
    assert isinstance(environment, HasMDP)
    assert isinstance(environment, HasWorlds)
    assert environment.worlds() == []


@few
@given(st.integers(0, 2**32), walks)
def test_a_walk_follows_the_rules(seed: int, walk: list[str]) -> None:
    environment = begun(seed, size=9)
    grid = Grid.from_record(environment.world(), environment.state())
    here = grid.agent
    for action in walk:
        outcome = environment.step(action)
        ahead = (here[0] + MOVES[action][0], here[1] + MOVES[action][1])
        here = here if grid.rows[ahead[0]][ahead[1]] == "#" else ahead
        assert environment.state().facts == {"agent": list(here)}
        assert outcome.observation.text == render_text(grid.rows, here, grid.goal)
        assert outcome.observation.actions == ACTIONS
        assert (outcome.reward, outcome.terminated, outcome.truncated) == (
            float(here == grid.goal),
            here == grid.goal,
            False,
        )
        if outcome.terminated:
            break


@pytest.mark.parametrize("seed", range(10))
def test_the_optimal_way_has_the_length_that_the_world_names(seed: int) -> None:
    environment = begun(seed, size=15, density=0.7)
    world, task = environment.world(), environment.task()
    distance = world.labels["distance"]
    assert isinstance(distance, int)
    assert task.horizon == math.ceil(1.5 * distance)
    rewards = [
        environment.step(optimal_action(environment)).reward for _ in range(distance)
    ]
    assert rewards == [0.0] * (distance - 1) + [1.0]


def test_world_and_task() -> None:
    environment = begun(3, size=9, density=0.25)
    world, task = environment.world(), environment.task()
    grid = Grid.from_record(world, environment.state())
    assert (
        world.facts["agent"] == list(grid.agent) == environment.state().facts["agent"]
    )
    assert (
        (world.labels["size"], world.labels["density"])
        == (world.facts["size"], world.facts["density"])
        == (9, 0.25)
    )
    assert task.actions == ACTIONS
    for word in ("A is the agent", "G the goal", "# a wall", "_ a free cell", *ACTIONS):
        assert word in task.rules


def test_world_says_the_same_after_steps() -> None:
    environment = begun(1)
    before = environment.world()
    for action in ("UP", "DOWN", "LEFT", "RIGHT"):
        environment.step(action)
    assert environment.world() == before


def test_equal_worlds_have_equal_ids_whatever_the_seed() -> None:
    worlds = []
    for seed in range(300):
        world = begun(seed, size=5, density=0.0).world()
        worlds.append((world.id, str(world.facts["agent"]) + str(world.facts["goal"])))
    distinct = {key for key, _ in worlds}
    assert len(distinct) == len({place for _, place in worlds}) == len(set(worlds))
    assert 50 < len(distinct) <= 9 * 8


@few
@given(
    st.integers(0, 2**32),
    st.sampled_from(
        ["reflect", "rotate90", "transpose", "swap", "swap+reflect+rotate180"]
    ),
)
def test_transforms_are_variations_of_the_grid_of_the_same_seed(
    seed: int, name: str
) -> None:
    plain, varied = begun(seed, size=9), begun(seed, size=9, transform=name)
    base, world = plain.world(), varied.world()
    assert Transform.named(name).apply(grid_of(plain)) == grid_of(varied)
    assert base.cluster == world.cluster == base.id
    assert {**base.labels, "transform": name} == world.labels
    assert base.labels["transform"] == "none"
    assert plain.task().horizon == varied.task().horizon


def test_the_record_of_a_transformed_grid_leads_back() -> None:
    plain, varied = begun(5, size=9), begun(5, size=9, transform="transpose+reflect")
    back, moves = (
        np.array(varied.world().facts["to_base"]),
        varied.world().facts["moves"],
    )
    base, counterfactual = grid_of(plain), grid_of(varied)
    assert tuple(back @ (*counterfactual.goal, 1)) == base.goal
    for row, symbols in enumerate(counterfactual.rows):
        for column, symbol in enumerate(symbols):
            base_row, base_column = back @ (row, column, 1)
            assert base.rows[base_row][base_column] == symbol
    assert moves == {name: [*move] for name, move in MOVES.items()}


def test_equal_grids_have_equal_ids_however_they_came_about() -> None:
    assert begun(0, transform="rotate90+rotate270").world().id == begun(0).world().id
    assert begun(0, transform="rotate90").world().id != begun(0).world().id


def test_horizon_is_not_rounded_up_by_floating_point() -> None:
    environment = begun(
        0, size=25, density=0.0, min_distance=10, max_distance=10, horizon_factor=1.1
    )
    assert environment.task().horizon == 11


def test_an_episode_has_at_most_as_many_turns_as_are_asked_for() -> None:
    plain = begun(0, size=9).task().horizon
    assert begun(0, size=9, horizon=1).task().horizon == 1
    assert begun(0, size=9, horizon=1000).task().horizon == plain > 1


def test_distance_bounds() -> None:
    for seed in range(20):
        assert begun(seed, size=11, min_distance=8, max_distance=9).world().labels[
            "distance"
        ] in {8, 9}
    with pytest.raises(
        GdeError,
        match=r"size 5 and density 0.0 with agent and goal 6 to 6 steps apart .* widen min_distance",
    ):
        begun(0, size=5, min_distance=6, density=0.0)


@few
@given(st.integers(0, 2**32), walks, walks)
def test_restore_goes_back(seed: int, before: list[str], after: list[str]) -> None:
    environment = begun(seed, size=11)

    def walk(actions: list[str]) -> list[tuple[str, float, bool]]:
        seen = []
        for action in actions:
            outcome = environment.step(action)
            seen.append((outcome.observation.text, outcome.reward, outcome.terminated))
            if outcome.terminated:
                break
        return seen

    if (
        walk(before)[-1:]
        and environment.state().facts["agent"] == environment.world().facts["goal"]
    ):
        return
    snapshot, state = environment.snapshot(), environment.state()
    first = walk(after)
    shown = environment.restore(snapshot)
    assert environment.state() == state
    assert shown.text == render_text(*_drawn(environment))
    assert walk(after) == first


def _drawn(
    environment: GridEnvironment,
) -> tuple[tuple[str, ...], tuple[int, int], tuple[int, int]]:
    grid = Grid.from_record(environment.world(), environment.state())
    return grid.rows, grid.agent, grid.goal


def test_reset_ends_what_was_before() -> None:
    environment = begun(0)
    first = environment.restore(environment.snapshot()).text
    environment.step("UP")
    assert environment.reset(1).text != first
    assert environment.reset(0).text == first


@pytest.mark.parametrize("action", ["up", "QUIT", "", "NORTH"])
def test_unknown_action(action: str) -> None:
    with pytest.raises(
        ValueError,
        match=re.escape(f"takes the actions UP, DOWN, LEFT, RIGHT, got {action!r}"),
    ):
        begun().step(action)


def test_no_step_after_the_end() -> None:
    environment = begun()
    while not environment.step(optimal_action(environment)).terminated:
        pass
    with pytest.raises(ValueError, match="the episode is over"):
        environment.step("UP")


@pytest.mark.parametrize("snapshot", ["0", -1, 10_000, None])
def test_foreign_snapshot(snapshot: object) -> None:
    with pytest.raises(ValueError, match="wanted a snapshot of this episode"):
        begun().restore(snapshot)


def test_nothing_before_reset() -> None:
    environment = GridEnvironment(GridConfig())
    with pytest.raises(GdeError, match="no episode yet: call reset"):
        environment.step("UP")


def test_model_is_in_step_with_the_environment() -> None:
    environment = begun(5, size=9)
    model, rng = environment.mdp(), np.random.default_rng(0)
    for _ in range(200):
        index, action = environment.state().index, int(rng.integers(4))
        terminated = environment.step(ACTIONS[action]).terminated
        assert model.transition[action][[index], [environment.state().index]] == 1
        if terminated:
            environment.reset(6)
            model = environment.mdp()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"size": 8},
            "env: wanted an odd size, since mazes are carved on every second cell, e.g. 7 or 9, got 8",
        ),
        ({"size": 3}, "env.size: wanted greater than or equal to 5, got 3"),
        ({"size": 103}, "env.size: wanted less than or equal to 101, got 103"),
        ({"density": 1.5}, "env.density: wanted less than or equal to 1, got 1.5"),
        (
            {"transform": "mirror"},
            "env.transform: wanted none, or one or several of reflect, .* joined by .*got 'mirror'",
        ),
        (
            {"size": 7, "min_distance": 17},
            "env: wanted min_distance of at most 16, the longest possible path in size 7, got 17",
        ),
        (
            {"min_distance": 0},
            "env.min_distance.*: wanted greater than or equal to 1, got 0",
        ),
        (
            {"min_distance": 50},
            "env: wanted min_distance of at most 16, the longest possible path in size 7, got 50",
        ),
        (
            {"horizon_factor": math.inf},
            "env.horizon_factor: wanted less than or equal to 1000, got inf",
        ),
        (
            {"horizon_factor": 0.5},
            "env.horizon_factor: wanted greater than or equal to 1, got 0.5",
        ),
        (
            {"min_distance": 9, "max_distance": 4},
            "env: wanted min_distance no greater than max_distance, got min_distance 9 and max_distance 4",
        ),
    ],
)
def test_refused_configurations(values: dict[str, int | float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(GridConfig, values, "env")
