"""Simulated worlds in which the truth is known, and how often each method is wrong in
them.

`python tests/framework/numerics/stats/simulations.py RUNS [TABLE...]` prints tables of
the error rates that docs/statistics.md sums up.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from scipy.stats import sem, t

from gde.numerics.stats import (
    MINIMUM_CLUSTERS,
    Finding,
    Interval,
    _differences,
    _estimates,
    benjamini_hochberg,
    cluster_differences,
    cluster_mean,
    cluster_means,
    cluster_share,
    difference_from_initialisations,
    exchange_replicates,
    holm,
    linear_trend,
    minimum_detectable,
    page,
    paired_difference,
    sign_flip,
    signed_rank,
    spearman,
    unpaired_difference,
)

Floats = NDArray[np.float64]
Rng = np.random.Generator
Pairs = tuple[Floats, Floats, NDArray[np.int64]]
ALPHA = 0.05
COUNTS = (6, 10, 20, 50, 200)
"""Clusters."""
FEW = (2, 3, 4, 5, 6, 7, 8)
"""Clusters around the fewest for an interval."""
PERMUTATIONS, ONE_SIDED, POWERFUL = 79, 39, 999
"""Draws. A two-sided permutation test has the level 5 % for any number of draws r with
(r + 1) / 40 whole, a one-sided one for (r + 1) / 20, so a few will do; only its power
grows with them.
"""


def normal(rng: Rng, n: int) -> Pairs:
    """Three worlds a cluster; clusters differ, and each condition moves a cluster as a
    whole.
    """
    clusters = np.repeat(np.arange(n), 3)
    shared = np.repeat(rng.normal(size=n), 3)
    a, b = (
        shared + np.repeat(rng.normal(size=n), 3) + rng.normal(size=3 * n)
        for _ in range(2)
    )
    return a, b, clusters


def rates(rng: Rng, n: int) -> Pairs:
    """Successes in ten trajectories, of a probability that is 0.7 on average and
    differs from cluster to cluster.
    """
    p = rng.beta(2.8, 1.2, n)
    return rng.binomial(10, p) / 10, rng.binomial(10, p) / 10, np.arange(n)


def ceiling(rng: Rng, n: int) -> Pairs:
    """Successes in ten trajectories, most of which succeed: half of the pairs are
    equal.
    """
    p = rng.beta(5, 0.5, n)
    return rng.binomial(10, p) / 10, rng.binomial(10, p) / 10, np.arange(n)


def hits(rng: Rng, n: int) -> Pairs:
    """One success or failure a world, of a probability that differs from world to world
    and is 0.9 on average.
    """
    p = rng.beta(5, 0.5, n)
    return (
        rng.binomial(1, p).astype(float),
        rng.binomial(1, p).astype(float),
        np.arange(n),
    )


def able(rng: Rng, n: int) -> Pairs:
    """One success or failure a world, of two agents that seldom fail."""
    return (
        rng.binomial(1, 0.95, n).astype(float),
        rng.binomial(1, 0.98, n).astype(float),
        np.arange(n),
    )


def abler(rng: Rng, n: int) -> Pairs:
    """The same, the better of the two first."""
    worse, better, worlds = able(rng, n)
    return better, worse, worlds


DESIGNS: Mapping[str, Callable[[Rng, int], Pairs]] = {
    "normal": normal,
    "rates": rates,
    "near 1": ceiling,
}
COMPARED: Mapping[
    str, tuple[Callable[[Rng, int], Pairs], Callable[[Rng, int], Pairs], float]
] = {
    **{name: (design, design, 0.0) for name, design in DESIGNS.items()},
    "hits": (hits, hits, 0.0),
    "able": (able, abler, -0.03),
}
"""Pairs, the design of which the first are the second of groups that are not paired,
and the true difference.
"""


def paired(design: str, n: int, runs: int) -> dict[str, float]:
    """Shares of null experiments that each paired test rejects; a test that is not made
    rejects nothing.
    """
    rng = np.random.default_rng([n, len(design)])
    differences = [cluster_differences(*DESIGNS[design](rng, n)) for _ in range(runs)]
    flips = [sign_flip(each, rng, PERMUTATIONS) for each in differences]
    return {
        "sign-flip": _rejected(flips),
        "Wilcoxon": _rejected([signed_rank(each) for each in differences]),
        "not made": float(np.mean([flip.p_value is None for flip in flips])),
    }


def replicates(n: int, runs: int) -> dict[str, float]:
    """Shares of null experiments that the exchange of episodes rejects: five of each
    condition in n worlds.
    """
    rng = np.random.default_rng([n, 7])
    worlds, varied = (
        np.repeat(np.arange(n), 10),
        np.tile(np.repeat([False, True], 5), n),
    )
    rates = [np.repeat(rng.beta(2.8, 1.2, n), 10) for _ in range(runs)]
    hits = (rng.random(10 * n) < rate for rate in rates)
    return {
        "p_any": _rejected(
            [exchange_replicates(each, varied, worlds, rng, ONE_SIDED) for each in hits]
        )
    }


def coverage(design: str, n: int, runs: int) -> dict[str, float]:
    """Shares of experiments whose interval covers the true difference, of those that
    have one.
    """
    rng = np.random.default_rng([n, len(design), 2])
    draw, other, truth = COMPARED[design]
    found: dict[str, list[Interval | None]] = {"paired": [], "unpaired": []}
    for _ in range(runs):
        a, b, clusters = draw(rng, n)
        found["paired"].append(
            paired_difference(a, b, clusters, rng, 1).estimate.interval
        )
        b, others = _group(other, n, rng), np.arange(n) + n
        found["unpaired"].append(
            unpaired_difference(a, clusters, b, others, rng).interval
        )
    return {name: _covering(each, truth) for name, each in found.items()}


def few(n: int, runs: int) -> dict[str, float]:
    """How often the intervals of few clusters would cover the truth if they were
    given.
    """
    with _any_number_of_clusters():
        found = estimates(n, runs)
        for design in DESIGNS:
            for name, share in coverage(design, n, runs).items():
                found[f"{name}, {design}"] = share
    return found


def initialisations(n: int, runs: int) -> dict[str, float]:
    """How often one more of n initialisations is called different from the others, and
    a model that differs by the median detectable difference.

    60 worlds; initialisations differ from one another more than worlds scatter. The
    error of the mean of the others is what gde does not use.
    """
    rng = np.random.default_rng(n)
    worlds = 60
    called = dict.fromkeys(("one more", "error of the mean", "detectable"), 0)
    drawn = []
    detectable = []
    for _ in range(runs):
        means = rng.normal(size=(n + 1, 1))
        difficulty = rng.normal(scale=2, size=worlds)
        ours, *others = means + difficulty + rng.normal(scale=0.3, size=(n + 1, worlds))
        controls = np.array(others)
        found = difference_from_initialisations(ours, controls)
        assert found is not None
        called["one more"] += found.p_value < 0.05
        drawn.append((ours, controls))
        detectable.append(found.mde)

        of_worlds = t.ppf(0.975, worlds - 1) * sem(ours - controls.mean(axis=0))
        of_mean = t.ppf(0.975, n - 1) * sem(controls.mean(axis=1))
        half = np.hypot(of_worlds, of_mean)
        called["error of the mean"] += bool(abs(found.value) > half)

    effect = np.median(detectable)
    for ours, controls in drawn:
        found = difference_from_initialisations(ours + effect, controls)
        assert found is not None
        called["detectable"] += found.p_value < 0.05
    return {name: count / runs for name, count in called.items()}


@contextmanager
def _any_number_of_clusters() -> Iterator[None]:
    """Lift the minimum, to measure why it is there."""
    for module in (_estimates, _differences):
        vars(module)["MINIMUM_CLUSTERS"] = 2
    try:
        yield
    finally:
        for module in (_estimates, _differences):
            vars(module)["MINIMUM_CLUSTERS"] = MINIMUM_CLUSTERS


def _group(draw: Callable[[Rng, int], Pairs], n: int, rng: Rng) -> Floats:
    a, _, clusters = draw(rng, n)
    return cluster_means(a, clusters)


def estimates(n: int, runs: int) -> dict[str, float]:
    """How often the intervals of a mean and of a share cover the truth, with clusters
    of 3 to 19 rows.
    """
    rng = np.random.default_rng([n, 3])
    covered = np.zeros(2)
    for _ in range(runs):
        sizes = rng.integers(3, 20, n)
        clusters = np.repeat(np.arange(n), sizes)
        values = np.repeat(rng.normal(size=n), sizes) + rng.normal(size=len(clusters))
        hits = rng.random(len(clusters)) < np.repeat(rng.beta(2.8, 1.2, n), sizes)
        for i, (estimate, truth) in enumerate(
            (
                (cluster_mean(values, clusters, rng), 0.0),
                (cluster_share(hits, clusters, rng), 0.7),
            )
        ):
            low, high = estimate.interval or (0.0, 0.0)
            covered[i] += low <= truth <= high
    return dict(zip(("mean", "share"), (covered / runs).tolist(), strict=True))


def trends(n: int, runs: int) -> dict[str, float]:
    """Shares of null experiments that each test of a trend rejects, over five sizes
    with n worlds in all.
    """
    rng = np.random.default_rng([n, 3])
    sizes, clusters = np.arange(n) % 5, np.arange(n)
    observed = rng.binomial(10, rng.beta(2.8, 1.2, (runs, n))) / 10
    return {
        "Spearman, rates": _rejected(
            [spearman(sizes, each, clusters, rng, PERMUTATIONS) for each in observed]
        ),
        "Page, rates": _rejected([page(each.reshape(-1, 5)) for each in observed]),
        "Page, no ties": _rejected(
            [page(rng.normal(size=(n // 5, 5))) for _ in range(runs)]
        ),
    }


def regression(n: int, runs: int) -> dict[str, float]:
    """Walks from different distances in n worlds, whose accuracy differs from world to
    world but not with distance.
    """
    rng = np.random.default_rng([n, 4])
    slopes = []
    for _ in range(runs):
        starts = rng.integers(2, 20, n)
        worlds, distance = (
            np.repeat(np.arange(n), starts),
            np.concatenate([np.arange(start, 0, -1) for start in starts]),
        )
        hits = rng.random(len(worlds)) < np.repeat(rng.beta(2.8, 1.2, n), starts)
        slopes.append(linear_trend(distance, hits, worlds))
    return {"slope": _rejected(slopes)}


def families(
    runs: int, n_null: int = 15, n_real: int = 5, n: int = 30
) -> dict[str, float]:
    """Variations against one set of unvaried worlds: 15 without effect, 5 with one."""
    rng = np.random.default_rng(5)
    wrong, false_shares = 0, []
    effects = np.repeat([0.0, 1.2], [n_null, n_real])
    for _ in range(runs):
        unvaried = rng.normal(size=n)
        p = [
            signed_rank(unvaried - rng.normal(size=n) + effect).p_value or 1.0
            for effect in effects
        ]
        wrong += min(holm(p)[:n_null]) <= ALPHA
        found = np.array(benjamini_hochberg(p)) <= ALPHA
        false_shares.append(found[:n_null].sum() / max(found.sum(), 1))
    return {
        "Holm, family error": wrong / runs,
        "BH, false discoveries": float(np.mean(false_shares)),
    }


def power(n: int, runs: int) -> dict[str, float]:
    """Shares of experiments found whose true effect is the minimum detectable one."""
    rng = np.random.default_rng([n, 6])
    differences = rng.normal(minimum_detectable(1 / np.sqrt(n), n - 1), 1, (runs, n))
    return {
        "sign-flip": _rejected(
            [sign_flip(each, rng, POWERFUL) for each in differences]
        ),
        "Wilcoxon": _rejected([signed_rank(each) for each in differences]),
    }


def _covering(intervals: Iterable[Interval | None], truth: float) -> float:
    return float(
        np.mean([low <= truth <= high for low, high in filter(None, intervals)])
    )


def _rejected(findings: Iterable[Finding]) -> float:
    return float(
        np.mean([one.p_value is not None and one.p_value <= ALPHA for one in findings])
    )


TABLES: Mapping[str, Callable[[int], Iterator[tuple[str, Mapping[str, float]]]]] = {
    "tests": lambda runs: (
        (f"paired, {design}, n = {n}", paired(design, n, runs))
        for design in DESIGNS
        for n in COUNTS
    ),
    "replicates": lambda runs: (
        (f"replicates, n = {n}", replicates(n, runs)) for n in COUNTS
    ),
    "trends": lambda runs: (
        (f"trends, n = {n}", trends(n, runs)) for n in (15, 60, 200)
    ),
    "regression": lambda runs: (
        (f"regression, n = {n}", regression(n, runs)) for n in COUNTS
    ),
    "families": lambda runs: iter([("families of 20", families(runs))]),
    "power": lambda runs: ((f"power, n = {n}", power(n, runs)) for n in (8, 20, 50)),
    "intervals": lambda runs: (
        (f"difference, {design}, n = {n}", coverage(design, n, runs))
        for design in COMPARED
        for n in COUNTS
    ),
    "few": lambda runs: ((f"few, n = {n}", few(n, runs)) for n in FEW),
    "initialisations": lambda runs: (
        (f"{n} initialisations", initialisations(n, runs)) for n in (2, 3, 5)
    ),
    "estimates": lambda runs: (
        (f"estimate, n = {n}", estimates(n, runs)) for n in COUNTS
    ),
}


def main(runs: int, tables: Sequence[str]) -> None:
    """Print tables as Markdown rows."""
    for table in tables or TABLES:
        for name, shares in TABLES[table](runs):
            cells = " | ".join(
                f"{key} {100 * share:.1f} %" for key, share in shares.items()
            )
            sys.stdout.write(f"| {name} | {cells} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
