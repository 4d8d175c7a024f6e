"""Games that are made for ALFWorld, its own games, and an expert for both."""

import json
import os
import tarfile
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from conftest import OFFERS, Make, followed, fresh, playing

from gde.errors import GdeError
from gde.request.settings import build
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.alfworld.expert import House, expert_steps
from gde_plugins.text_worlds.alfworld.files import games
from gde_plugins.text_worlds.environment import SimulatedEnvironment
from gde_plugins.text_worlds.hosting.process import SimulatorProcess

PUBLISHED = (
    Path(__file__).parents[3].parent / "shared" / "data" / "alfworld-scenes.tar.xz"
)
SMALL = {"split": "made", "receptacles": 8, "objects": 4}
TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


@pytest.mark.skipif(
    "GDE_SOAK" not in os.environ, reason="takes half a minute: nox -s soak"
)
def test_the_contract_is_kept(context: PlainContext) -> None:
    check_environment(partial(fresh, context, "alfworld", **SMALL), seeds=(1,), turns=2)


@pytest.mark.parametrize("task_type", TYPES)
def test_the_expert_does_every_type_of_task(task_type: str, made: Make) -> None:
    environment = playing(
        made("alfworld", **SMALL), task_type=task_type, receptacles=8, objects=4
    )
    outcomes = followed(environment, 0)
    assert [one.success for one in outcomes] == [0.0] * (len(outcomes) - 1) + [1.0]
    assert [one.reward for one in outcomes] == [0.0] * (len(outcomes) - 1) + [1.0]
    assert outcomes[-1].terminated
    assert environment.world().labels["task_type"] == task_type


@pytest.mark.extended
def test_the_expert_puts_away_what_is_in_the_way(made: Make) -> None:
    environment = made("alfworld", **SMALL, play_on=True)
    shown = environment.reset(0)
    first = environment.demonstration()
    for _ in range(6):  # take something
        assert shown.actions is not None
        taking = [
            each
            for each in shown.actions
            if each.startswith("take") and each not in first
        ]
        going = [each for each in shown.actions if each.startswith(("open", "go"))]
        shown = environment.step((taking or going)[-1]).observation
        if taking:
            break
    outcomes = [environment.step(action) for action in environment.demonstration()]
    assert outcomes[-1].success == 1
    assert not outcomes[-1].terminated
    assert environment.demonstration() == ()


HOUSE = (
    *(
        ("receptacletype", each)
        for each in (("shelf", "shelftype"), ("box", "boxtype"), ("bin", "bintype"))
    ),
    *(
        ("receptacleatlocation", each)
        for each in (("shelf", "l1"), ("box", "l2"), ("bin", "l3"))
    ),
    *(
        ("objecttype", each)
        for each in (("far", "pentype"), ("near", "pentype"), ("cup", "cuptype"))
    ),
    *(("inreceptacle", each) for each in (("far", "box"), ("near", "shelf"))),
    *(
        ("cancontain", each)
        for each in (("bintype", "pentype"), ("shelftype", "cuptype"))
    ),
    ("openable", ("box",)),
    ("holds", ("agent1", "cup")),
    ("atlocation", ("agent1", "l1")),
)


def test_of_several_ways_the_shortest_is_taken() -> None:
    params = {"object_target": "Pen", "parent_target": "Bin", "toggle_target": ""}
    steps = expert_steps(
        House(HOUSE), {"task_type": "pick_and_place_simple", "pddl_params": params}
    )
    assert steps == [
        ("putobject", {"o": "cup", "r": "shelf"}),
        ("pickupobject", {"o": "near", "r": "shelf"}),
        ("gotolocation", {"r": "bin"}),
        ("putobject", {"o": "near", "r": "bin"}),
    ]
    both = expert_steps(
        House(HOUSE), {"task_type": "pick_two_obj_and_place", "pddl_params": params}
    )
    assert ("openobject", {"r": "box"}) in both
    assert len(both) == 9
    nowhere = expert_steps(
        House(HOUSE),
        {
            "task_type": "pick_and_place_simple",
            "pddl_params": {**params, "parent_target": "Shelf"},
        },
    )
    assert nowhere == []


def test_what_stands_upon_another_receptacle_counts_for_both() -> None:
    kitchen = (
        ("receptacletype", ("machine", "machinetype")),
        ("receptacletype", ("counter", "countertype")),
        ("receptacletype", ("fridge", "fridgetype")),
        *(
            ("receptacleatlocation", (each, each[0]))
            for each in ("machine", "counter", "fridge")
        ),
        *(("inreceptacle", ("mug", each)) for each in ("machine", "counter")),
        ("objecttype", ("mug", "mugtype")),
        ("coolable", ("mug",)),
        ("cancontain", ("machinetype", "mugtype")),
    )
    params = {"object_target": "Mug", "parent_target": "Machine", "toggle_target": ""}
    steps = expert_steps(
        House(kitchen),
        {"task_type": "pick_cool_then_place_in_recep", "pddl_params": params},
    )
    assert [action for action, _ in steps] == [
        "gotolocation",
        "pickupobject",
        "gotolocation",
        "coolobject",
    ]
    assert steps[1] == ("pickupobject", {"o": "mug", "r": "counter"})


