"""A lower bound of goal-directedness in worlds that are too large to tabulate."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.evidence import Evidence
from gde.data.goals import GOAL_MOVED
from gde.data.observation import Observation
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.tabular import solve
from gde.parts.environment import Environment, HasMDP, HasOptimum
from gde.parts.metric import Metric
from gde.seeding import generator
from gde_plugins.meg.config import BoundConfig
from gde_plugins.meg.metrics.recorded import begun, finished_in
from gde_plugins.meg.trajectories.action_sampling import Inputs, played, try_out
from gde_plugins.meg.trajectories.black_box import lower_bound

NAME = "meg.bound"
FOURIER = 100
"""Number of random Fourier features."""
WORDS = 128
"""Number of inputs that the words of an observation are hashed into."""


def measures_bound(config: BoundConfig) -> Metric:
    """Make the metric `meg-bound`."""
    return partial(bound, tries=config.tries)


def bound(evidence: Evidence, tries: int) -> Sequence[Measurement]:
    """Bound MEG towards any utility of states from below (MacDermott et al. 2024,
    Definition 4.3).

    "meg.bound": nats an episode, at least 0. The lower end of its interval is the
    bound. The utilities are those whose soft value is linear in the optimal value of a
    state; where that is not known, in the numbers of its observation and random Fourier
    features of them (Rahimi and Recht 2007), or in its words. They are fitted to other
    worlds than they are scored in. Each condition of a run is measured on its own.
    """
    if "world" in evidence.part:
        return ()
    try:
        return [_bound(evidence, tries)]
    except (GdeError, ValueError) as error:
        return [unmeasured(NAME, str(error))]


def _bound(evidence: Evidence, tries: int) -> Measurement:
    trajectories = finished_in(evidence)
    if not trajectories:
        raise GdeError("no episode was finished")
    if len({each.key.condition for each in trajectories}) > 1:
        raise GdeError("each condition is measured on its own")
    if trajectories[0].labels.get(GOAL_MOVED):
        raise GdeError("worlds with a moved goal do not begin from their seed alone")

    rng = generator(evidence.seed, "metric", NAME)
    with closing(begun(evidence, trajectories[0])) as environment:
        episodes = played(trajectories)
        seed = episodes[0].seed
        assert seed is not None
        inputs, features = _described(environment, environment.reset(seed))
        tried = try_out(environment, episodes, inputs, tries=tries, rng=rng)
    return lower_bound(tried, features, rng).measurement(NAME)


def _described(environment: Environment, shown: Observation) -> tuple[Inputs, Any]:
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


def _numbers(_: Environment, shown: Observation) -> NDArray[np.float64]:
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

    def count(_: Environment, shown: Observation) -> NDArray[np.float64]:
        counts: NDArray[np.float64] = hashing.transform([shown.text]).toarray()[0]
        return counts

    return count
