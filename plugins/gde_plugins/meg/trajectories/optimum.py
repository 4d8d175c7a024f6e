"""How goal-directed an optimal agent is in the same worlds: less than certain, as it has several best actions."""

from collections.abc import Sequence
from math import log

import numpy as np

from gde_plugins.meg.solvers.limits import backwards
from gde_plugins.meg.trajectories.candidates import own_reward
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.side_by_side import Sample


def optimal_share(episodes: Sequence[Episode]) -> float:
    """Of the most nats possible (ln |A| a decision), those of the agent that is optimal towards the worlds' reward.

    Of the optimal policies it is the one of most causal entropy, so that it is the least that any of them has. It
    begins where the worlds do and plays each as often as the episodes do. 0 where optimal agents decide nothing.
    """
    sample = Sample.of(episodes)
    scene, reward = sample.pursuing(own_reward)
    dynamics, decided = scene.dynamics, np.zeros(scene.mdp.n_states)
    for step in backwards(dynamics, dynamics.utility(reward), int(scene.decisions.to_go.max(initial=1))):
        decided = dynamics.going * (1 + (step.policy * dynamics.ahead(decided)).sum(axis=0))
        nats = -step.limits.entropy
    # The start of worlds side by side weighs all worlds alike; here each counts as often as it was played.
    played = scene.mdp.start * np.repeat(sample.plays, [world.n_states for world in sample.worlds.values()])
    decisions = float(played @ decided)
    return float(played @ nats) / (decisions * log(dynamics.n_actions)) if decisions else 0.0
