"""TextWorld's engine makes the games, and its expert wins them."""

from functools import partial
from pathlib import Path

import pytest
from conftest import Make, followed, fresh, playing

from gde.errors import ConfigError, GdeError
from gde.request.settings import build
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.config import TextWorldConfig
from gde_plugins.text_worlds.textworld import games

SMALL = {"game": "coin-collector", "level": 2}


COOKING = {"rooms": 1, "ingredients": 1, "cook": True, "cut": True, "drop": True}
KINDS = [
    pytest.param({"game": "treasure-hunt", "level": 4}, id="treasure hunt"),
    pytest.param({"game": "cooking", **COOKING}, id="cooking"),
    pytest.param(
        {"game": "custom", "rooms": 3, "objects": 5, "quest_length": 3}, id="custom"
    ),
]


@pytest.mark.extended
def test_the_contract_is_kept(context: PlainContext) -> None:
    check_environment(
        partial(fresh, context, "textworld", **SMALL),
        seeds=(0,),
        turns=4,
        gives={"demonstration", "simulator"},
    )


@pytest.mark.parametrize("settings", KINDS)
def test_the_expert_wins_with_all_points(
    settings: dict[str, object], made: Make
) -> None:
    environment = playing(made("textworld", **SMALL), route=False, **settings)
    outcomes = followed(environment, 3)
    assert outcomes[-1].terminated
    assert [one.success for one in outcomes] == sorted(one.success for one in outcomes)
    assert outcomes[-1].success == 1
    assert environment.world().labels["game"] == settings["game"]


def test_the_way_is_found_from_elsewhere_and_told_only_when_asked_for(
    made: Make,
) -> None:
    environment = made("textworld", **SMALL)
    opening = environment.reset(0)
    direct = environment.demonstration()
    there = environment.step(direct[0]).observation
    assert environment.demonstration() == direct[1:]
    assert there.actions is not None
    back = next(
        each for each in there.actions if each.startswith("go ") and each != direct[1]
    )
    environment.step(back)
    assert environment.demonstration() == direct
    assert [environment.step(action) for action in direct][-1].success == 1
    assert "$$" not in opening.text
    assert opening.text.startswith(environment.task().objective)
    assert not any(action in environment.task().objective for action in direct[:-1])


def test_a_game_without_room_for_its_quest_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("textworld")
    from textworld.generator.chaining import QuestGenerationError

    def fails(*_: object) -> None:
        raise QuestGenerationError("no room")

    monkeypatch.setattr(games, "_made", fails)
    with pytest.raises(
        GdeError, match="none of 20 maps has room for the quest of game=custom"
    ):
        games.game_file(tmp_path, {"game": "custom", "route": False, "seed": 1})
    assert not list(tmp_path.rglob("*.z8"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rooms": 5}, "rooms of a cooking game: 1, 6, 9 or 12, got 5"),
        (
            {"game": "treasure-hunt", "level": 31},
            "level of a treasure hunt: 1 to 30, got 31",
        ),
        *(
            (
                {"game": "coin-collector", "level": level},
                f"at most 100 rooms: 1 to 150 or 201 to 233, got {level}",
            )
            for level in (151, 200)
        ),
        ({"game": "coin-collector", "level": 234}, "less than or equal to 233"),
        ({"step_seconds": 0}, "greater than 0"),
    ],
)
def test_refused_configurations(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(TextWorldConfig, values, "env")  # type: ignore[arg-type]
