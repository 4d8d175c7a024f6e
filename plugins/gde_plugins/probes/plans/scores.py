"""Agreement of decoded plans with the agent's actions."""

from collections.abc import Iterator, Sequence

import numpy as np

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde_plugins.probes.arrays import Bools, Codes, Floats, Indices, Worlds

NO_PLAN = "no held-out turn has fewer future actions than are decoded"


def score_plans(
    decoded: Floats,
    plans: Codes,
    marginal: Floats,
    groups: Worlds,
    rng: np.random.Generator,
) -> Sequence[Measurement]:
    """Measure prefix accuracy and lengths of decoded plans, with intervals over worlds.

    See Arghal et al. (2026), section 5.3 and table 6.

    - "prefix.n": share of the plans of n actions or more, the end counted as one, whose
      first n are all decoded.
    - "marginal.n": the same of the commonest action of each place in training.
    - "random.n": the same of uniform guesses among the actions, as published.
    - "length.exact": share of plans whose length is decoded.
    - "length.decoded", "length.true": mean number of actions before the end.
    - "length.bias", "length.error": mean and median size of their difference.

    Args:
        decoded: (N, H, C) probabilities of the end, which is 0, and of the actions.
        plans: (N, H) the actions taken; -1 where a plan is over.
        marginal: (H, C) frequencies in training.
        groups: (N,) worlds.
        rng: for resampling.
    """
    if not len(plans):
        return [unmeasured("prefix.1", NO_PLAN)]

    named = decoded.argmax(axis=-1)
    commonest = marginal.argmax(axis=-1)
    n_actions = decoded.shape[-1] - 1
    measurements = [*_prefixes(named, plans, commonest, n_actions, groups, rng)]
    measurements += _lengths(named, plans, groups, rng)
    return measurements


def _prefixes(
    named: Indices,
    plans: Codes,
    commonest: Indices,
    n_actions: int,
    groups: Worlds,
    rng: np.random.Generator,
) -> Iterator[Measurement]:
    """Measure the shares of plans of each length whose first actions are all correct."""
    right = np.logical_and.accumulate(named == plans, axis=1)
    guessed = np.logical_and.accumulate(commonest == plans, axis=1)
    readers = {"prefix": right, "marginal": guessed}
    chance = float(max(n_actions, 1))
    horizon = plans.shape[1]

    for n in range(1, horizon + 1):
        # Shorter plans have -1 here, and are not asked.
        last = n - 1
        long = plans[:, last] >= 0
        for name, hits in readers.items():
            if long.any():
                estimate = cluster_share(hits[long, last], groups[long], rng)
                yield estimate.measurement(f"{name}.{n}")
            else:
                yield unmeasured(f"{name}.{n}", f"no held-out plan has {n} actions")
        yield Measurement(name=f"random.{n}", value=chance**-n, n=int(long.sum()))


def _lengths(
    named: Indices,
    plans: Codes,
    groups: Worlds,
    rng: np.random.Generator,
) -> Iterator[Measurement]:
    """Measure the error of the decoded number of actions."""
    decoded = _ends(named == 0)
    true = _ends(plans == 0)
    errors = decoded - true
    exact = cluster_share(errors == 0, groups, rng)
    yield exact.measurement("length.exact")

    means = {"decoded": decoded, "true": true, "bias": errors}
    for name, values in means.items():
        estimate = cluster_mean(values, groups, rng)
        yield estimate.measurement(f"length.{name}")

    # The publication prints the median, which one plan without an end cannot carry
    # away.
    median = float(np.median(np.abs(errors)))
    yield Measurement(name="length.error", value=median, n=len(errors))


def _ends(is_end: Bools) -> Codes:
    """(N,) actions before the first end; all of them without an end."""
    has_end = is_end.any(axis=1)
    first = is_end.argmax(axis=1)
    horizon = is_end.shape[1]
    places: Codes = np.where(has_end, first, horizon).astype(np.int64)
    return places
