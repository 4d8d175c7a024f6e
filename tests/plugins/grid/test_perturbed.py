"""An episode with a perturbation: when it happens, what is recorded, how many turns are
granted, who follows it.
"""

import math
from pathlib import Path
from typing import Any

import pytest
from drawn_text import locate
from hypothesis import given, settings
from hypothesis import strategies as st

from gde import Choice, Plan, load_evidence
from gde.data.cell_map import CellMap
from gde.errors import ConfigError
from gde.numerics.tabular import solve
from gde.parts.environment import HasMDP, HasWorlds
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_environment
from gde_plugins.grid.composition import compose
from gde_plugins.grid.conditions.fog import GridWorld
from gde_plugins.grid.conditions.perturbed import distance
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.rendering.layout import render_text

few = settings(max_examples=10)
seeds = st.integers(0, 2**32)
KINDS = ("put_back", "close_path", "move_goal", "distractor")


def begun(kind: str, seed: int = 0, turn: int = 3, **config: Any) -> GridWorld:
    values = {"perturbation": kind, "perturbation_turn": turn, "size": 9, **config}
    world = compose(build(GridConfig, values, "env"))
    world.reset(seed)
    return world


def grid_now(world: GridWorld) -> Grid:
    return Grid.from_record(world.world(), world.state())


def facts(world: GridWorld) -> dict[str, Any]:
    return dict(world.state().facts)


def best(world: GridWorld) -> str:
    model, index = world.mdp(), world.state().index
    assert index is not None
    return model.actions[int(solve(model).optimal[index].argmax())]


def shown(world: GridWorld) -> str:
    return world.restore(world.snapshot()).text


def play(world: GridWorld) -> tuple[int, list[dict[str, Any]]]:
    """Turns that an optimal agent takes, and the facts of every state."""
    states = [facts(world)]
    while not world.step(best(world)).terminated:
        states.append(facts(world))
    return len(states), states


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seeds, st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))
def test_an_optimal_agent_reaches_the_goal_within_the_turns_granted(
    kind: str, seed: int, turn: int, density: float
) -> None:
    world = begun(kind, seed, turn, density=density)
    turns, states = play(world)
    assert turns <= world.task().horizon
    happened = [state["perturbed"] for state in states]
    assert not any(happened[:turn])
    if len(states) > turn:
        possible = "not_perturbed" not in states[turn]
        assert happened[turn:] == [possible] * (len(states) - turn)
        now: dict[str, Any] = {**world.world().facts, **states[turn]}
        after = Grid(
            rows=tuple(now["rows"]), agent=tuple(now["agent"]), goal=tuple(now["goal"])
        )
        assert turns == turn + distance(after)


@few
@given(seeds, st.integers(1, 3))
def test_an_agent_that_is_put_back_is_granted_its_turns_again(
    seed: int, turn: int
) -> None:
    world = begun("put_back", seed, turn, min_distance=4)
    length = world.world().labels["distance"]
    assert isinstance(length, int)
    assert world.task().horizon == turn + math.ceil(1.5 * length)
    for _ in range(turn):
        world.step(best(world))
    assert facts(world)["agent"] == world.world().facts["agent"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_and_the_text_are_of_the_grid_as_it_is(kind: str) -> None:
    world = begun(kind, seed=3, min_distance=6)
    before, model = grid_now(world), world.mdp()
    for _ in range(3):
        assert shown(world) == render_text(
            before.rows, grid_now(world).agent, before.goal
        )
        assert world.mdp() is model
        world.step(best(world))
    after = grid_now(world)
    text = shown(world)
    drawn = {cell: text[slice(*place)] for cell, place in locate(text).items()}
    assert world.mdp() is not model
    assert world.mdp() is world.mdp()
    assert (after.rows != before.rows) == (kind == "close_path")
    assert (after.goal != before.goal) == (kind == "move_goal")
    coin = facts(world).get("distractor")
    assert [list(cell) for cell, symbol in drawn.items() if symbol == "C"] == (
        [coin] if coin else []
    )
    assert text.replace("C", "_") == render_text(after.rows, after.agent, after.goal)
    assert (coin is not None) == (kind == "distractor")


def test_a_distractor_is_covered_by_the_agent_and_there_again_behind_it() -> None:
    world = begun("distractor", seed=1, turn=0, min_distance=6)
    while towards := facts(world)["toward_distractor"]:
        assert "C" in shown(world)
        world.step(towards[0])
    assert facts(world)["agent"] == facts(world)["distractor"]
    assert "C" not in shown(world)
    free = next(action for action in world.mdp().actions if action_moves(world, action))
    world.step(free)
    assert "C" in shown(world)
    assert "C is a coin" in world.task().rules


def test_a_distractor_is_a_thing_of_the_map_once_it_is_there() -> None:
    world = begun("distractor", seed=1, turn=1, min_distance=6)
    before = CellMap.from_record(world.world(), world.state())
    world.step(best(world))
    after = CellMap.from_record(world.world(), world.state())
    assert [thing.name for thing in before.things] == ["agent", "goal"]
    assert [(thing.name, thing.letter, thing.kind) for thing in after.things[2:]] == [
        ("distractor", "C", "")
    ]
    assert list(after.place_of("distractor")) == facts(world)["distractor"]
    assert "things" not in begun("move_goal").world().facts


def action_moves(world: GridWorld, action: str) -> bool:
    snapshot, before = world.snapshot(), facts(world)["agent"]
    moved = not world.step(action).terminated and facts(world)["agent"] != before
    world.restore(snapshot)
    return moved


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seeds, st.lists(st.integers(0, 3), max_size=12), st.integers(0, 12))
def test_a_snapshot_brings_back_what_was_before_and_what_has_happened(
    kind: str, seed: int, walk: list[int], middle: int
) -> None:
    world, counterfactual = begun(kind, seed), begun(kind, seed)

    def walk_on(world: GridWorld, moves: list[int]) -> list[tuple[Any, ...]]:
        seen: list[tuple[Any, ...]] = []
        for move in moves:
            outcome = world.step(world.mdp().actions[move])
            seen.append((outcome, world.state()))
            if outcome.terminated:
                break
        return seen

    first = walk_on(world, walk[:middle])
    assert walk_on(counterfactual, walk[:middle]) == first
    if not first or not first[-1][0].terminated:
        snapshot, here = world.snapshot(), (world.state(), shown(world), world.mdp())
        rest = walk_on(world, walk[middle:])
        world.restore(snapshot)
        assert (world.state(), shown(world), world.mdp()) == here
        assert (
            walk_on(world, walk[middle:])
            == rest
            == walk_on(counterfactual, walk[middle:])
        )


