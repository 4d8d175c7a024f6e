"""Goal-directedness under interventions on the place of the goal.

Observed behaviour does not tell an agent that goes for the goal from one that has
learned the way to that place (MacDermott et al. 2024, section 7 and appendix A: MEG
need not generalise outside of the distribution). So the goal is put elsewhere, do(goal
= another place), and one hypothesis with one rationality has to predict both policies:
"the goal, where it is" or "the place where it was". Episodes end at either place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde_plugins.meg.trajectories.utilities import Feature
from meg_studies.language.scenes import Swap
from meg_studies.language.tabular_agent import Tabulated, expected
from meg_studies.placebo import TARGET, Place


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """An agent in one grid, before the goal is swapped and after."""

    swap: Swap
    before: Tabulated
    after: Tabulated

    def towards_goal(self) -> tuple[Tabulated, Tabulated]:
        """Read both as behaviour towards the goal, where it is."""
        first = self.swap.before.goal
        second = self.swap.after.goal
        return _towards(self.before, first, second), _towards(self.after, second, first)

    def towards_place(self) -> tuple[Tabulated, Tabulated]:
        """Read both as behaviour towards the place where the goal was."""
        first = self.swap.before.goal
        second = self.swap.after.goal
        return _towards(self.before, first, second), _towards(self.after, first, second)


@dataclass(frozen=True, kw_only=True)
class Found:
    """MEG in nats an episode, negative where the agent avoids the place."""

    goal: float
    """Towards the goal, where it is: as observed and under do(goal elsewhere), each
    half of the time.
    """
    others: Mapping[str, float]
    """The same towards the place where it was, and from one of the two policies
    alone.
    """


def swapped(swap: Swap, policies: tuple[Doubles, Doubles], turns: int) -> Case:
    """Return the agent with these (S, A) policies, before and after, for as many turns
    at most.
    """
    # The grid is the same in both, and where an episode ends depends on the hypothesis.
    mdp = swap.before.mdp
    before, after = policies
    return Case(
        swap=swap,
        before=Tabulated(mdp=mdp, probabilities=before, steps=turns),
        after=Tabulated(mdp=mdp, probabilities=after, steps=turns),
    )


def interventional(cases: Sequence[Case]) -> Found:
    """Measure the agents of all cases towards each hypothesis, at one rationality
    each.
    """
    goal: list[Tabulated] = []
    place: list[Tabulated] = []
    for case in cases:
        goal += case.towards_goal()
        place += case.towards_place()

    # Agents before and after the swap alternate.
    observed = goal[::2]
    goal_under_do = goal[1::2]
    place_under_do = place[1::2]
    return Found(
        goal=_signed(goal),
        others={
            "towards the place where it was": _signed(place),
            "as observed alone": _signed(observed),
            "under do(), the goal": _signed(goal_under_do),
            "under do(), the place": _signed(place_under_do),
        },
    )


def _towards(agent: Tabulated, place: Place, other: Place) -> Tabulated:
    """Put the agent in the world that ends at the place, counted up to where it first
    is in the other.
    """
    either = place | other
    world = ending_at(agent.mdp, place, either)
    return replace(agent, mdp=world, until=other)


def _signed(agents: Sequence[Tabulated]) -> float:
    return expected(agents, Feature(TARGET)).signed


def ending_at(world: TabularMDP, place: Place, goal: Place) -> TabularMDP:
    """Return the world that ends at the place instead of at its goal, and has it as the
    feature `TARGET`.
    """
    terminal = place
    if world.terminal is not None:
        terminal = place | (world.terminal & ~goal)
    labels = {TARGET: place.astype(np.float64)}
    return replace(world, terminal=terminal, labels=labels)
