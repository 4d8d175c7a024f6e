"""What every decision in a world loses against the best one."""

from dataclasses import dataclass
from math import fsum, inf, isclose

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.tabular import solve
from gde_plugins.behaviour.visits import state_index


@dataclass(frozen=True, kw_only=True, eq=False)
class Losses:
    """Losses in the reward of a world's model."""

    value: Floats
    """(S,) optimal expected return."""
    loss: Floats
    """(S, A + 1) optimal value minus what the action, followed by the best policy, is expected to earn; the last
    column is for unusable answers. Infinite where the goal may be out of reach afterwards."""
    actions: dict[str, int]
    discount: float

    @classmethod
    def of(cls, mdp: TabularMDP) -> "Losses":
        """Solve the model and hold every action against the solution.

        An unusable answer is a turn in which nothing happens: it counts as the cheapest step, leading nowhere.
        """
        value = solve(mdp).value
        hopeless = np.isneginf(value)
        known = np.where(hopeless, 0.0, value)
        rewards = mdp.reward if mdp.reward.ndim == 2 else np.tile(mdp.reward[:, None], mdp.n_actions)
        earned = np.column_stack([rewards, rewards.max(axis=1)])
        ahead = np.column_stack([*(matrix @ known for matrix in mdp.transition), known])
        astray = np.column_stack([*(matrix @ hopeless.astype(float) for matrix in mdp.transition), hopeless]) > 0
        # Value iteration stops short of the optimum by a rounding error, which must not become a gain.
        loss = np.maximum(known[:, None] - earned - mdp.discount * ahead, 0.0)
        return cls(
            value=value,
            loss=np.where(astray, inf, loss),
            actions={action: a for a, action in enumerate(mdp.actions)},
            discount=mdp.discount,
        )

    def regret(self, trajectory: Trajectory) -> float | None:
        """The discounted sum of what the episode's decisions lost; None if world or agent were interfered with.

        That is so after a perturbation, other than a distractor, between two decisions: the world is another one, or
        the agent is where its decisions have not brought it. A value that is not this model's shows it, too.

        Its expectation is the optimal value of the start minus the sum of what the agent's policy earns and what the
        best policy would still earn from where the episode was cut off (the performance difference lemma, Kakade and
        Langford 2002). In a world where every step costs one, it is the number of turns that brought the agent no
        nearer to the goal, those that led away counted twice.
        """
        if _perturbed(trajectory):
            return None
        lost = [self._lost(turn) for turn in trajectory.turns]
        known = [loss for loss in lost if loss is not None]
        return fsum(known) if len(known) == len(lost) else None

    def _lost(self, turn: Turn) -> float | None:
        state = state_index(turn)
        action = turn.decision.action
        if state is None or turn.value is None or state >= len(self.value):
            return None
        if not isclose(turn.value, self.value[state], rel_tol=1e-6, abs_tol=1e-6):
            return None
        column = len(self.actions) if action is None else self.actions[action]
        return self.discount**turn.index * float(self.loss[state, column])


def _perturbed(trajectory: Trajectory) -> bool:
    """Whether the facts of the states tell of a perturbation between two decisions that is more than a distractor."""
    facts = [turn.state.facts for turn in trajectory.turns if turn.state is not None]
    return len({bool(each.get("perturbed")) for each in facts if "distractor" not in each}) > 1
