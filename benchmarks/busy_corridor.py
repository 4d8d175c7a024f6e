"""A world whose steps take CPU, as those of a simulator do."""

import time

from gde.data.observation import Outcome
from gde.testing.parts import Corridor

SECONDS = 0.005


class BusyCorridor(Corridor):
    """A corridor whose steps take 5 ms of CPU."""

    def step(self, action: str) -> Outcome:
        until = time.thread_time() + SECONDS
        while time.thread_time() < until:
            pass
        return super().step(action)


def busy_corridor() -> BusyCorridor:
    """A world of twelve cells."""
    return BusyCorridor(12)
