"""Threads side by side: what they give comes in the order of the work, and none
outlives the call.
"""

import threading
from contextlib import closing
from threading import Barrier, Event, Timer, current_thread, enumerate, main_thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.stages.lanes import cores, in_lanes


def running() -> list[str]:
    return [thread.name for thread in enumerate() if thread.name.startswith("gde-lane")]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_outputs_come_in_the_order_of_the_work_each_lane_from_one_thread(
    lanes: list[int],
) -> None:
    given_ = [*in_lanes(lambda n: (n, current_thread()), range(len(lanes)), lanes)]
    assert [n for n, _ in given_] == [*range(len(lanes))]
    threads = {
        lane: {
            thread for (_, thread), of in zip(given_, lanes, strict=True) if of == lane
        }
        for lane in lanes
    }
    assert all(len(each) == 1 for each in threads.values())
    assert len(set.union(set(), *threads.values())) == len(threads)
    assert not running()


def test_a_single_lane_is_the_thread_that_asks_and_begins_nothing_before_it_is_asked_for() -> (
    None
):
    done: list[int] = []
    outputs = in_lanes(done.append, [1, 2, 3], [5, 5, 5])
    next(outputs)
    assert done == [1]
    assert [*in_lanes(lambda _: current_thread(), [1], [0])] == [main_thread()]


def test_lanes_work_at_the_same_time() -> None:
    meeting = Barrier(3)
    assert len([*in_lanes(lambda _: meeting.wait(30), range(3), [0, 1, 2])]) == 3


def test_what_is_raised_is_raised_in_the_place_of_its_output() -> None:
    outputs = in_lanes(lambda n: 6 // n, [1, 2, 0, 3], [0, 1, 0, 1])
    assert [next(outputs), next(outputs)] == [6, 3]
    with pytest.raises(ZeroDivisionError):
        next(outputs)
    assert not running()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_waits_for_what_is_under_way_and_begins_nothing_else(
    interruption: type[BaseException],
) -> None:
    begun, interrupted = Event(), Event()
    done: list[int] = []

    def work(n: int) -> int:
        if n == 1:
            begun.set()
            assert interrupted.wait(30)
        done.append(n)
        return n

    with (
        pytest.raises(interruption),
        closing(in_lanes(work, [0, 1, 2, 3], [0, 1, 1, 1])) as outputs,
    ):
        assert next(outputs) == 0
        assert begun.wait(30)
        Timer(0.1, interrupted.set).start()
        raise interruption
    assert done == [0, 1]
    assert not running()


def test_closing_does_not_disturb_a_thread_that_has_ended_its_work() -> None:
    ended: list[str] = []
    faults: list[object] = []
    local = threading.local()

    class Ending:
        def __del__(self) -> None:
            ended.append("well")

    def work(n: int) -> int:
        local.kept = Ending()  # goes with its thread
        return n

    before = threading.excepthook
    threading.excepthook = faults.append
    try:
        for _ in range(200):
            outputs = in_lanes(work, [0, 1, 2], [0, 1, 2])
            assert [next(outputs), next(outputs), next(outputs)] == [0, 1, 2]
            outputs.close()
    finally:
        threading.excepthook = before
    assert faults == []
    assert len(ended) == 600
    assert not running()


def test_there_is_at_least_one_core() -> None:
    assert cores() >= 1
