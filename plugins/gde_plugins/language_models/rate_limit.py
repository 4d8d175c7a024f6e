"""The rate of requests: it grows with each answer and shrinks with each refusal.

Growth is by a constant and decrease by a factor. This additive increase and
multiplicative decrease is that of TCP (Chiu and Jain, 1989). No request is sent during
the pause that a server names in Retry-After.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf
from typing import NamedTuple

FIRST = 8
"""Initial limit of requests in flight. Before the first refusal each answer raises it
by one.
"""
MOST = 4096
"""Maximum number of requests in flight."""
START, INCREASE = 0.2, 0.02
"""Growth of the rate, in requests a second per answer while other requests wait: until
the second refusal, and after it.
"""
DECREASE = 0.85
"""Factor of the rate after a refusal."""
SLOWEST = 0.05
"""Minimum rate in requests a second."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 60.0
"""Seconds of a pause that the server does not name; doubled after each further refusal.
"""
LATE = 0.02
"""Seconds by which the event loop may wake a sleeper too late; the next request makes
up for it.
"""


class Sent(NamedTuple):
    """A sent request."""

    moment: float
    answers: int
    """Number of answers before it."""


class RateLimit:
    """The gate of all requests to one server, in the order of their arrival."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Create the gate with a clock in seconds, e.g. `loop.time`."""
        self.rate = inf
        """Requests a second; infinite before the first refusal."""
        self.answers = 0
        """Number of answers."""
        self._clock = clock
        self._gate = asyncio.Lock()
        self._landed = asyncio.Event()
        """Set when a request in flight ends, and then replaced."""
        self._in_flight = 0
        self._window = FIRST
        self._increase = START
        self._next = 0.0
        """Earliest time of the next request."""
        self._refused_at = -inf
        self._refusals = 0
        """Refusals since the last answer."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Sent]:
        """Wait until a request may be sent. It is in flight while the context lasts."""
        async with self._gate:
            await self._wait()
            self._in_flight += 1
        try:
            yield Sent(self._clock(), self.answers)
        finally:
            self._in_flight -= 1
            self._landed.set()
            self._landed = asyncio.Event()

    def answered(self) -> None:
        """Record an answer of the server."""
        self.answers += 1
        self._refusals = 0
        if self.rate == inf:
            self._window = min(MOST, self._window + 1)
        elif (
            self._gate.locked()
        ):  # a rate that is not used up says nothing about a higher one
            self.rate += self._increase

    def refused(self, sent: Sent, pause: float | None) -> None:
        """Record that the server refused a request because of its rate limit.

        Args:
            sent: what `turn` gave.
            pause: seconds that the server wants to be left alone; None where it names
                none.
        """
        now = self._clock()

        # Requests under way at a refusal are refused for the same reason, so only those
        # sent after it count.
        if sent.moment > self._refused_at:
            answered = self.answers - sent.answers
            if self.rate < inf:
                self.rate = max(SLOWEST, self.rate * DECREASE)
                self._increase = INCREASE
            elif answered:
                self.rate = max(SLOWEST, answered / max(1.0, now - sent.moment))
            else:
                # A server that has answered nothing meanwhile tells no rate: fewer
                # requests in flight are tried.
                self._window = max(1, int(self._window * DECREASE))
            self._refused_at = now
            self._refusals += 1

        if pause is None:
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(20, self._refusals - 1))
        self._next = max(self._next, now + pause)

    async def _wait(self) -> None:
        while True:
            now = self._clock()
            if self._in_flight >= (self._window if self.rate == inf else MOST):
                await self._landed.wait()
            elif self._next > now:
                await asyncio.sleep(self._next - now)
            else:
                break
        # A sleeper that woke late is made up for; a time without requests is not.
        self._next = max(self._next, now - LATE) + 1 / self.rate


def retry_after(
    headers: Mapping[str, str], now: datetime | None = None
) -> float | None:
    """Return the pause in seconds that the headers of an answer request.

    They are Retry-After, in both its forms, and retry-after-ms.

    Returns:
        None where the headers name no time that can be read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000

    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds

    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < inf else None
