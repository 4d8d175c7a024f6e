"""Power: how often the test would find an agent of known noise in the same worlds."""

from collections.abc import Sequence

import numpy as np

from gde.seeding import pick
from gde_plugins.meg.verdict.pursuits import Choose, Options
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

RANDOM = 0.7
"""Share of random decisions of the walker."""
DRAWS = 999


def noisy(share: float, goal: int, rng: np.random.Generator) -> Choose:
    """Return a walker that takes an optimal action towards goal number `goal`, and a
    random one this share of the time.
    """

    def choose(options: Options, optimal: Sequence[Sequence[str]]) -> str:
        choices = optimal[goal]
        if not choices or rng.random() < share:
            choices = options
        return pick(choices, rng)

    return choose


def found(runs: Sequence[Randomisation], rng: np.random.Generator) -> int:
    """The number of runs that are called directed towards the goal."""
    return sum(run.is_towards and run.p_value(rng, DRAWS) <= LEVEL for run in runs)
