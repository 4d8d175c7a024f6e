"""Listeners are told of every turn and every episode once, in the order in which they
came into the record.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Decision, How, Trajectory, Turn
from gde.stages import progress
from gde.stages.progress import Listeners, Progress, watching
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
        plan = f"# {tmp_path}"
        (tmp_path / "plan.toml").write_text(plan)
        trust(tmp_path, plan.encode(), How())
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


def told(
    journal: Journal, path: Path, work: Callable[[], None]
) -> list[tuple[str, int]]:
    """(episode, turn) of each turn and (episode, -1) of each end, while the work is
    done.
    """
    events: list[tuple[str, int]] = []

    def episode(trajectory: Trajectory, done: int, total: int) -> None:
        events.append((str(trajectory.key), -1))

    def turn(key: str, turn: Turn) -> None:
        assert turn.decision.completion is None
        events.append((key, turn.index))

    with watching(path, len(EPISODES), Listeners(lambda _: None, episode, turn)):
        work()
    return events


@pytest.mark.parametrize("pause", [0.0, 0.004])
def test_turns_come_in_order_and_before_the_end_of_their_episode(
    pause: float, journal: Journal, tmp_path: Path
) -> None:
    async def all_at_once() -> None:
        await asyncio.gather(*(write(journal, one, pause=pause) for one in EPISODES))

    events = told(journal, tmp_path / "run.sqlite", lambda: asyncio.run(all_at_once()))
    for one in EPISODES:
        mine = [turn for episode, turn in events if episode == str(one.key)]
        assert mine == [*range(len(one.turns)), -1]


def test_what_was_there_before_is_not_told_again(
    journal: Journal, tmp_path: Path
) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    asyncio.run(write(journal, EPISODES[1], turns=2))

    def go_on() -> None:
        async def rest() -> None:
            for turn in EPISODES[1].turns[2:]:
                await journal.turn(EPISODES[1].key, turn)
            await journal.end(EPISODES[1].key, "terminated", "", None)

        asyncio.run(rest())

    events = told(journal, tmp_path / "run.sqlite", go_on)
    assert events == [
        ("0/1/0", turn) for turn in [*range(2, len(EPISODES[1].turns)), -1]
    ]


def test_progress_counts_what_is_finished_of_the_whole(
    journal: Journal, tmp_path: Path
) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    seen: list[Progress] = []
    with watching(tmp_path / "run.sqlite", 3, Listeners(seen.append)):
        asyncio.run(write(journal, EPISODES[1]))
    assert [(one.stage, one.done, one.total) for one in (seen[0], seen[-1])] == [
        ("episodes", 1, 3),
        ("episodes", 2, 3),
    ]
    assert seen[-1].detail == "12 turns, success 100 % so far"
    assert [each.done for each in seen] == sorted(each.done for each in seen)


def test_what_episodes_have_shown_so_far_is_told(
    journal: Journal, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    unread = Decision(status="unparsable", detail="no action named")
    third = EPISODES[2]
    turns = [replace(turn, decision=unread) for turn in third.turns[:3]]
    third = replace(third, turns=(*turns, *third.turns[3:]))
    with watching(tmp_path / "run.sqlite", 3, Listeners(seen.append)):
        asyncio.run(write(journal, EPISODES[0]))
        asyncio.run(write(journal, third))
    assert seen[-1].detail == ("18 turns, success 50 % so far, 17 % of turns unusable")


def test_what_is_done_of_episodes_under_way_is_told(
    journal: Journal, tmp_path: Path
) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    asyncio.run(write(journal, EPISODES[1], turns=3))
    assert journal.under_way() == pytest.approx(3 / EPISODES[1].horizon)
    seen: list[Progress] = []
    with watching(tmp_path / "run.sqlite", 3, Listeners(seen.append)):
        asyncio.run(write(journal, EPISODES[2], turns=1))
    assert seen[-1].within == pytest.approx(
        3 / EPISODES[1].horizon + 1 / EPISODES[2].horizon
    )


def test_the_record_is_read_for_nobody_else(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    for name in ("turns_since", "trajectory"):
        monkeypatch.setattr(Journal, name, lambda *_, name=name: read.append(name))
    with watching(tmp_path / "run.sqlite", 1, Listeners(lambda _: None)):
        asyncio.run(write(journal, replace(EPISODES[0])))
        time.sleep(0.02)
    assert read == []
