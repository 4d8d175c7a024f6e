"""Numbers of a run by reward model and domain."""

from collections.abc import Collection, Iterable

from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.numerics.leaderboard import Standing
from gde_plugins.reward_prediction.domains import Domain

EPIC = Measure("epic", "EPIC distance", "distance", "less", contender="reward")
BESIDE = "against the best that reads nothing"


def find_number(
    measured: Iterable[Measurement],
    name: str,
    reward: str,
    domain: Domain,
    domains: Collection[Domain],
) -> Measurement | None:
    """A number of a reward model in one of the domains of a run, if it has one."""
    where = {"reward": reward}
    if len(domains) > 1:
        where["domain"] = domain.name
    named = (one for one in measured if one.name == name)
    return next((one for one in named if dict(one.where) == where), None)


def beside_best(standing: Standing | None) -> dict[str, Measurement]:
    """The difference from the best baseline that reads nothing, as a column."""
    difference = standing.difference(EPIC) if standing else None
    return {BESIDE: difference} if difference else {}
