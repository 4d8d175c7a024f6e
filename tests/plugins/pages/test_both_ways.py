"""The page of two runs plays both ways in the worlds where one did better."""

import json
from base64 import b64decode
from gzip import decompress
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Plan, compare, evaluate, load_evidence
from gde.comparisons.comparison import Comparison
from gde.data.trajectory import Trajectory
from gde_plugins.pages.both_ways import PARTED, both_ways
from gde_plugins.pages.contest_page import contest_page


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """An agent that errs beside one that errs less, in the same worlds."""
    folder = tmp_path_factory.mktemp("runs")
    for name, p in (("rare", 0.1), ("often", 0.6)):
        agent = Choice(name="noisy", config={"p": p})
        plan = Plan(
            environment="grid", agent=agent, episodes=12, metrics=["success", "length"]
        )
        evaluate(plan, folder / name)
    return compare(folder / "rare", folder / "often")


@pytest.fixture(scope="module")
def played(found: Comparison) -> list[dict[str, Any]]:
    films = both_ways(found)
    assert films
    told: list[dict[str, Any]] = json.loads(decompress(b64decode(films.packed)))
    return told


def ways(run: Path) -> dict[str, Trajectory]:
    return {str(one.key): one for one in load_evidence(run).trajectories}


def test_every_world_that_one_of_them_solves_alone_is_played_by_both(
    found: Comparison, played: list[dict[str, Any]]
) -> None:
    rare, often = (ways(found.runs[name]) for name in ("rare", "often"))
    alone = {key for key in rare if rare[key].succeeded != often[key].succeeded}
    assert {film["key"] for film in played} == alone and alone
    for film in played:
        a, b = rare[film["key"]], often[film["key"]]
        assert len(film["turns"]) == max(len(a.turns), len(b.turns))
        better = "rare" if a.succeeded else "often"
        assert film["marks"] == [f"{better} is better"]
        for turn, frame in enumerate(film["turns"]):
            for name, way in (("rare", a), ("often", b)):
                move = "has ended"
                if turn < len(way.turns):
                    move = str(way.turns[turn].decision.action)
                assert f"{name} {move}" in frame["move"]
        parted = [i for i, frame in enumerate(film["turns"]) if "verdict" in frame]
        moves = zip(a.turns, b.turns, strict=False)
        first = next(
            i
            for i, (x, y) in enumerate(moves)
            if x.decision.action != y.decision.action
        )
        assert parted == [first] and film["turns"][first]["verdict"] == PARTED


def test_the_maps_are_those_of_either_way_and_stay_when_it_has_ended(
    found: Comparison, played: list[dict[str, Any]]
) -> None:
    rare = ways(found.runs["rare"])
    ended = False
    for film in played:
        turns = film["turns"]
        n_of_a = len(rare[film["key"]].turns)
        first_part = next(i for i, frame in enumerate(turns) if "verdict" in frame)
        assert all(
            frame["truth_title"] == "rare" and frame["decoded_note"] == "often"
            for frame in turns
        )
        # Where they moved differently, they stand differently.
        if first_part + 1 < len(turns):
            after = turns[first_part + 1]
            assert after["truth"] != after["decoded"]
        for frame in turns[n_of_a:]:
            ended = True
            assert frame["truth"] == turns[n_of_a - 1]["truth"]
    assert ended


def test_the_page_has_the_player(found: Comparison) -> None:
    text = contest_page(found)
    assert 'id="player"' in text and "in which the runs differ in success rate" in text


def test_runs_that_differ_nowhere_have_none(found: Comparison, tmp_path: Path) -> None:
    plan = Plan(environment="grid", agent="optimal", episodes=3, metrics=["success"])
    for name in ("one", "two"):
        evaluate(plan, tmp_path / name)
    assert both_ways(compare(tmp_path / "one", tmp_path / "two")) is None
    three = [*found.runs.values(), tmp_path / "one"]
    assert both_ways(compare(*three)) is None
