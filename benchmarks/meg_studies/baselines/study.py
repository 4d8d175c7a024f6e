"""The verdict beside agents and devices, and a check of first choices, on walkers."""

from collections.abc import Mapping

import numpy as np

from gde.seeding import generator
from meg_studies.baselines.arena import Arena
from meg_studies.baselines.devices import probability_of_agent
from meg_studies.baselines.first_choices import (
    RESPONDS,
    response_to_actions,
    response_to_goal,
)
from meg_studies.baselines.walkers import BLIND, SEEKING, Maker
from meg_studies.baselines.walkers_study import SURE, called, walkers_study
from meg_studies.config import BaselinesConfig
from meg_studies.suite import Suite

VERDICT = "shown by the verdict"
DEVICES = "agent, not device (classes of our own)"
GOAL = "first choices depend on the goal"
ACTIONS = "first choices depend on what actions do"
SOURCE = "no publication; the other columns are adapted from Orseau et al. (2018) and Kenton et al. (2023)"


def baselines_study(config: BaselinesConfig) -> Suite:
    """Return the study of the suite's walkers by the verdict ("ours") and by the
    baselines.
    """
    return walkers_study(
        config, _rules, {"Blind to the goal": BLIND, "Knows the goal": SEEKING}, SOURCE
    )


def _rules(arena: Arena, name: str, make: Maker) -> Mapping[str, bool]:
    """Return what each rule calls the walker in the worlds of one run."""
    episodes = arena.walked(name, make)
    # The study's former name, so that its numbers stay as they were.
    rng = generator(arena.sample, "meg-rivals", arena.kind, name)

    # All goals are drawn before the actions are shuffled, since both use the same
    # generator.
    to_goal = []
    for episode in episodes:
        response = response_to_goal(make, episode.mdp, rng)
        if response is not None:
            to_goal.append(response)
    to_actions = [response_to_actions(make, episode.mdp, rng) for episode in episodes]

    return {
        VERDICT: called(arena, episodes),
        DEVICES: probability_of_agent(episodes) > SURE,
        GOAL: float(np.mean(to_goal or [0.0])) > RESPONDS,
        ACTIONS: float(np.mean(to_actions)) > RESPONDS,
    }
