"""A price for complex utilities, where the class of utilities would explain anything.

MacDermott et al. (2024, footnote 7) avoid utilities that overfit a policy by leaving actions out of what they depend
on, and name the alternative: penalise the complex ones. Here by what it takes to state the weights to the precision
that n episodes tell them (Schwarz 1978): ln(n) / 2 nats for each weight, shared by n episodes.
"""

from collections.abc import Mapping
from math import log
from numbers import Integral
from typing import NamedTuple

import numpy as np

from gde_plugins.meg.solvers.result import Meg


class Priced(NamedTuple):
    """A measurement less the price of its utility."""

    name: str
    value: float
    """Nats an episode; below zero where the utility costs more than it explains."""
    price: float
    """Nats an episode."""


def priced(found: Mapping[str, Meg], episodes: int) -> list[Priced]:
    """Measurements towards different classes of utilities, the best first, on a scale on which they compare.

    Args:
        found: by name, of the same policy; a utility that was not fitted has one weight, its rationality.
        episodes: how much of the behaviour there is to be explained, n.

    Raises:
        ValueError: no episode.
    """
    if not isinstance(found, Mapping) or not all(isinstance(each, Meg) for each in found.values()):
        raise ValueError(f"found: wanted measurements by name, got {found!r}")
    if not isinstance(episodes, Integral) or episodes < 1:
        raise ValueError(f"episodes: wanted a whole number, at least 1, got {episodes!r}")
    each = [Priced(name, meg.value - _price(meg, episodes), _price(meg, episodes)) for name, meg in found.items()]
    return sorted(each, key=lambda one: -one.value)


def _price(meg: Meg, episodes: int) -> float:
    return _weights(meg) * log(episodes) / 2 / episodes


def _weights(meg: Meg) -> int:
    """Numbers that were fitted; the origin of a table of utilities says nothing."""
    if meg.weights is not None:
        return len(meg.weights)
    if meg.beta == 1.0 and meg.utility is not None:
        return max(int(np.isfinite(meg.utility).sum()) - 1, 1)
    return 1
