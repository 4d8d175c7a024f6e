"""What a lower bound sees of a state: its optimal value, the numbers of its observation,
or its words.
"""

from math import isfinite
from typing import Any

import numpy as np

from gde.data.arrays import Doubles
from gde.data.observation import Observation
from gde.numerics.tabular import solve
from gde.parts.environment import Environment, HasMDP, HasOptimum
from gde_plugins.meg.trajectories.action_sampling import Inputs

FOURIER = 100
"""Number of random Fourier features."""
WORDS = 128
"""Number of inputs that the words of an observation are hashed into."""


def described(environment: Environment, shown: Observation) -> tuple[Inputs, Any]:
    """Return how states are described, and the features of descriptions."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    if isinstance(environment, HasMDP | HasOptimum):
        return _value, StandardScaler()
    if not isinstance(shown.raw, np.ndarray) or shown.raw.dtype.kind not in "fiu":
        return _words(), StandardScaler()
    fourier = RBFSampler(gamma="scale", n_components=FOURIER, random_state=0)
    both = make_union(FunctionTransformer(), fourier)
    return _numbers, make_pipeline(StandardScaler(), both)


def _numbers(_: Environment, shown: Observation) -> Doubles:
    return np.ravel(shown.raw)


def _value(environment: Environment, _: Observation) -> list[float]:
    """The optimal value of the present state, and whether it is known."""
    value: float | None = None
    if isinstance(environment, HasMDP):
        index = environment.state().index
        assert index is not None
        value = float(solve(environment.mdp()).value[index])
    elif isinstance(environment, HasOptimum):
        found = environment.optimum()
        # At the end of an episode nothing is left to cost.
        value = None if found is None else found.value or 0.0
    if value is None or not isfinite(value):
        return [0.0, 0.0]
    return [value, 1.0]


def _words() -> Inputs:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(n_features=WORDS, norm=None, alternate_sign=False)

    def count(_: Environment, shown: Observation) -> Doubles:
        counts: Doubles = hashing.transform([shown.text]).toarray()[0]
        return counts

    return count
