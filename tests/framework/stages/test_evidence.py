"""Evidence is read from the folder as it is used, part by part, and makes the worlds of
the record again.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from gde import (
    Choice,
    Evidence,
    GdeError,
    Plan,
    Trajectory,
    World,
    evaluate,
    load_evidence,
)
from gde.data.episode_table import Head
from gde.data.mdp import TabularMDP
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.stages import evidence as module
from gde.stages.context import check_world
from gde.stages.evidence import Recorded, Worlds, restricted
from gde.testing.parts import Corridor

PLAN = Plan(
    environment=Choice(name="corridor", config={"length": [3, 5]}),
    agent="scripted",
    rewards=["monotonic"],
    metrics=["success"],
    episodes=3,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin")
        evaluate(PLAN, folder)
    return folder


@pytest.fixture
def evidence(run: Path, catalogue: Catalogue) -> Evidence:
    return load_evidence(run, catalogue)


def keys(trajectories: Sequence[Trajectory]) -> list[str]:
    return [str(one.key) for one in trajectories]


def test_trajectories_are_a_sequence_in_the_order_of_their_keys(
    evidence: Evidence,
) -> None:
    every = evidence.trajectories
    assert len(every) == 6
    assert keys(every) == [
        f"{condition}/{world}/0" for condition in (0, 1) for world in range(3)
    ]
    assert every[-1] == [*every][-1]
    assert every[1:3] == tuple(every)[1:3]
    assert every == tuple(every)
    assert every != tuple(every)[1:]
    assert every != 6
    with pytest.raises(IndexError):
        every[6]


@pytest.mark.parametrize(("kept", "same"), [(2**30, True), (0, False)])
def test_few_are_kept_in_memory_and_many_are_read_whenever_they_are_used(
    kept: int, same: bool, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", kept)
    recorded = Recorded(run / "run.sqlite")
    first, second = list(recorded), list(recorded)
    assert first == second
    assert (first[0] is second[0]) == same


def is_of(condition: int, head: Head) -> bool:
    return head.condition == condition


def test_a_condition_has_its_own_episodes_and_traces(evidence: Evidence) -> None:
    for condition, labels in enumerate(({"length": 3}, {"length": 5})):
        holds = partial(is_of, condition)
        part = restricted(evidence, labels, holds)
        assert keys(part.trajectories) == [
            f"{condition}/{world}/0" for world in range(3)
        ]
        assert sorted(trace.episode for trace in part.reward_traces) == keys(
            part.trajectories
        )
        assert part.part == labels
        in_memory = restricted(
            replace(evidence, trajectories=tuple(evidence.trajectories)), labels, holds
        )
        assert in_memory.trajectories == part.trajectories


def test_the_process_of_a_world_is_made_once_and_is_the_one_of_the_episode(
    evidence: Evidence,
) -> None:
    assert evidence.mdp is not None
    for one in evidence.trajectories:
        mdp = evidence.mdp(one)
        assert mdp is evidence.mdp(one)
        assert mdp.n_states == one.labels["length"]
        assert one.turns[0].state is not None
        assert mdp.start[one.turns[0].state.index] == 1


@dataclass
class Moved(Corridor):
    """The corridor of a later version, which begins elsewhere."""

    def world(self) -> World:
        return replace(super().world(), id="elsewhere")


@dataclass
class Bare:
    """No decision process."""

    def __getattr__(self, name: str) -> object:
        if name in {"state", "mdp", "optimum", "snapshot", "restore", "worlds"}:
            raise AttributeError(name)
        return getattr(Corridor(), name)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (
            Moved,
            "the world has changed: the record has .* of 3, the environment makes elsewhere",
        ),
        (
            Bare,
            "environment 'Bare' is no Markov decision process that could be tabulated",
        ),
    ],
)
def test_another_world_than_that_of_the_record_gives_none(
    environment: type[object], message: str, evidence: Evidence, catalogue: Catalogue
) -> None:
    worlds = Worlds(
        lambda: resolve(replace(PLAN, environment=Choice.of(environment)), catalogue)
    )
    with pytest.raises(GdeError, match=message):
        worlds.mdp(evidence.trajectories[0])


def test_an_environment_that_is_not_installed_gives_none(
    evidence: Evidence, catalogue: Catalogue
) -> None:
    gone = replace(PLAN, environment=Choice(name="gone"))
    worlds = Worlds(lambda: resolve(gone, catalogue, absent=True))
    with pytest.raises(GdeError, match="unknown environment 'gone'"):
        worlds.mdp(evidence.trajectories[0])


def test_parts_are_looked_up_only_when_a_process_is_asked_for() -> None:
    def find() -> TabularMDP:
        raise AssertionError("looked up")

    Worlds(find)  # type: ignore[arg-type]


def test_a_world_is_told_by_its_name() -> None:
    check_world("a", World(id="a"))
    with pytest.raises(GdeError, match="the record has a, the environment makes b"):
        check_world("a", World(id="b"))


def test_an_episode_that_has_not_ended_is_no_evidence(
    run: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    copy = tmp_path / "run.sqlite"
    with (
        closing(sqlite3.connect(run / "run.sqlite")) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
        target.execute("UPDATE episodes SET ending = NULL WHERE episode = '0/1/0'")
        target.commit()
    assert keys(Recorded(copy).part(partial(is_of, 0))) == ["0/0/0", "0/2/0"]
