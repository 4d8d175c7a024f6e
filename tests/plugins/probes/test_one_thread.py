"""Probes are the same to the byte however many threads there are, and whoever fits
leaves the threads as they were.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread

import pytest
import torch
from every_probe import hashes
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from gde_plugins.probes.fitting.one_thread import one_thread

PROGRAM = Path(__file__).with_name("every_probe.py")


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.extended
@pytest.mark.usefixtures("two_threads")
def test_every_probe_is_the_same_with_one_thread_and_with_two() -> None:
    two = [*hashes()]
    torch.set_num_threads(1)
    with threadpool_limits(limits=1):
        assert [*hashes()] == two


@pytest.mark.slow
def test_every_probe_is_the_same_in_processes_of_one_thread_and_of_two() -> None:
    one, two = (
        subprocess.run(
            [sys.executable, str(PROGRAM)],
            env={
                **os.environ,
                "OMP_NUM_THREADS": threads,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    )
    assert one.count("\n") == 10
    assert one == two


def limits() -> set[int]:
    """Threads of torch and of each library of linear algebra, as this thread sees
    them.
    """
    return {
        torch.get_num_threads(),
        *(
            each["num_threads"]
            for each in threadpool_info()
            if each["user_api"] == "blas"
        ),
    }


@pytest.mark.usefixtures("two_threads")
def test_threads_are_as_they_were_afterwards_whatever_happened() -> None:
    before = limits()
    with pytest.raises(ZeroDivisionError), one_thread():
        with one_thread():
            assert limits() == {1}
        assert limits() == {1}
        raise ZeroDivisionError
    assert torch.get_num_threads() == 2
    assert limits() == before


@pytest.mark.usefixtures("two_threads")
def test_fits_at_once_are_limited_until_the_last_has_gone() -> None:
    before, inside, left = limits(), Barrier(2), Barrier(2)
    seen: dict[str, set[int]] = {}

    def first() -> None:
        with one_thread():
            inside.wait(30)
        seen["first, gone"] = limits() - {2}
        left.wait(30)

    def second() -> None:
        with one_thread():
            inside.wait(30)
            left.wait(30)
            seen["second, inside"] = limits()
        seen["second, gone"] = limits()

    threads = [Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert seen["second, inside"] == {1}
    assert seen["first, gone"] <= {
        1
    }  # BLAS is limited for all as long as the second is inside
    assert seen["second, gone"] == before
    assert limits() == before
    assert torch.get_num_threads() == 2


def once(call: Callable[[], object]) -> Callable[[int], None]:
    """What tells torch its number of threads, and the first time calls before."""
    calls, tell = iter([call]), torch.set_num_threads

    def told(threads: int) -> None:
        for each in calls:
            each()
        tell(threads)

    return told


@pytest.fixture
def two_blas_threads() -> Iterator[None]:
    """Whoever told OpenBLAS first: since threadpoolctl 3.8 it heeds that one alone,
    perhaps a thread that has ended.
    """
    OpenBLASController.clear_controlling_thread(force=True)
    with threadpool_limits(limits=2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_threads", "two_blas_threads")
@pytest.mark.parametrize("told_by_another", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_who_is_inside_computes_in_one_thread_whoever_came_first_and_went(
    place: int, told_by_another: bool
) -> None:
    before = limits()
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        if not told_by_another:
            OpenBLASController.clear_controlling_thread(force=True)
        order = [(first, one_thread()), (second, one_thread())]
        for thread, context in order:
            thread.submit(context.__enter__).result()
            assert thread.submit(limits).result() == {1}
        gone, context = order.pop(place)
        gone.submit(context.__exit__, None, None, None).result()
        ((stays, context),) = order
        assert stays.submit(limits).result() == {1}
        stays.submit(context.__exit__, None, None, None).result()
        assert limits() == before


@pytest.mark.usefixtures("two_threads", "two_blas_threads")
def test_threads_are_as_they_were_where_somebody_is_interrupted_on_the_way_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    before = limits()
    assert 2 in before
    monkeypatch.setattr(torch, "set_num_threads", once(interrupted))
    with pytest.raises(KeyboardInterrupt), one_thread():
        pass
    assert limits() == before
