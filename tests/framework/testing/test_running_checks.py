"""`check_executor` and `check_reporter` pass good parts and name what broken
counterfactuals break.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from promised import caught

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result
from gde.testing import check_executor, check_reporter


class Backwards:
    """Any order will do."""

    workers = 1

    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        return map(job, items[::-1])


def test_any_order_keeps_every_promise() -> None:
    check_executor(Backwards)


class NoWorkers(Backwards):
    workers = 0


class SkipsOne(Backwards):
    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        return map(job, items[1:])


class OrderMatters(Backwards):
    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        return (
            job(item) + (place if items[0] == 0 else 0)
            for place, item in enumerate(items)
        )


class AlwaysOne(Backwards):
    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        yield from map(job, items or [0])


class Swallows(Backwards):
    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            with suppress(Exception):
                yield job(item)


class Tires(Backwards):
    """Its workers do nothing more once they are kept."""

    kept = done = False

    def check(self, work: object) -> None:
        """Take any work."""

    def stop(self) -> None:
        """Nothing is under way."""

    @contextmanager
    def keeping(self) -> Iterator[None]:
        self.kept = True
        yield
        self.kept = self.done = False

    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        if self.kept and self.done:
            return iter(())
        self.done = self.kept
        return map(job, items)


BROKEN_EXECUTORS = [
    (NoWorkers, "at least 1, got 0"),
    (SkipsOne, "for every item once"),
    (OrderMatters, "for every item once, in any order"),
    (AlwaysOne, "map over nothing"),
    (Swallows, "raise what the job raises"),
    (Tires, "workers that are kept"),
    (object, "must have map, workers"),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN_EXECUTORS)
def test_a_broken_promise_of_an_executor_is_named(
    make: Callable[[], Backwards], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_executor(make)


class Page:
    """Writes one line."""

    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        page = folder / "page.txt"
        page.write_text(f"{len(evidence.trajectories)} episodes: {result.status}")
        return page


def test_a_page_keeps_every_promise(tmp_path: Path) -> None:
    check_reporter(Page, tmp_path)


class NothingWritten(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        return folder / "page.txt"


class WritesElsewhere(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        Path("stray.txt").write_text("here")
        return super().render(plan, result, evidence, folder)


class PageElsewhere(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        return super().render(plan, result, evidence, Path())


class OverwritesTheRecord(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        (folder / "result.json").unlink()
        return super().render(plan, result, evidence, folder)


class NeedsEpisodes(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        _ = evidence.trajectories[0]
        return super().render(plan, result, evidence, folder)


class GivesNothing(Page):
    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        super().render(plan, result, evidence, folder)
        return None  # type: ignore[return-value]


BROKEN_REPORTERS = [
    (GivesNothing, "must give the path of the file to open, got None"),
    (NothingWritten, "a file to open"),
    (WritesElsewhere, "also wrote stray.txt"),
    (PageElsewhere, "inside the run folder"),
    (OverwritesTheRecord, "must not change the record, e.g. result.json"),
    (NeedsEpisodes, "a run of status 'failed'"),
    (object, "must have render"),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN_REPORTERS)
def test_a_broken_promise_of_a_reporter_is_named(
    make: Callable[[], Page], promise: str, tmp_path: Path
) -> None:
    with caught(make.__name__, promise):
        check_reporter(make, tmp_path)
