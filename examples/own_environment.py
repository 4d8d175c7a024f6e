"""Define an environment without packaging: a counter that must reach a target.

Run it as a script, or name the module on the command line:

    PYTHONPATH=examples GDE_LOAD_PLUGINS=own_environment gde eval --env counter --agent
    random --episodes 5
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gde import (
    Catalogue,
    Choice,
    Environment,
    EnvironmentOffer,
    Observation,
    Outcome,
    Plan,
    Task,
    World,
    evaluate,
    hookimpl,
    load_plugins,
)
from gde.seeding import derive

ACTIONS = ("MORE", "LESS")


@dataclass(frozen=True, kw_only=True)
class CounterConfig:
    """Settings of the counter."""

    largest: Annotated[int, Field(ge=1)] = 5
    """The target is between 1 and this."""


class Counter:
    """Starts at 0; ends with reward 1 at the target."""

    def __init__(self, config: CounterConfig) -> None:
        self._largest = config.largest

    def reset(self, seed: int) -> Observation:
        self._target, self._count = 1 + derive(seed, "target") % self._largest, 0
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective=f"Count to {self._target}.",
            horizon=4 * self._largest,
            actions=ACTIONS,
        )

    def world(self) -> World:
        return World(id=f"to {self._target}", labels={"target": self._target})

    def step(self, action: str) -> Outcome:
        if action not in ACTIONS:
            raise ValueError(f"wanted {' or '.join(ACTIONS)}, got {action!r}")
        if self._count == self._target:
            raise ValueError("the episode is over")
        self._count += 1 if action == "MORE" else -1
        reached = self._count == self._target
        return (
            Outcome.terminal(self._observe(), 1.0, success=1.0)
            if reached
            else Outcome.running(self._observe())
        )

    def snapshot(self) -> object:
        return self._count

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int):
            raise ValueError(f"wanted a count, got {snapshot!r}")
        self._count = snapshot
        return self._observe()

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        return Observation(
            text=f"You are at {self._count}, the target is {self._target}.",
            actions=ACTIONS,
        )


@hookimpl
def gde_environments() -> Sequence[EnvironmentOffer[CounterConfig, Environment]]:
    """Offer the world."""
    return (
        EnvironmentOffer(
            name="counter",
            summary="Count to a target.",
            config=CounterConfig,
            make=lambda config, _: Counter(config),
        ),
    )


def main() -> None:
    """Evaluate the random agent in counters of two sizes."""
    sys.path.insert(0, str(Path(__file__).parent))
    catalogue = Catalogue(load_plugins(modules=["own_environment"]))
    plan = Plan(
        environment=Choice(name="counter", config={"largest": [2, 8]}),
        agent="random",
        metrics=("success",),
        episodes=10,
    )
    with tempfile.TemporaryDirectory() as folder:
        result = evaluate(plan, Path(folder) / "run", catalogue)
    for measurement in result.measurements:
        print(
            measurement.name,
            dict(measurement.where),
            measurement.value,
            measurement.interval,
        )


if __name__ == "__main__":
    main()