def test_counterfactuals_share_their_base_and_say_what_differs() -> None:
    plain = compose(GridConfig(size=9))
    plain.reset(7)
    worlds = [begun(kind, seed=7).world() for kind in KINDS]
    assert {world.cluster for world in worlds} == {plain.world().cluster}
    assert len({plain.world().id, *(world.id for world in worlds)}) == 5
    assert [world.labels["perturbation"] for world in worlds] == [*KINDS]
    assert begun("put_back", seed=7, turn=5).world().id not in {
        world.id for world in worlds
    }


def test_what_cannot_happen_is_recorded_and_the_episode_goes_on() -> None:
    world = begun(
        "close_path", seed=1, turn=1, density=1.0, min_distance=6
    )  # a perfect maze has one way
    horizon = world.task().horizon
    world.step(best(world))
    assert facts(world)["perturbed"] is False
    assert (
        facts(world)["not_perturbed"]
        == "every cell between agent and goal is needed to reach it"
    )
    assert horizon == math.ceil(1.5 * int(world.world().labels["distance"]))
    play(world)


def test_names_and_transforms_of_the_grid_hold_after_the_perturbation_too() -> None:
    words: dict[str, Any] = {"actions": "NORTH/SOUTH/WEST/EAST", "symbols": "A=@"}
    both: dict[str, Any] = {"seed": 4, "min_distance": 6, "transform": "reflect"}
    plain, renamed = begun("move_goal", **both), begun("move_goal", **both, **words)
    names = dict(zip(plain.mdp().actions, renamed.mdp().actions, strict=True))
    for _ in range(4):
        assert shown(plain).replace("A", "@") == shown(renamed)
        assert facts(plain) == facts(renamed)
        action = best(plain)
        plain.step(action)
        renamed.step(names[action])


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seeds, st.integers(1, 4))
def test_in_fog_the_belief_oracle_still_arrives_in_time(
    kind: str, seed: int, turn: int
) -> None:
    world = begun(kind, seed, turn, view_radius=3)
    steps: Any = world.world().facts["explorer_steps"]
    for _ in range(steps[0]):
        outcome = world.step(facts(world)["belief_optimal"][0])
    assert outcome.terminated
    assert world.task().horizon >= math.ceil(1.5 * max(steps))


@pytest.mark.parametrize(
    ("kind", "turn", "radius"),
    [
        *((kind, 2, None) for kind in KINDS),
        ("move_goal", 0, None),
        ("close_path", 2, 2),
        ("distractor", 0, 2),
    ],
)
def test_the_contract(kind: Any, turn: int, radius: int | None) -> None:
    config = GridConfig(
        size=7, perturbation=kind, perturbation_turn=turn, view_radius=radius
    )
    check_environment(lambda: compose(config), seeds=(0, 1))
    assert isinstance(compose(config), HasMDP)
    assert isinstance(compose(config), HasWorlds)


def test_agents_and_certificates_follow_the_change(tmp_path: Path) -> None:
    kinds = ["put_back", "close_path", "move_goal", "distractor"]
    plan = Plan(
        environment=Choice(
            name="grid", config={"size": 7, "min_distance": 5, "perturbation": kinds}
        ),
        agent=Choice(name="optimal"),
        episodes=5,
        metrics=(
            Choice(name="accuracy"),
            Choice(name="success"),
            Choice(name="recovery"),
        ),
    )
    result = evaluate(plan, tmp_path / "run", Catalogue.default())
    values = {each.name: each.value for each in result.measurements if not each.where}
    assert values["accuracy"] == values["success"] == values["recovery.success"] == 1.0
    assert (
        values["recovery.accuracy_after"],
        values["recovery.delay"],
        values["recovery.excess"],
    ) == (1.0, 0.0, 0.0)
    for trajectory in load_evidence(Path(result.run)).trajectories:
        for turn in trajectory.turns:
            assert turn.state is not None
            assert turn.value == -distance(
                Grid.from_record(trajectory.world, turn.state)
            )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"perturbation": "rain"},
            "env.perturbation: wanted 'none', 'put_back', .* got 'rain'",
        ),
        (
            {"perturbation_turn": -1},
            "env.perturbation_turn.*: wanted greater than or equal to 0, got -1",
        ),
        (
            {"perturbation": "put_back", "perturbation_turn": 0},
            "wanted a perturbation_turn of at least 1 for put_back",
        ),
        (
            {"perturbation": "distractor", "symbols": "A=C"},
            "symbols other than C, which stands for the distractor",
        ),
    ],
)
def test_refused_configurations(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(GridConfig, values, "env")


def test_a_foreign_snapshot() -> None:
    with pytest.raises(ValueError, match="wanted a snapshot of this episode, got 3"):
        begun("put_back").restore(3)
