"""MEG, agents and devices, and the discovery of agents, side by side on the walkers of the validity suite."""

from collections.abc import Mapping, Sequence

import numpy as np

from gde.seeding import generator
from gde_plugins.meg.baselines.adaptation import RESPONDS, response_to_actions, response_to_goal
from gde_plugins.meg.baselines.devices import probability_of_agent
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.validity.arena import Arena
from gde_plugins.meg.validity.study import BEYOND, SURE, WalkersStudy, called
from gde_plugins.meg.validity.walkers import BLIND, SEEKING, Maker

DEVICES = "agent, not device"
GOAL = "adapts to the goal"
ACTIONS = "adapts to its actions"
SOURCE = "no publication; Orseau et al. (2018) and Kenton et al. (2023) for the other columns"


def baselines_study(config: ValidityConfig) -> WalkersStudy:
    """The walkers of the validity suite, by placebo goals as there ("ours") and by the baselines."""
    return WalkersStudy(config, _rules, {"Blind to the goal": BLIND, "Knows the goal": SEEKING}, SOURCE)


def _rules(arena: Arena, name: str, make: Maker) -> Mapping[str, bool]:
    episodes = arena.walked(name, make)
    goal, actions = _responses(make, episodes, generator(arena.sample, "meg-baselines", arena.kind, name))
    return {
        BEYOND: called(episodes, arena.sample)[BEYOND],
        DEVICES: probability_of_agent(episodes) > SURE,
        GOAL: goal > RESPONDS,
        ACTIONS: actions > RESPONDS,
    }


def _responses(make: Maker, episodes: Sequence[Episode], rng: np.random.Generator) -> tuple[float, float]:
    """Mean total variation of the policy, over worlds, when the goal or what the actions do is changed."""
    goals = [found for each in episodes if (found := response_to_goal(make, each.mdp, rng)) is not None]
    actions = [response_to_actions(make, each.mdp, rng) for each in episodes]
    return float(np.mean(goals or [0.0])), float(np.mean(actions))
