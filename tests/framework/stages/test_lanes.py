"""Threads side by side: what they give comes in the order of the work, and none of them outlives who asked."""

from contextlib import closing
from threading import Barrier, Event, current_thread, enumerate, main_thread
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.stages.lanes import cores, in_lanes


def running() -> list[str]:
    return [thread.name for thread in enumerate() if thread.name == "gde-lane"]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_outputs_come_in_the_order_of_the_work_each_lane_from_one_thread(lanes: list[int]) -> None:
    given_ = [*in_lanes(lambda n: (n, current_thread()), range(len(lanes)), lanes)]
    assert [n for n, _ in given_] == [*range(len(lanes))]
    threads = {lane: {thread for (_, thread), of in zip(given_, lanes, strict=True) if of == lane} for lane in lanes}
    assert all(len(each) == 1 for each in threads.values())
    assert len(set.union(set(), *threads.values())) == len(threads)
    assert not running()


def test_a_single_lane_is_the_thread_that_asks_and_begins_nothing_before_it_is_asked_for() -> None:
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
def test_threads_end_with_the_iterator_whatever_they_are_at(interruption: type[BaseException]) -> None:
    begun, done = Event(), []

    def work(n: int) -> int:
        if n:
            begun.set()
            while True:
                sleep(0.001)
        done.append(n)
        return n

    with pytest.raises(interruption), closing(in_lanes(work, [0, 1, 1, 0], [0, 1, 1, 0])) as outputs:
        assert next(outputs) == 0
        assert begun.wait(30)
        raise interruption
    assert not running()


def test_there_is_at_least_one_core() -> None:
    assert cores() >= 1
