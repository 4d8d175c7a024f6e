"""Q-learning of one grid world on three rewards: which of them teach the goal?

`python examples/trained_on_rewards.py` prints, for the first and the last episodes, the
reward that was trained on and the success. `close` pays for every turn near the goal,
and reaching it ends the pay: the reward rises, and success does not.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import gde

NAME = "gde_plugins.gymnasium:gde/Grid-v0"
WORLD = 3
EPISODES = 1500
SHOWN = 50


def close(goal: str, observation: str, action: str) -> float:  # noqa: ARG001
    """1 less a tenth of the distance from the agent to the goal; 0 at the goal."""
    cells = [line.split()[1:] for line in observation.splitlines()[1:]]
    place = {cell: (y, x) for y, row in enumerate(cells) for x, cell in enumerate(row)}
    if "G" not in place or "A" not in place:
        return 0.0
    (y, x), (goal_y, goal_x) = place["A"], place["G"]
    return 1 - 0.1 * (abs(y - goal_y) + abs(x - goal_x))


REWARDS: Mapping[str, Any] = {
    "success": "success",
    "progress": "progress",
    "close": gde.reward_model(close),
}


def learn(reward: Any, episodes: int = EPISODES) -> tuple[list[float], list[float]]:
    """The return and the success of each episode of Q-learning."""
    world = gymnasium.make(NAME, size=7, density=0.0, reward=reward).unwrapped
    n_actions = int(world.action_space.n)  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    values: defaultdict[str, NDArray[np.float64]]
    values = defaultdict(lambda: np.zeros(n_actions))
    returns, successes = [], []
    for _ in range(episodes):
        text, _info = world.reset(seed=WORLD)
        total, success, over = 0.0, 0.0, False
        while not over:
            best = np.flatnonzero(values[text] == values[text].max())
            explores = rng.random() < 0.1
            action = rng.integers(n_actions) if explores else rng.choice(best)
            after, earned, ended, cut, info = world.step(action)
            paid = float(earned)
            target = paid + (0.0 if ended else 0.95 * values[after].max())
            values[text][action] += 0.5 * (target - values[text][action])
            text, over = after, ended or cut
            total, success = total + paid, info["success"] or 0.0
        returns.append(total)
        successes.append(success)
    return returns, successes


if __name__ == "__main__":
    for name, reward in REWARDS.items():
        for title, found in zip(("reward", "success"), learn(reward), strict=True):
            first, last = np.mean(found[:SHOWN]), np.mean(found[-SHOWN:])
            print(f"{name:9} {title:8} {first:6.2f} -> {last:6.2f}")
