"""Directness of the agent's way to the goal: losses of decisions, regret and SPL."""

from dataclasses import dataclass
from math import fsum, inf, isclose, isfinite
from weakref import WeakKeyDictionary

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import CERTIFIED
from gde.numerics.numbers import Mean, Missing
from gde.numerics.tabular import solve
from gde_plugins.behaviour.performance import NO_GOAL, UNCERTIFIED
from gde_plugins.behaviour.visits import IDENTIFIED, state_index


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """Losses in the reward of a world's model."""

    value: Doubles
    """(S,) optimal expected return."""
    loss: Doubles
    """(S, A + 1) optimal value minus what the action, followed by the best policy, is
    expected to earn; the last column is for unusable answers. Infinite where the goal
    may be out of reach afterwards.
    """
    actions: dict[str, int]
    discount: float

    @classmethod
    def of(cls, mdp: TabularMDP) -> "Losses":
        """Solve the model and compare every action with the solution.

        An unusable answer is a turn in which nothing happens: it counts as the cheapest
        step, leading nowhere.
        """
        value = solve(mdp).value
        hopeless = np.isneginf(value)
        known = np.where(hopeless, 0.0, value)
        rewards = mdp.reward
        if rewards.ndim == 1:
            rewards = np.tile(rewards[:, None], mdp.n_actions)
        earned = np.column_stack([rewards, rewards.max(axis=1)])

        # Infinite values times zero probabilities would be nan, so they are followed by
        # themselves.
        later = [matrix @ known for matrix in mdp.transition]
        lost = [matrix @ hopeless.astype(float) for matrix in mdp.transition]
        ahead = np.column_stack([*later, known])
        astray = np.column_stack([*lost, hopeless]) > 0

        # Value iteration stops short of the optimum by a rounding error, which must not
        # become a gain.
        loss = np.maximum(known[:, None] - earned - mdp.discount * ahead, 0.0)
        return cls(
            value=value,
            loss=np.where(astray, inf, loss),
            actions={action: a for a, action in enumerate(mdp.actions)},
            discount=mdp.discount,
        )

    def regret(self, trajectory: Trajectory) -> float | None:
        """Return the discounted sum of the losses of an episode; None after an
        interference with world or agent.

        A perturbation between two decisions is an interference, a distractor is not:
        the world has changed, or the agent is where its own decisions have not brought
        it. A value that differs from the model's shows it, too.

        The expectation of the sum is the optimal value of the start minus the return of
        the agent's policy and minus the optimal value of the state in which the episode
        was cut off (the performance difference lemma, Kakade and Langford 2002). If
        every step costs one, it is the number of turns that brought the agent no nearer
        to the goal; those that led away count twice.
        """
        if _is_perturbed(trajectory):
            return None
        losses = []
        for turn in trajectory.turns:
            loss = self._lost(turn)
            if loss is None:
                return None
            losses.append(loss)
        return fsum(losses)

    def _lost(self, turn: Turn) -> float | None:
        state = state_index(turn)
        action = turn.decision.action
        if state is None or turn.value is None or state >= len(self.value):
            return None
        if not isclose(turn.value, self.value[state], rel_tol=1e-6, abs_tol=1e-6):
            return None
        column = self.actions[action] if action is not None else len(self.actions)
        return self.discount**turn.index * float(self.loss[state, column])


def _is_perturbed(trajectory: Trajectory) -> bool:
    """Return whether a perturbation other than a distractor came between two
    decisions.
    """
    flags = set()
    for turn in trajectory.turns:
        if turn.state is not None and "distractor" not in turn.state.facts:
            flags.add(bool(turn.state.facts.get("perturbed")))
    # A world perturbed before the first decision is one world throughout.
    return len(flags) > 1


_SOLVED: WeakKeyDictionary[TabularMDP, Losses] = WeakKeyDictionary()
"""The losses of the worlds that are in memory: episodes of one world share its model."""
NEEDS = (
    Missing.of_turns(IDENTIFIED, "unidentified"),
    UNCERTIFIED,
    Missing("unmodelled", "played", "the environment gives no tabular model"),
    # A mean over the unchanged episodes alone would favour agents that are quick enough
    # to avoid the change.
    Missing(
        "changed",
        "played",
        "the world changed or the agent was moved within {} of {} episodes",
    ),
)


def _facts(episode: Trajectory, model: Model) -> Facts:
    found: dict[str, float | None] = dict.fromkeys(efficiency.columns)
    found["turns"] = len(episode.turns)
    found["unidentified"] = IDENTIFIED.unmet(episode.turns)
    found["uncertified"] = CERTIFIED.unmet(episode.turns)
    if not episode.turns or found["unidentified"] or found["uncertified"]:
        return found

    found["played"] = 1
    found["unmodelled"] = model is None
    if model is None:
        return found
    mdp = model()
    if mdp not in _SOLVED:
        _SOLVED[mdp] = Losses.of(mdp)
    regret = _SOLVED[mdp].regret(episode)
    found["changed"] = regret is None
    if regret is None:
        return found

    # Minus the optimal value of the start is the least cost of reaching the goal.
    cost = -(episode.turns[0].value or 0.0)
    found["goalless"] = episode.success is None
    found["unreached"] = not isfinite(regret)
    found["regret"] = regret if isfinite(regret) else None
    found["free"] = episode.succeeded and cost <= 0
    if not episode.succeeded:
        found["spl"] = 0.0
    elif cost > 0:
        found["spl"] = cost / (cost + regret)
    return found


efficiency = EpisodeMetric(
    columns=(
        *("turns", "unidentified", "uncertified", "played", "unmodelled", "changed"),
        *("goalless", "free", "spl", "unreached", "regret"),
    ),
    facts=_facts,
    numbers=(
        Mean(
            "efficiency.spl",
            "spl",
            missing=(
                *NEEDS,
                Missing("goalless", "played", NO_GOAL),
                Missing(
                    "free",
                    "played",
                    "reaching the goal has no cost in {} of {} episodes",
                ),
            ),
        ),
        Mean(
            "efficiency.regret",
            "regret",
            share=False,
            missing=(
                *NEEDS,
                Missing(
                    "unreached",
                    "played",
                    "infinite in {} of {} episodes: the goal was put out of reach",
                ),
            ),
        ),
    ),
)
"""Success weighted by path length (Anderson et al. 2018), and regret; n counts episodes.

"efficiency.regret" is the loss of an episode's decisions against the best ones, in the
reward of the certified model. In grids it is the number of turns spent without coming
nearer. "efficiency.spl" is 0 for an episode that fails and C / (C + regret) for one that
succeeds, with C the least cost of reaching the goal. If every step costs one, it is L* /
max(L*, L) of the shortest way L* and the way taken L. Neither is measured if anything
changed the world or moved the agent half-way (`recovery` is about such episodes). A
distractor does neither.
"""
