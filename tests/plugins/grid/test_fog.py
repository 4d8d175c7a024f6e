"""A grid in fog: what is shown, what is recorded, and how the belief oracle fares."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_text import locate
from hypothesis import given, settings
from hypothesis import strategies as st

from gde import Choice, Plan
from gde.data.observation import State
from gde.errors import ConfigError, GdeError
from gde.numerics.tabular import solve
from gde.parts.agent import Brief
from gde.parts.environment import HasMDP, HasWorlds
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.grid.composition import compose
from gde_plugins.grid.conditions.fog import FoggyGrid, GridWorld, visible
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.grid import Grid

few = settings(max_examples=15)
seeds = st.integers(0, 2**32)
walks = st.lists(st.integers(0, 3), max_size=30)


def begun(seed: int, **config: Any) -> GridWorld:
    world = compose(GridConfig(**{"view_radius": 3, **config}))
    world.reset(seed)
    return world


def facts(world: GridWorld) -> dict[str, Any]:
    return dict(world.state().facts)


def symbols(text: str) -> dict[tuple[int, int], str]:
    return {cell: text[slice(*place)] for cell, place in locate(text).items()}


def shown(world: GridWorld) -> dict[tuple[int, int], str]:
    return symbols(world.restore(world.snapshot()).text)


def follow(
    world: GridWorld, choose: Callable[[list[str]], str], limit: int = 1000
) -> list[State]:
    """The states of an episode in which one of the belief oracle's actions is taken
    each turn.
    """
    states = [world.state()]
    while len(states) <= limit:
        outcome = world.step(choose(facts(world)["belief_optimal"]))
        states.append(world.state())
        if outcome.terminated:
            return states
    raise AssertionError("the goal was not reached")


@few
@given(seeds, walks, st.sampled_from([1, 2, 3, 9]))
def test_the_text_is_the_grids_where_seen_and_fog_elsewhere(
    seed: int, walk: list[int], radius: int
) -> None:
    foggy, clear = begun(seed, size=9, view_radius=radius), compose(GridConfig(size=9))
    clear.reset(seed)
    seen = np.zeros((9, 9), dtype=bool)
    for move in [None, *walk]:
        actions = clear.mdp().actions
        text = foggy.step(actions[move]).observation.text if move is not None else None
        if move is not None and clear.step(actions[move]).terminated:
            break
        grid = Grid.from_record(clear.world(), clear.state())
        before, seen = seen, seen | visible(grid.walls, grid.agent, radius)
        assert (before <= seen).all()
        truth, drawn = shown(clear), shown(foggy) if text is None else symbols(text)
        assert drawn == {
            cell: symbol if seen[cell] else "*" for cell, symbol in truth.items()
        }
        known = facts(foggy)["known"]
        assert {cell: known[cell[0]][cell[1]] for cell in drawn} == {
            cell: grid.rows[cell[0]][cell[1]] if seen[cell] else "*" for cell in drawn
        }


@few
@given(seeds, walks)
def test_with_current_sight_old_ground_is_hidden_but_the_oracle_remembers(
    seed: int, walk: list[int]
) -> None:
    now, lasting = (
        begun(seed, size=9, reveal=reveal) for reveal in ("current", "cumulative")
    )
    for move in walk:
        action = now.mdp().actions[move]
        lasting.step(action)
        if now.step(action).terminated:
            return
        assert facts(now) == facts(lasting)
        grid = Grid.from_record(now.world(), now.state())
        in_sight = visible(grid.walls, grid.agent, 3)
        assert {cell for cell, symbol in shown(now).items() if symbol != "*"} == {
            *map(tuple, np.argwhere(in_sight))
        }


@few
@given(
    seeds,
    st.sampled_from([7, 11]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1, 3]),
    seeds,
)
def test_the_belief_oracle_always_arrives_whatever_ties_it_takes(
    seed: int, size: int, density: float, radius: int, ties: int
) -> None:
    world, rng = (
        begun(seed, size=size, density=density, view_radius=radius),
        np.random.default_rng(ties),
    )
    states = follow(world, lambda actions: str(rng.choice(actions)))
    assert len(states) - 1 >= int(world.world().labels["distance"])
    assert all(state.facts["belief_optimal"] for state in states[:-1])


@few
@given(seeds)
def test_the_world_names_the_oracles_steps_and_grants_a_multiple_of_the_most(
    seed: int,
) -> None:
    world = begun(seed, size=11, density=0.7)
    steps: Any = world.world().facts["explorer_steps"]
    follow(world, lambda actions: actions[0], limit=steps[0])
    assert (len(steps), min(steps) >= int(world.world().labels["distance"])) == (
        4,
        True,
    )
    assert world.task().horizon == math.ceil(1.5 * max(steps))


def test_where_all_is_in_sight_the_belief_oracle_is_the_informed_one() -> None:
    world = begun(3, size=9, density=0.0, view_radius=9)
    assert "*" not in "".join(row[1:-1] for row in facts(world)["known"][1:-1])
    model = world.mdp()
    best = solve(model).optimal[world.state().index]
    assert facts(world)["belief_optimal"] == [
        model.actions[a] for a in np.flatnonzero(best)
    ]
    assert set(world.world().facts["explorer_steps"]) == {
        world.world().labels["distance"]
    }  # type: ignore[arg-type]


def test_model_state_and_reward_are_those_of_the_grid() -> None:
    foggy, clear = begun(5, size=9), compose(GridConfig(size=9))
    clear.reset(5)
    assert (foggy.state().index, facts(foggy)["agent"]) == (
        clear.state().index,
        clear.state().facts["agent"],
    )
    assert all(
        (a != b).nnz == 0
        for a, b in zip(foggy.mdp().transition, clear.mdp().transition, strict=True)
    )
    assert foggy.mdp() is foggy.mdp()
    counterfactuals = clear.world(), foggy.world()
    assert counterfactuals[0].cluster == counterfactuals[1].cluster
    assert counterfactuals[0].id != counterfactuals[1].id
    assert (
        counterfactuals[1].facts["view_radius"],
        counterfactuals[1].facts["reveal"],
    ) == (3, "cumulative")
    assert counterfactuals[0].labels == counterfactuals[1].labels


def test_the_rules_explain_the_fog() -> None:
    for reveal, phrase in (
        ("cumulative", "stays shown"),
        ("current", "hidden again when it is out of sight"),
    ):
        rules = begun(0, reveal=reveal).task().rules
        assert all(
            part in rules
            for part in ("G the goal", "* is a hidden cell", "up to 3 rows", phrase)
        )


def test_other_words_for_cells_and_moves() -> None:
    words = {
        "symbols": "A=@/G=X/#=%",
        "actions": "NORTH/SOUTH/WEST/EAST",
        "transform": "rotate90",
    }
    plain, renamed = begun(2, size=9, transform="rotate90"), begun(2, size=9, **words)
    table = str.maketrans("AG#", "@X%")
    assert {
        cell: symbol.translate(table) for cell, symbol in shown(plain).items()
    } == shown(renamed)
    names = dict(zip(plain.mdp().actions, renamed.mdp().actions, strict=True))
    for fact in ("belief_optimal", "known_walls", "known_dead_ends"):
        assert [names[action] for action in facts(plain)[fact]] == facts(renamed)[fact]
    assert facts(plain)["known"] == facts(renamed)["known"]


@pytest.mark.extended
@pytest.mark.parametrize("reveal", ["cumulative", "current"])
def test_the_contract(reveal: str) -> None:
    config = build(GridConfig, {"size": 9, "view_radius": 2, "reveal": reveal}, "env")
    check_environment(lambda: compose(config))
    assert isinstance(compose(config), HasMDP)
    assert isinstance(compose(config), HasWorlds)


@pytest.mark.parametrize("perturbation", ["none", "move_goal"])
def test_nothing_before_reset(perturbation: Any) -> None:
    for world in (
        compose(GridConfig(perturbation=perturbation, view_radius=radius))
        for radius in (None, 3)
    ):
        for ask in (
            world.state,
            world.task,
            world.world,
            world.mdp,
            lambda world=world: world.step("UP"),
        ):
            with pytest.raises(GdeError, match="no episode yet: call reset"):
                ask()


def test_a_foreign_snapshot() -> None:
    with pytest.raises(ValueError, match="wanted a snapshot of this episode, got 3"):
        begun(0).restore(3)


def test_the_fog_is_only_where_it_is_asked_for() -> None:
    assert isinstance(compose(GridConfig(view_radius=1)), FoggyGrid)
    assert not isinstance(compose(GridConfig()), FoggyGrid)


def test_gymnasiums_grid_takes_the_same_settings() -> None:
    import gymnasium

    import gde_plugins.gymnasium  # noqa: F401 - makes the name known

    text, _ = gymnasium.make("gde/Grid-v0", view_radius=2, size=9).reset(seed=3)
    assert "*" in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"view_radius": 0},
            "env.view_radius.*: wanted greater than or equal to 1, got 0",
        ),
        (
            {"reveal": "never"},
            "env.reveal: wanted 'cumulative' or 'current', got 'never'",
        ),
        (
            {"view_radius": 3, "symbols": "_=*"},
            r"env: wanted symbols other than \*, which stands for fog, got _=\*",
        ),
    ],
)
def test_refused_configurations(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(GridConfig, values, "env")


def test_a_sweep_of_the_radius_pairs_each_world_with_its_counterfactual(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": 9, "view_radius": [None, 2]}),
        agent=Choice(name="explorer"),
        episodes=6,
        metrics=(
            Choice(name="exploration"),
            Choice(name="pairs", config={"measures": ["accuracy"]}),
        ),
    )
    found = evaluate(plan, tmp_path / "run", Catalogue.default()).measurements
    assert {
        each.where["view_radius"] for each in found if "view_radius" in each.where
    } == {2}
    (difference,) = (each for each in found if each.name == "pairs.accuracy.difference")
    assert (difference.n, difference.where) == (6, {"view_radius": 2})
    assert difference.value is not None
    assert difference.value <= 0
    assert {each.value for each in found if each.name == "exploration.accuracy"} == {
        1.0
    }


def test_the_explorer_does_what_the_belief_oracle_says() -> None:
    offer = Catalogue.default().find("agent", "explorer").offer
    world = begun(4, size=11, density=0.8)
    agent = offer.made(offer.config(ties="first"), PlainContext())
    agent.begin(Brief(task=world.task(), seed=0, environment=world))
    steps: Any = world.world().facts["explorer_steps"]
    for turn in range(steps[0]):
        best = facts(world)["belief_optimal"]
        decision = asyncio.run(agent.act(world.restore(world.snapshot())))
        assert decision.action == best[0]
        assert world.step(decision.action).terminated == (turn == steps[0] - 1)
