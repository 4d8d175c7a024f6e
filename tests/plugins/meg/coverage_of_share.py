"""Coverage of the interval of `meg.verdict.share`.

`python tests/plugins/meg/coverage_of_share.py 600` prints it for 10, 30 and 200 worlds.
The worlds of a run are drawn from a pool of so many, whose ratio is the truth.
"""

import sys
from functools import partial

import numpy as np

from gde_plugins.grid.composition import compose
from gde_plugins.grid.config import GridConfig
from gde_plugins.meg.verdict.power import noisy
from gde_plugins.meg.verdict.pursuits import pursuits_of
from gde_plugins.meg.verdict.randomisation import ratio

RUNS = 4000


def begun(seed):  # type: ignore[no-untyped-def]
    environment = compose(GridConfig(size=9, density=0.5))
    environment.reset(seed)
    return environment


def pool(n_worlds: int, random: float) -> np.ndarray:
    """(N, 2) excess and attainable excess of a walker in each world."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(n_worlds):
        with pursuits_of(partial(begun, seed)) as pursuits:
            if len(pursuits.chances) > 1:
                one = pursuits.walked(noisy(random, pursuits.present, rng))
                found.append((one.excess, one.attainable))
    return np.array(found)


def main() -> None:
    for random in (0.0, 0.3, 0.7, 1.0):
        pairs = pool(int(sys.argv[1]), random)
        truth = pairs[:, 0].sum() / pairs[:, 1].sum()
        rng = np.random.default_rng(1)
        for n in (10, 30, 200):
            covered = 0
            for _ in range(RUNS):
                above, below = pairs[rng.integers(len(pairs), size=n)].T
                found = ratio(above, below)
                assert found.interval is not None
                covered += found.interval[0] <= truth <= found.interval[1]
            line = f"{random} {truth:.3f} {n} {covered / RUNS}\n"
            sys.stdout.write(line)


if __name__ == "__main__":
    main()
