"""The profile of an agent as a study: its runs, its numbers, its claim."""

from collections.abc import Mapping, Sequence

from gde.data.figure import Figure
from gde.data.plan import Choice, Plan
from gde.parts.reproduction import Comparison, Run
from gde_plugins.profile import plans, rows
from gde_plugins.profile.claim import claim
from gde_plugins.profile.config import ProfileConfig


class Profile:
    """One agent in all kinds of worlds, with scripted agents beside it.

    Runs that the agent cannot play leave a reason in their rows.
    """

    def __init__(self, config: ProfileConfig) -> None:
        self._config = config

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """The agent's runs, and those of anchors and models in the same worlds."""
        return plans.plans(self._config, scale, agent)

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """The numbers of all sections; none of them is printed anywhere."""
        return [*rows.rows(runs, self._config.models)]

    def lacking(
        self, refused: Mapping[str, str], runs: Mapping[str, Run]
    ) -> Sequence[Comparison]:
        """The numbers of the runs that were refused, with the reasons."""
        return [*rows.lacking(refused, runs, self._config.models)]

    def claim(self, found: Sequence[Comparison]) -> Sequence[str]:
        """What the numbers say of the agent, a sentence for each section."""
        return claim(found)

    def figures(self, _: Mapping[str, Run]) -> Sequence[Figure]:
        """None: the forest plot has all numbers with their intervals."""
        return ()
