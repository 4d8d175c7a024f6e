"""The rate that a server allows is found, whatever its rule of refusing is. Time is
virtual here.
"""

import asyncio
from datetime import UTC, datetime
from math import inf

import pytest

from gde_plugins.language_models.rate_limit import RateLimit, Sent, retry_after


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which sleeping takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._now = max(self._now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def answered(
    rate: float,
    size: float,
    latency: float,
    clients: int,
    pause: float | None,
    seconds: int,
    new_rate: float = 0.0,
) -> list[int]:
    """How many were answered in each second; from the middle on at the new rate, where
    one is given.
    """
    loop = VirtualLoop()
    per_second = [0] * (seconds + 1)

    async def main() -> None:
        limit = RateLimit(loop.time)
        tokens, at, allowed = size, 0.0, rate

        def take() -> bool:
            nonlocal tokens, at, allowed
            now = loop.time()
            allowed = new_rate if new_rate and now > seconds / 2 else rate
            tokens, at = min(size, tokens + (now - at) * allowed), now
            if tokens < 1:
                return False
            tokens -= 1
            return True

        async def client() -> None:
            while True:
                async with limit.turn() as sent:
                    await asyncio.sleep(latency)
                    if take():
                        per_second[int(loop.time())] += 1
                        limit.answered()
                    else:
                        limit.refused(sent, pause)

        tasks = [asyncio.create_task(client()) for _ in range(clients)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()

    try:
        loop.run_until_complete(main())
    finally:
        loop.close()
    return per_second


@pytest.mark.parametrize(
    ("rate", "size", "latency", "pause", "least"),
    [
        (50, 50, 0.02, 1.0, 0.9),
        (50, 50, 0.02, None, 0.9),
        (5, 5, 0.5, 1.0, 0.9),
        (5, 1, 0.1, None, 0.9),
        (1, 60, 1.0, 2.0, 0.9),
        (
            50,
            1,
            0.02,
            1.0,
            0.75,
        ),  # each refusal costs a whole second, which no burst makes up for
    ],
)
def test_after_a_minute_what_is_allowed_is_used(
    rate: float, size: float, latency: float, pause: float | None, least: float
) -> None:
    per_second = answered(rate, size, latency, clients=64, pause=pause, seconds=120)
    assert sum(per_second[60:120]) >= least * rate * 60


@pytest.mark.parametrize(("size", "least"), [(100, 0.85), (10, 0.75), (1, 0.65)])
def test_with_hundreds_in_flight_for_a_second_each_most_of_what_is_allowed_is_used(
    size: float, least: float
) -> None:
    """A refusal costs two seconds here: that of the pause and that in which all others
    in flight are refused.
    """
    per_second = answered(100, size, 1.0, clients=512, pause=1.0, seconds=120)
    assert sum(per_second[60:120]) >= least * 100 * 60


def test_long_pauses_leave_more_than_half_of_what_is_allowed() -> None:
    per_second = answered(5, 5, 0.5, clients=64, pause=5.0, seconds=180)
    assert sum(per_second[120:180]) >= 0.55 * 5 * 60


def test_a_limit_that_is_lifted_is_found() -> None:
    per_second = answered(20, 20, 0.1, clients=64, pause=1.0, seconds=240, new_rate=80)
    assert sum(per_second[210:240]) >= 0.85 * 80 * 30


def test_a_limit_that_falls_to_a_tenth_is_followed() -> None:
    per_second = answered(
        100, 10, 0.05, clients=64, pause=0.5, seconds=240, new_rate=10
    )
    assert sum(per_second[180:240]) >= 0.85 * 10 * 60


def test_where_nothing_is_refused_everything_is_in_flight_within_a_few_round_trips() -> (
    None
):
    per_second = answered(1e9, 1e9, 0.1, clients=512, pause=None, seconds=8)
    assert sum(per_second[2:8]) >= 0.99 * 6 * 512 / 0.1


def test_while_a_server_wants_to_be_left_alone_it_is() -> None:
    loop = VirtualLoop()

    async def main() -> float:
        limit = RateLimit(loop.time)
        async with limit.turn() as sent:
            limit.refused(sent, 3600.0)
        async with limit.turn() as sent:
            return sent.moment

    try:
        assert loop.run_until_complete(main()) >= 3600.0
    finally:
        loop.close()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Sun, 22 Nov 2026 01:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 22 Nov 2020 01:00:30 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, datetime(2026, 11, 22, 1, 0, 0, tzinfo=UTC)) == seconds


def test_a_refusal_before_the_first_answer_sets_no_rate() -> None:
    """A busy server's first word is about this moment; a rate from it would hold the
    next request back for 20 s.
    """
    limit = RateLimit(clock=lambda: 1.0)
    limit.refused(Sent(0.5, 0), None)
    assert limit.rate == inf
