"""Progress where no terminal is there to redraw: no line twice, with the time that it
took and what is left.
"""

from pathlib import Path

import pytest
import typer

from gde.cli.progress import Lines, duration, progress
from gde.stages.progress import Progress


def told(*steps: tuple[float, Progress]) -> list[str]:
    """The lines of progress that is reported at these times."""
    lines: list[str] = []
    clock = iter([at for at, _ in steps])
    watch = Lines(lines.append, lambda: next(clock))
    for _, step in steps:
        watch(step)
    return lines


def test_a_stage_that_is_over_at_once_has_one_line() -> None:
    assert told(
        (0.0, Progress("metrics", 0, 2)),
        (0.1, Progress("metrics", 1, 2)),
        (0.2, Progress("metrics", 2, 2)),
    ) == ["metrics: 2/2"]


def test_a_long_stage_tells_elapsed_and_remaining_time() -> None:
    steps = [
        (0.0, Progress("probes", 0, 10)),
        (30.0, Progress("probes", 2, 10)),
        (150.0, Progress("probes", 10, 10)),
    ]
    assert told(*steps) == [
        "probes: 2/10 (30 s, about 2 min 0 s left)",
        "probes: 10/10 (2 min 30 s)",
    ]


def test_what_was_done_before_says_nothing_of_the_speed() -> None:
    steps = [
        (0.0, Progress("episodes", 8, 10)),
        (20.0, Progress("episodes", 9, 10, "41 turns")),
    ]
    assert told(*steps) == ["episodes: 9/10 (41 turns, 20 s, about 20 s left)"]


def test_within_one_long_episode_the_time_that_is_left_is_told() -> None:
    steps = [
        (float(at), Progress("episodes", 0, 2, f"{at} turns", within=at / 100))
        for at in (0, 20)
    ]
    assert told(*steps) == ["episodes: 0/2 (20 turns, 20 s, about 3 min 0 s left)"]


def test_no_line_is_said_twice_while_nothing_happens() -> None:
    waiting = [
        (float(at), Progress("episodes", 1, 3, "5 turns")) for at in range(0, 100, 5)
    ]
    assert len(told(*waiting)) == 1
    moving = [
        (float(at), Progress("episodes", 1, 3, f"{at} turns"))
        for at in range(0, 100, 5)
    ]
    assert 9 <= len(told(*moving)) <= 11


def test_the_end_is_told_once() -> None:
    assert told(
        *((float(at), Progress("episodes", 3, 3)) for at in range(0, 60, 20))
    ) == ["episodes: 3/3"]


def test_times_are_said_as_people_say_them() -> None:
    assert [duration(each) for each in (0.4, 59.6, 3725)] == [
        "0 s",
        "1 min 0 s",
        "1 h 2 min",
    ]


def test_a_stage_that_tells_nothing_is_told_of_once() -> None:
    lines: list[str] = []
    clock = iter([0.0, 1.0, 2.0, 30.0])
    watch = Lines(lines.append, lambda: next(clock))
    watch.tick()
    watch(Progress("tables", 0, 1))
    for _ in range(3):
        watch.tick()
    assert lines == ["tables: 0/1 (2 s)"]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (("study", "study/run"), "finished turns are kept; resume with `gde resume"),
        (("study",), "nothing is kept"),
        ((), "nothing is kept"),
    ],
)
def test_an_interrupt_promises_what_is_there(
    made: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in made:
        (tmp_path / name).mkdir()
    interrupt = KeyboardInterrupt()
    interrupt.add_note(str(tmp_path / "study"))
    with pytest.raises(typer.Exit), progress(quiet=True):
        raise interrupt
    assert f"interrupted; {said}" in capsys.readouterr().err
