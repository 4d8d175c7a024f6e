"""MEG, agents and devices, and the discovery of agents, side by side on the walkers of the validity suite."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import ceil

import numpy as np

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.parts.reproduction import Comparison, Run
from gde.seeding import generator
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.rivals.adaptation import RESPONDS, response_to_actions, response_to_goal
from gde_plugins.meg.rivals.devices import probability_of_agent
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.validity.study import KINDS, SURE, called, share, walked
from gde_plugins.meg.validity.walkers import BLIND, SEEKING, Maker

DEVICES = "agent, not device"
GOAL = "adapts to the goal"
ACTIONS = "adapts to its actions"
SOURCE = "no publication; Orseau et al. (2018) and Kenton et al. (2023) for the other columns"


class RivalsStudy:
    """Implements `gde.parts.reproduction.Reproduction`. "Ours" is the share of runs that placebo goals call
    goal-directed, as in `meg-validity`; the other columns are those of the rivals, on the same runs."""

    def __init__(self, config: ValidityConfig) -> None:
        self._config, self._scale = config, 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """None: the walkers are those of the suite. The scale is that of the number of runs."""
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """A row for every walker and kind of world."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        return tuple(
            self._row(f"{title}, {kind}", kind, name, make)
            for title, walkers in {"Blind to the goal": BLIND, "Knows the goal": SEEKING}.items()
            for kind in KINDS
            for name, make in walkers.items()
        )

    def _row(self, title: str, kind: str, name: str, make: Maker) -> Comparison:
        samples = max(1, ceil(self._config.samples * self._scale))
        where: Labels = {"world": kind, "agent": name}
        hits = [self._verdicts(kind, name, make, sample) for sample in range(samples)]
        shares = {rule: share([each[rule] for each in hits], where) for rule in hits[0]}
        return Comparison(quantity=name, paper=None, ours=shares.pop("meg"), source=SOURCE, table=title, others=shares)

    def _verdicts(self, kind: str, name: str, make: Maker, sample: int) -> dict[str, bool]:
        episodes = [*walked(self._config, kind, name, make, sample)]
        goal, actions = _responses(make, episodes, generator(sample, "meg-rivals", kind, name))
        return {
            "meg": called(episodes, sample).beyond,
            DEVICES: probability_of_agent(episodes) > SURE,
            GOAL: goal > RESPONDS,
            ACTIONS: actions > RESPONDS,
        }


def _responses(make: Maker, episodes: Sequence[Episode], rng: np.random.Generator) -> tuple[float, float]:
    """Mean total variation of the policy, over worlds, when the goal or what the actions do is changed."""
    goals = [found for each in episodes if (found := response_to_goal(make, each.mdp, rng)) is not None]
    actions = [response_to_actions(make, each.mdp, rng) for each in episodes]
    return float(np.mean(goals or [0.0])), float(np.mean(actions))
