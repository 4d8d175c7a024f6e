"""Key worlds as environments: text, records, counterfactuals, snapshots, optimal play,
and what configurations refuse.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_text import locate
from hypothesis import given, settings
from hypothesis import strategies as st

from gde import Choice, Plan
from gde.data.cell_map import CellMap, Position, position
from gde.data.observation import State
from gde.errors import ConfigError, GdeError, UnknownName
from gde.numerics.tabular import solve
from gde.offers import Capability
from gde.parts.environment import HasMDP
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.keyed.environment import KeyEnvironment
from gde_plugins.grid.plugin import gde_environments

OFFERS = {offer.name: offer for offer in gde_environments()}
NAMES = ("key-door", "key-no-door", "two-path-key")
TWINNED = ("key-no-door", "two-path-key")
SYMBOLS = {"key": "K", "coin": "C", "flag": "F"}
walks = st.lists(st.sampled_from(["UP", "DOWN", "LEFT", "RIGHT"]), max_size=80)
few = settings(max_examples=40)


def begun(name: str, seed: int = 0, **config: Any) -> KeyEnvironment:
    offer = OFFERS[name]
    environment: KeyEnvironment = offer.made(
        build(offer.config, config, "env"), PlainContext()
    )
    environment.reset(seed)
    return environment


def cells(text: str) -> dict[Position, str]:
    return {cell: text[slice(*span)] for cell, span in locate(text).items()}


def shown(environment: KeyEnvironment) -> str:
    return environment.restore(environment.snapshot()).text


def optimal_actions(environment: KeyEnvironment) -> list[str]:
    model, index = environment.mdp(), environment.state().index
    assert index is not None
    return [model.actions[a] for a in solve(model).optimal[index].nonzero()[0]]


@pytest.mark.parametrize("name", NAMES)
def test_offers(name: str) -> None:
    found = Catalogue.default().find("environment", name).offer
    assert (found.summary, found.config) == (OFFERS[name].summary, OFFERS[name].config)
    assert OFFERS[name].gives == {
        Capability.STATE,
        Capability.MDP,
        Capability.GOALS,
        Capability.SNAPSHOT,
        Capability.SIMULATOR,
        Capability.MAP,
        "keys",
    }
    assert isinstance(begun(name), HasMDP)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("key-door", {"rooms": 3, "horizon": 60}),
        ("key-no-door", {"artefact": "none"}),
        ("key-no-door", {"rooms": 3, "artefact": "flag"}),
        ("two-path-key", {"size": 19, "artefact": "coin"}),
    ],
)
def test_promises_of_environments_hold_for_other_settings_too(
    name: str, config: Mapping[str, Any]
) -> None:
    check_environment(lambda: begun(name, **config), seeds=range(5), turns=60)


@few
@given(st.sampled_from(NAMES), st.integers(0, 2**32), walks)
def test_what_is_shown_is_what_is_recorded(
    name: str, seed: int, walk: list[str]
) -> None:
    environment = begun(name, seed)
    world = environment.world()
    for action in walk:
        outcome = environment.step(action)
        facts = environment.state().facts
        grid = Grid.from_record(world, environment.state())
        text = outcome.observation.text
        seen = {
            (r, c): symbol
            for r, row in enumerate(grid.rows)
            for c, symbol in enumerate(row)
        }
        seen[grid.goal] = "G"
        if facts.get("door"):
            assert seen[position(facts, "door")] == "#"
            seen[position(facts, "door")] = "D"
        if facts["key"]:
            seen[position(facts, "key")] = "K"
        seen[grid.agent] = "A"
        assert cells(text) == seen
        drawn = {
            thing.place: thing.letter
            for thing in reversed(
                CellMap.from_record(world, environment.state()).things
            )
        }
        assert drawn == {
            place: symbol for place, symbol in seen.items() if symbol in "AGKD"
        }
        assert text.splitlines()[-1] == f"Carrying key: {facts['carrying']}"
        assert facts["carrying"] == (facts["key"] is None)
        assert outcome.terminated == (grid.agent == grid.goal) == (outcome.reward == 1)
        if outcome.terminated:
            break


def test_a_door_opens_beside_the_agent_that_has_the_key() -> None:
    environment = begun("key-door", 1)
    world = environment.world()
    while not environment.state().facts["carrying"]:
        environment.step(optimal_actions(environment)[0])
    assert environment.state().facts["agent"] == world.facts["place"]

    def steps_to_door() -> int:
        agent, door = (
            position(environment.state().facts, "agent"),
            position(world.facts, "door"),
        )
        return abs(agent[0] - door[0]) + abs(agent[1] - door[1])

    while environment.state().facts["door"] is not None:
        assert steps_to_door() > 1
        environment.step(optimal_actions(environment)[0])
    assert steps_to_door() == 1
    assert cells(shown(environment))[position(world.facts, "door")] == "_"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ties", ["first", "last", "random"])
def test_optimal_play_takes_the_shortest_way_whatever_the_ties(
    name: str, ties: str
) -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        environment = begun(name, seed)
        distance = environment.world().labels["distance"]
        assert isinstance(distance, int)
        assert distance <= environment.task().horizon == 30
        rewards = []
        for _ in range(distance):
            best = optimal_actions(environment)
            chosen = {
                "first": best[0],
                "last": best[-1],
                "random": best[int(rng.integers(len(best)))],
            }[ties]
            rewards.append(environment.step(chosen).reward)
        assert rewards == [0.0] * (distance - 1) + [1.0]


@pytest.mark.parametrize("name", TWINNED)
@pytest.mark.parametrize("seed", range(10))
def test_counterfactuals_differ_in_one_cell_of_the_text_and_nothing_else(
    name: str, seed: int
) -> None:
    counterfactuals = {
        artefact: begun(name, seed, artefact=artefact)
        for artefact in ("none", "key", "coin", "flag")
    }
    worlds = {
        artefact: counterfactual.world()
        for artefact, counterfactual in counterfactuals.items()
    }
    bare = cells(shown(counterfactuals["none"]))
    assert len({world.id for world in worlds.values()}) == 4
    for artefact, world in worlds.items():
        assert world.base == worlds["none"].base
        assert world.labels == {**worlds["none"].labels, "artefact": artefact}
        assert counterfactuals[artefact].task() == counterfactuals["none"].task()
        with_object = {
            **bare,
            position(world.facts, "place"): SYMBOLS.get(artefact, "_"),
        }
        assert cells(shown(counterfactuals[artefact])) == with_object
        assert (
            shown(counterfactuals[artefact]).splitlines()[-1]
            == shown(counterfactuals["none"]).splitlines()[-1]
        )


def test_worlds_that_look_the_same_are_one_observation() -> None:
    worlds = [
        begun("two-path-key", seed, artefact="none").world() for seed in range(60)
    ]
    looks = [
        (
            tuple(each.facts["rows"]),
            tuple(each.facts["agent"]),
            tuple(each.facts["goal"]),
        )
        for each in worlds
    ]  # type: ignore[arg-type]
    assert len({each.cluster for each in worlds}) == len(set(looks)) < 20


@pytest.mark.parametrize("seed", range(10))
def test_the_world_without_the_door_is_that_with_it(seed: int) -> None:
    doored, bare = begun("key-door", seed).world(), begun("key-no-door", seed).world()
    assert doored.base == bare.base
    assert doored.id != bare.id
    door = position(doored.facts, "door")
    walls, bare_walls = (
        Grid.from_record(world, State(facts={})).walls for world in (doored, bare)
    )
    assert np.argwhere(walls != bare_walls).tolist() == [list(door)]
    assert walls[door]


def test_a_coin_is_taken_but_is_no_key() -> None:
    environment = begun("two-path-key", 1, artefact="coin")
    place = environment.world().facts["place"]
    while (
        environment.state().facts["agent"] != place
    ):  # which lies on the way that the first optimal actions take
        environment.step(optimal_actions(environment)[0])
    assert environment.state().facts == {"agent": place, "carrying": True, "coin": None}
    assert shown(environment).endswith("Carrying key: False")


@few
@given(st.sampled_from(NAMES), st.integers(0, 2**32), walks, walks)
def test_restore_goes_back(
    name: str, seed: int, before: list[str], after: list[str]
) -> None:
    environment = begun(name, seed)

    def walk(actions: list[str]) -> list[tuple[str, float, bool]]:
        seen = []
        for action in actions:
            outcome = environment.step(action)
            seen.append((outcome.observation.text, outcome.reward, outcome.terminated))
            if outcome.terminated:
                break
        return seen

    if any(terminated for _, _, terminated in walk(before)):
        return
    snapshot, state, text = (
        environment.snapshot(),
        environment.state(),
        shown(environment),
    )
    first = walk(after)
    assert environment.restore(snapshot).text == text
    assert environment.state() == state
    assert walk(after) == first


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_is_found_among_tokens_and_the_line_below_is_not_taken_for_cells(
    name: str,
) -> None:
    environment = begun(name)
    size = environment.world().labels["size"]
    assert isinstance(size, int)
    text = shown(environment)
    cells = locate(text)
    assert len(cells) == size**2

    tokens = [
        match.span() for match in re.finditer(r" ?[A-Za-z]+| *[^\s]| *\n| ", text)
    ]
    for start, end in cells.values():
        covering = [token for token in tokens if token[0] < end and start < token[1]]
        assert len(covering) == 1
        assert text[slice(*covering[0])].strip() == text[start:end]


def test_rules_name_every_symbol() -> None:
    rules = begun("key-door").task().rules
    for words in (
        "A is the agent",
        "G the goal",
        "K is a key",
        "C a coin",
        "F a flag",
        "D a locked door",
        "opens by",
    ):
        assert words in rules


@pytest.mark.parametrize("snapshot", ["0", -1, 10_000, None])
def test_foreign_snapshot(snapshot: object) -> None:
    with pytest.raises(ValueError, match="wanted a snapshot of this episode"):
        begun("key-door").restore(snapshot)


def test_nothing_before_reset() -> None:
    offer = OFFERS["key-door"]
    with pytest.raises(GdeError, match="no episode yet: call reset"):
        offer.made(offer.config(), PlainContext()).world()


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("key-door", {"horizon": 7}),
        ("key-door", {"rooms": 3, "horizon": 10}),
        ("two-path-key", {"size": 9, "horizon": 10}),
        ("two-path-key", {"size": 17, "horizon": 18}),
    ],
)
def test_with_the_shortest_horizon_every_seed_has_a_world(
    name: str, config: Mapping[str, Any]
) -> None:
    for seed in range(20):
        assert (
            int(begun(name, seed, **config).world().labels["distance"])
            <= config["horizon"]
        )


def test_a_horizon_that_hardly_any_world_meets_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment=Choice(name="key-door", config={"horizon": 3}),
        agent=Choice(name="optimal"),
    )
    with pytest.raises(
        ConfigError, match="env: wanted a horizon of at least 7 with rooms=2"
    ):
        evaluate(plan, tmp_path / "run", Catalogue.default())
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("key-door", {"rooms": 4}, "env.rooms: wanted 2 or 3, got 4"),
        (
            "key-door",
            {"horizon": 0},
            "env.horizon: wanted greater than or equal to 1, got 0",
        ),
        (
            "key-door",
            {"horizon": 6},
            "env: wanted a horizon of at least 7 with rooms=2, since .* sooner, got 6",
        ),
        (
            "key-no-door",
            {"rooms": 3, "horizon": 9},
            "env: wanted a horizon of at least 10 with rooms=3, .* got 9",
        ),
        (
            "two-path-key",
            {"horizon": 11},
            "env: wanted a horizon of at least 12 with size=11, the shortest .* got 11",
        ),
        (
            "key-door",
            {"artefact": "coin"},
            "unknown field of env 'artefact'. Known: horizon, rooms",
        ),
        (
            "key-no-door",
            {"artefact": "gem"},
            "env.artefact: wanted 'key', 'none', 'coin' or 'flag', got 'gem'",
        ),
        (
            "two-path-key",
            {"size": 10},
            "env: wanted an odd size, so that the two paths are mirror images, e.g. 9 or 11, got 10",
        ),
        (
            "two-path-key",
            {"size": 7},
            "env.size: wanted greater than or equal to 9, got 7",
        ),
    ],
)
def test_refused_configurations(
    name: str, values: dict[str, Any], message: str
) -> None:
    with pytest.raises((ConfigError, UnknownName), match=message):
        build(OFFERS[name].config, values, "env")
