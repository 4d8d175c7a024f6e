"""A lower bound of goal-directedness in worlds that are too large to tabulate."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from gde.data.evidence import Evidence
from gde.data.goals import GOAL_MOVED
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.metric import Metric
from gde.seeding import generator
from gde_plugins.meg.config import BoundConfig
from gde_plugins.meg.metrics.recorded import begun, finished_in
from gde_plugins.meg.trajectories.action_sampling import played, try_out
from gde_plugins.meg.trajectories.black_box import lower_bound
from gde_plugins.meg.trajectories.features import described

NAME = "meg.bound"


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
        inputs, features = described(environment, environment.reset(seed))
        tried = try_out(environment, episodes, inputs, tries=tries, rng=rng)
    return lower_bound(tried, features, rng).measurement(NAME)
