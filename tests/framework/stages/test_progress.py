"""Progress is read from the record."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gde import How, Trajectory
from gde.stages import progress
from gde.stages.progress import Progress, watching
from gde.store.journal import Journal
from gde.store.trust import trust
from gde.testing.samples import sample_evidence

EPISODES = [one for one in sample_evidence(3).trajectories if one.turns]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.005)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        # A folder made elsewhere is read as it was when it was opened.
        (tmp_path / "plan.toml").write_text(f"# {tmp_path}")
        trust(tmp_path, How())
        yield journal


async def write(
    journal: Journal, one: Trajectory, turns: int | None = None, pause: float = 0.0
) -> None:
    await journal.begin(one.key, one.seed, one.world, {}, one.horizon)
    for turn in one.turns[:turns]:
        await journal.turn(one.key, turn)
        await asyncio.sleep(pause)
    if turns is None:
        await journal.end(one.key, one.ending, "", one.final_state)


def test_progress_counts_what_is_finished_of_the_whole(
    journal: Journal, tmp_path: Path
) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    seen: list[Progress] = []
    with watching(tmp_path / "run.sqlite", 3, seen.append):
        asyncio.run(write(journal, EPISODES[1]))
    assert [(one.stage, one.done, one.total) for one in (seen[0], seen[-1])] == [
        ("episodes", 1, 3),
        ("episodes", 2, 3),
    ]
    assert seen[-1].detail == "12 turns"
    assert [each.done for each in seen] == sorted(each.done for each in seen)


def test_what_is_done_of_episodes_under_way_is_told(
    journal: Journal, tmp_path: Path
) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    asyncio.run(write(journal, EPISODES[1], turns=3))
    assert journal.under_way() == pytest.approx(3 / EPISODES[1].horizon)
    seen: list[Progress] = []
    with watching(tmp_path / "run.sqlite", 3, seen.append):
        asyncio.run(write(journal, EPISODES[2], turns=1))
    assert seen[-1].within == pytest.approx(
        3 / EPISODES[1].horizon + 1 / EPISODES[2].horizon
    )
