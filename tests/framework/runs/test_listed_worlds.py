"""Environments with a list of worlds: each is used once, and a list that is not there
stops a run before it begins.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from gde import Choice, GdeError, Plan, evaluate, load_evidence, resume
from gde.before.preparing import dry, prepare
from gde.request.catalogue import Catalogue
from gde.stages.context import Resources
from gde.stages.rollout import episode_keys, list_worlds

Starts = Callable[..., list[object]]


def plan(
    length: object = 7, episodes: int = 200, seed: int = 0, env: str = "listed"
) -> Plan:
    return Plan(
        environment=Choice(name=env, config={"length": length}),  # type: ignore[dict-item]
        agent=Choice(name="scripted"),
        metrics=(Choice(name="success"),),
        episodes=episodes,
        seed=seed,
    )


@pytest.fixture
def starts(tmp_path: Path, catalogue: Catalogue) -> Starts:
    """Where the episodes of a plan begin, in the order of the record."""

    def start(wanted: Plan) -> list[object]:
        folder = tmp_path / f"{wanted.episodes}-{wanted.seed}"
        evaluate(wanted, folder, catalogue)
        return [
            one.turns[0].state.index
            for one in load_evidence(folder).trajectories
            if one.turns[0].state
        ]

    return start


def test_each_world_comes_once(starts: Starts) -> None:
    assert sorted(map(str, starts(plan()))) == list("012345")


def test_fewer_episodes_are_a_sample_that_grows(starts: Starts) -> None:
    three = starts(plan(episodes=3))
    assert len({*three}) == 3
    assert starts(plan(episodes=5))[:3] == three
    assert {tuple(starts(plan(episodes=3, seed=seed))) for seed in range(1, 6)} != {
        tuple(three)
    }


def test_every_condition_has_the_worlds_that_it_lists(catalogue: Catalogue) -> None:
    ready = prepare(plan(length=[4, 7], episodes=5), catalogue)
    keys = episode_keys(ready, list_worlds(ready, Resources(ready)))
    assert [key.world for key in keys] == [0, 1, 2, 0, 1, 2, 3, 4]
    assert dry(plan(env="corridor"), catalogue).episodes == 200


def test_without_its_list_a_run_does_not_begin(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_PARTS_MAKE", "none")
    with pytest.raises(GdeError, match="no corridors on the list"):
        evaluate(plan(), tmp_path / "run", catalogue)
    assert not (tmp_path / "run").exists()


def test_a_run_goes_on_only_with_the_list_that_it_began_with(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = evaluate(plan(), tmp_path / "run", catalogue)
    assert resume(tmp_path / "run", catalogue).measurements == result.measurements
    (tmp_path / "run" / "result.json").unlink()
    monkeypatch.setenv("ODD_PARTS_MAKE", "brittle")
    with pytest.raises(
        GdeError,
        match="lists other worlds than when this run began: restore the source of the worlds",
    ):
        resume(tmp_path / "run", catalogue)
