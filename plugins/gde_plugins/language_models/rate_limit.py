"""How fast a server may be asked: it says when it was too much, and the rate that is not is found by asking.

Until a request is refused, the number in flight doubles with every round trip of answers. From then on requests are
sent at a rate, which grows by equal shares until it is refused. Then it goes back by a little and follows a cubic
curve, as TCP may (Ha et al. 2008): up to near the rate that was refused, there for a while, ever faster beyond. The
more a refusal costs, by the pause that a server wants, the longer that while. While a server wants to be left alone,
nobody is let through. One limit belongs to one model in one event loop.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf

FIRST, MOST = 8, 4096
"""Requests in flight at the beginning, and at most."""
KEPT = 0.93
"""Of the rate that was refused: where the curve begins."""
AGAIN = 0.95
"""Of that rate, where it was refused sooner than it should have been."""
STRIDE = 0.3
"""Share by which the rate grows in a second, or in a round trip where that is longer, before it was first refused."""
SHORT, COSTS = 6.0, 20.0
"""Until a rate that was refused is tried again: so many seconds at least, or so many times what it cost: the pause, and
the round trip in which all others were refused as well."""
SPAN = 5.0
"""Seconds over which answers are counted."""
SHORTEST, LONGEST = 0.05, 60.0
"""Seconds of a pause, where a server names none."""
LATE = 0.02
"""Seconds by which whoever sleeps may wake up too late."""
SLOWEST = 0.05
"""Requests a second, at least."""


class RateLimit:
    """The door that the requests of one model go through, in the order in which they come."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Take what tells the seconds, as the event loop does."""
        self._clock = clock
        self._door = asyncio.Lock()
        self._left: asyncio.Future[None] | None = None
        self._in_flight = 0
        self._window = FIRST
        self.rate = inf
        """Requests a second; infinite before the first refusal."""
        self._peak = inf
        """The rate that was refused last; infinite while none is known."""
        self._plateau, self._trip = SHORT, 0.0
        self._next = self._closed_until = 0.0
        self._refused_at, self._refusals = -inf, 0
        self.answers = 0
        self._answered_at: deque[float] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Wait until a request may be sent; it is in flight while the context lasts. Gives the moment."""
        async with self._door:
            await self._wait()
            self._in_flight += 1
        try:
            yield self._clock()
        finally:
            self._in_flight -= 1
            if self._left is not None and not self._left.done():
                self._left.set_result(None)

    def answered(self, sent: float) -> None:
        """The server has answered a request, sent at that moment."""
        now = self._clock()
        self._refusals = 0
        self.answers += 1
        self._trip += (now - sent - self._trip) / 8
        self._answered_at.append(now)
        if self.rate == inf:
            self._window = min(MOST, self._window + 1)
        elif self._peak == inf:
            self.rate += STRIDE / max(1.0, self._trip)
        elif now > self._closed_until and self._of_late(now) > self.rate / 2:  # one that is not used is not known
            share = (now - self._closed_until) / self._plateau
            self.rate = max(self.rate, self._peak * (1 + (1 - KEPT) * (share - 1) ** 3))

    def refused(self, sent: float, pause: float | None) -> None:
        """The server has refused a request, sent at that moment, as one too many, and named the seconds to wait, or
        none. Those that were under way when one was refused are refused for the same reason and change nothing."""
        now = self._clock()
        fresh = sent > self._refused_at
        self._refusals += fresh
        wait = min(LONGEST, SHORTEST * 2.0 ** min(20, self._refusals)) if pause is None else pause
        if fresh:
            self._slow_down(now)
            self._plateau = max(SHORT, COSTS * (wait + now - sent))
            self._refused_at = now
        self._closed_until = max(self._closed_until, now + wait)
        self._next = max(self._next, self._closed_until)

    def _slow_down(self, now: float) -> None:
        calm, of_late = now - self._closed_until, self._of_late(now)
        if self.rate == inf or (calm > SPAN and of_late < self.rate / 2):
            # The limit was never looked for, or has fallen: what was answered is a beginning to look for it from.
            self.rate, self._peak, self._window = max(SLOWEST, of_late), inf, MOST
            return
        soon = self._peak < inf and calm < self._plateau / 2
        self._peak = max(SLOWEST, self.rate * (AGAIN if soon else 1.0))
        self.rate = max(SLOWEST, KEPT * self._peak)

    def _of_late(self, now: float) -> float:
        """Answers a second."""
        while self._answered_at and self._answered_at[0] < now - SPAN:
            self._answered_at.popleft()
        if not self._answered_at:
            return 1.0 if self.rate == inf else self.rate / 2
        return len(self._answered_at) / max(now - self._answered_at[0], 1.0)

    async def _wait(self) -> None:
        while True:
            now = self._clock()
            at = self._next
            if self._in_flight >= self._window:
                self._left = asyncio.get_running_loop().create_future()
                await self._left
            elif at > now:
                await asyncio.sleep(at - now)
            else:
                # Being late by a moment, as sleepers are, is made up for; to have had nothing to send is not.
                self._next = max(self._next, now - LATE) + 1 / self.rate
                return


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that a server wants to be left alone: of Retry-After in both of its forms, or of retry-after-ms; None
    where it names none that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None or said is None:
        return seconds
    try:
        moment = parsedate_to_datetime(said)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return number if 0 <= number < inf else None
