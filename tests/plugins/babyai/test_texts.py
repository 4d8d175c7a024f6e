"""What a text tells can be read from it again, and the record of an episode can be
drawn.
"""

import json
import random

import pytest
from description_parser import read, walls

from gde.data.cell_map import CellMap
from gde.errors import ConfigError, GdeError
from gde.request.settings import build, combinations
from gde.validating import marked
from gde_plugins.babyai.config import BabyAIConfig, Format
from gde_plugins.babyai.descriptions.description import describe
from gde_plugins.babyai.descriptions.formats import introduce
from gde_plugins.babyai.environment import BabyAIEnvironment
from gde_plugins.babyai.worlds import source
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import PAPER_LEVELS
from gde_plugins.babyai.worlds.scene import WALL
from gde_plugins.babyai.worlds.simulation import Simulation

FORMATS: tuple[Format, ...] = ("structured", "narrative", "json")


@pytest.mark.parametrize("level", PAPER_LEVELS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("details", [False, True])
def test_a_text_round_trips(level: str, form: Format, details: bool) -> None:
    world = BabyAIEnvironment(BabyAIConfig(level=level, format=form, details=details))
    text, rng = world.reset(3).text, random.Random(3)
    for _ in range(12):
        told, now = read(form, text), world.now
        assert told == describe(now, details)
        there = {
            now.scene.place(cell)
            for cell, inside in enumerate(now.cells)
            if inside == WALL
        }
        assert walls(told) == there
        outcome = world.step(
            rng.choice(("left", "forward", "forward", "pickup", "drop", "toggle"))
        )
        text = outcome.observation.text
        if outcome.terminated:
            break


def test_a_partial_view_tells_of_what_is_seen_and_says_so() -> None:
    whole = BabyAIEnvironment(BabyAIConfig(level="GoTo"))
    part = BabyAIEnvironment(BabyAIConfig(level="GoTo", view="partial"))
    full, seen = (
        read("structured", whole.reset(1).text),
        read("structured", part.reset(1).text),
    )
    assert seen.hidden
    assert set(seen.things) < set(full.things)


def test_a_text_of_another_kind_is_refused() -> None:
    for form in FORMATS:
        with pytest.raises(ValueError, match=f"wanted a world in {form} format"):
            read(form, "no world")


def test_the_record_tells_where_everything_is() -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="BossLevel"))
    world.reset(2)
    drawn = CellMap.from_record(world.world(), world.state())
    now = world.now
    assert drawn.place_of("agent") == now.scene.place(now.position)[::-1]
    assert drawn.where("wall").sum() == now.cells.count(WALL)
    assert sum(thing.kind == "door" for thing in drawn.things) == sum(
        state >= 0 for state in now.doors
    )
    assert all(
        thing.name.startswith(f"{thing.color} {thing.kind}")
        for thing in drawn.things
        if thing.name != "agent"
    )
    assert any(
        "locked" in thing.note or "closed" in thing.note for thing in drawn.things
    )


def test_worlds_can_be_listed_by_seed() -> None:
    swept, _ = combinations(
        BabyAIConfig,
        marked({"seeds": "2,3,5", "level": "GoToObj,BossLevel"}),
        "env",
    )
    assert len(swept["level"]) == 2
    world = BabyAIEnvironment(build(BabyAIConfig, {"seeds": [2, 3, 5]}, "env"))
    assert len(world.worlds()) == 3
    world.reset(4)
    assert world.now.scene.seed == 3


def test_an_unknown_level_or_format_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"env\.level: wanted a BabyAI level, e\.g\. GoToLocal.*, got 'GoToLokal'",
    ):
        build(BabyAIConfig, {"level": "GoToLokal"}, "env")
    with pytest.raises(ConfigError, match=r"env\.format"):
        build(BabyAIConfig, {"format": "prose"}, "env")


def test_a_world_that_is_another_than_it_should_be_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "_known", lambda: {"3.0 GoToObj 2": "0000"})
    with pytest.raises(
        GdeError,
        match=r"level GoToObj, seed 2: wanted world 0000 of minigrid 3\.0, got",
    ):
        BabyAIEnvironment(BabyAIConfig(level="GoToObj")).reset(2)


def test_no_action_is_taken_after_the_end() -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="GoToObj"))
    world.reset(1)
    while (optimum := world.optimum()) and optimum.actions:
        world.step(optimum.actions[0])
    with pytest.raises(ValueError, match="the mission has ended with success"):
        world.step("left")


def test_questions_have_the_printed_order_labels_and_keys() -> None:
    now = Simulation(make_scene("SynthSeq", 166, "3.0"))
    moment = describe(now, details=False)
    lines = introduce("structured", moment).split("\n- ")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "Number of rooms",
        "Size of each room (including walls)",
        "Effective room size (excluding walls)",
        "Total grid size",
        "Agent initial position",
        "Agent facing direction",
        "Objects in environment",
        "Mission",
    ]
    # The world of the printed example.
    assert lines[5] == "Agent initial position: (4, 12)"
    assert lines[6] == "Agent facing direction: north (toward (4, 11))"
    assert lines[7].endswith("door, color=yellow, position=(14, 19), locked=False")

    told = json.loads(introduce("json", moment))
    assert [*told] == ["context", "config"]
    assert [*told["config"]] == [
        "num_rooms",
        "room_size_incl_walls",
        "room_size_excl_walls",
        "grid_size",
        "agent_initial_pos",
        "agent_front_pos",
        "agent_direction",
        "objects",
        "mission",
    ]
    first = {"type": "box", "color": "yellow", "position": [5, 1]}
    assert told["config"]["objects"][0] == first