def official(
    folder: Path, name: str, solvable: bool = True, task_type: str = TYPES[0]
) -> Path:
    place = folder / "json_2.1.1" / "valid_seen" / name / "trial"
    place.mkdir(parents=True)
    (place / "traj_data.json").write_text(json.dumps({"task_type": task_type}))
    (place / "game.tw-pddl").write_text(
        json.dumps({"solvable": solvable, "pddl_problem": name})
    )
    return place


def test_solvable_games_are_listed_by_type(tmp_path: Path) -> None:
    for name, task_type in zip("abc", (TYPES[0], TYPES[1], TYPES[0]), strict=True):
        official(tmp_path, name, task_type=task_type)
    official(tmp_path, "d", solvable=False)
    folder = tmp_path / "json_2.1.1" / "valid_seen"
    (official(tmp_path, "e") / "game.tw-pddl").unlink()
    (official(tmp_path, "f") / "traj_data.json").unlink()
    found = games(folder, None)
    assert [name.split("/")[0] for name in found.names] == ["a", "b", "c"]
    assert found.remarks == (
        "valid_seen, trials: read 3, left out 3: 1 unsolvable (d/trial),"
        " 1 without a game file (e/trial), 1 without traj_data.json (f/trial)",
    )
    few = games(folder, TYPES[0]).names
    assert [name.split("/")[0] for name in few] == ["a", "c"]

    again = official(tmp_path, "g") / "game.tw-pddl"
    again.write_bytes((folder / "a" / "trial" / "game.tw-pddl").read_bytes())
    assert games(folder, None).remarks[1:] == (
        "valid_seen, trials with the game of another: 1 (g/trial)",
    )
    with pytest.raises(GdeError, match=f"no solvable game in .* of {TYPES[3]}"):
        games(folder, TYPES[3])


@pytest.mark.parametrize("content", ["[1, 2", "[]", b"\xff\xfe\x00"])
def test_truncated_and_foreign_files_are_refused(
    content: str | bytes, tmp_path: Path
) -> None:
    place = official(tmp_path, "a")
    (place / "game.tw-pddl").write_bytes(
        content if isinstance(content, bytes) else content.encode()
    )
    with pytest.raises(
        GdeError,
        match=r"env.data: .*game\.tw-pddl(:1)?: (wanted (JSON|text)|the record: wanted an object)",
    ):
        games(tmp_path, None)


def test_a_game_without_its_task_is_refused(tmp_path: Path) -> None:
    (official(tmp_path, "a") / "traj_data.json").unlink()
    with pytest.raises(GdeError, match=r"left out 1: 1 without traj_data\.json"):
        games(tmp_path, None)


def test_official_games_are_asked_for_where_there_are_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)

    def make(**settings: object) -> object:
        offer = OFFERS["alfworld"]
        return offer.made(build(offer.config, settings, "env"), PlainContext())  # type: ignore[arg-type]

    with pytest.raises(
        GdeError, match=r"needs the official games: set env\.data or ALFWORLD_DATA"
    ):
        make(split="valid_seen")
    with pytest.raises(
        GdeError, match=r"which does not exist: set env\.data or env\.split"
    ):
        make(data=str(tmp_path))


def test_what_cannot_be_played_says_so(made: Make, tmp_path: Path) -> None:
    official(tmp_path, "a")
    listed = games(tmp_path, None)
    environment = SimulatedEnvironment(
        made("alfworld", **SMALL)._host, listed, horizon=9
    )
    with pytest.raises(
        GdeError, match=r"game\.tw-pddl cannot be played: KeyError: 'pddl_domain'"
    ):
        environment.reset(0)


@pytest.mark.extended
def test_what_is_remembered_is_told_to_the_letter(
    made: Make, context: PlainContext
) -> None:
    environment = playing(
        made("alfworld", **SMALL), task_type=TYPES[3], receptacles=8, objects=4
    )
    environment.reset(7)
    actions = [
        *environment.demonstration()[:-1],
        "look",
        "inventory",
        "dance",
        *environment.demonstration()[-1:],
    ]
    (file,) = context.scratch.glob(
        f"{TYPES[3]}-{environment._games.game(7)['seed']}-*/game.tw-pddl"
    )
    with closing(
        SimulatorProcess("plain", "plain_alfworld:Plain", {"file": str(file)})
    ) as process:
        plain, remembered, translations = process.ask("tell", actions, seconds=300)
    assert remembered == plain
    assert plain[-1][2]
    assert translations == 1


@pytest.mark.extended
@pytest.mark.skipif(
    not PUBLISHED.is_file(),
    reason="needs the scenes of ../shared/data/alfworld-scenes.tar.xz",
)
def test_official_games_are_won(made: Make, tmp_path: Path) -> None:
    with tarfile.open(PUBLISHED) as archive:
        wanted = [
            each
            for each in archive
            if "valid_seen/pick_heat_then_place_in_recep-Mug-None-Cabinet" in each.name
        ]
        archive.extractall(tmp_path, wanted, filter="data")
    environment = made("alfworld", data=tmp_path, split="valid_seen")
    assert followed(environment, 0)[-1].success == 1
    assert environment.world().id in environment.worlds()[0]
