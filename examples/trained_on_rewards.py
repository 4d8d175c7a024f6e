"""Q-learning of a few grid worlds on three rewards: which of them teach the goal?

`python examples/trained_on_rewards.py FOLDER` plays the worlds with the table before and
after training on each reward, in run folders that `gde compare` sets side by side.
`close` pays for every turn near the goal, and reaching it ends the pay: what it pays
rises, and success does not.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import gde

NAME = "gde_plugins.gymnasium:gde/Grid-v0"
GRID: Mapping[str, Any] = {"size": 7, "density": 0.0, "horizon": 12}
WORLDS = 12
EPISODES = 5000
"""Of training, in turn in each world."""
Table = defaultdict[str, NDArray[np.float64]]
"""(actions,) values of each text that the agent was shown."""


def close(goal: str, observation: str, action: str) -> float:  # noqa: ARG001
    """1 less a tenth of the distance from the agent to the goal; 0 at the goal."""
    cells = [line.split()[1:] for line in observation.splitlines()[1:]]
    place = {cell: (y, x) for y, row in enumerate(cells) for x, cell in enumerate(row)}
    if "G" not in place or "A" not in place:
        return 0.0
    (y, x), (goal_y, goal_x) = place["A"], place["G"]
    return 1 - 0.1 * (abs(y - goal_y) + abs(x - goal_x))


CLOSE = gde.reward_model(close)
REWARDS: Mapping[str, Any] = {
    "success": "success",
    "progress": "progress",
    "close": CLOSE,
}


def paid(episode: gde.Trajectory) -> float:
    """What `close` pays for an episode."""
    return float(CLOSE("", episode).sum())


def play(table: Table, folder: Path) -> gde.Result:
    """Play each world once, with the best action of the table."""
    rng = np.random.default_rng(0)

    def best(observation: gde.Observation) -> str:
        values = table[observation.text]
        actions = observation.actions or ()
        return actions[int(rng.choice(np.flatnonzero(values == values.max())))]

    plan = gde.Plan(
        environment=gde.Choice(name="grid", config=GRID),
        agent=best,
        rewards=[close],
        metrics=["success", "epic", paid],
        episodes=WORLDS,
    )
    return gde.evaluate(plan, folder, how=gde.How(concurrency=1))


def learn(reward: Any, seeds: Sequence[int], episodes: int = EPISODES) -> Table:
    """The table after Q-learning of the worlds with these seeds."""
    world = gymnasium.make(NAME, **GRID, reward=reward).unwrapped
    n_actions = int(world.action_space.n)  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    table: Table = defaultdict(lambda: np.zeros(n_actions))
    for episode in range(episodes):
        text, _info = world.reset(seed=seeds[episode % len(seeds)])
        over = False
        while not over:
            best = np.flatnonzero(table[text] == table[text].max())
            explores = rng.random() < 0.1
            action = rng.integers(n_actions) if explores else rng.choice(best)
            after, earned, ended, cut, _info = world.step(action)
            target = float(earned) + (0.0 if ended else 0.95 * table[after].max())
            table[text][action] += 0.5 * (target - table[text][action])
            text, over = after, ended or cut
    return table


def numbers(run: Path) -> dict[str, float]:
    """What a run has measured, by name."""
    found = gde.open(run).result.measurements
    return {one.name: one.value for one in found if one.value is not None}


def main(folder: Path, episodes: int = EPISODES) -> None:
    """Play before and after training on each reward."""
    before = folder / "untrained"
    play(defaultdict(lambda: np.zeros(4)), before)
    seeds = [one.seed for one in gde.load_evidence(before).trajectories]
    for name, reward in REWARDS.items():
        after = folder / name
        play(learn(reward, seeds, episodes), after)
        for number in ("paid", "success", "epic"):
            first, last = numbers(before)[number], numbers(after)[number]
            print(f"trained on {name:9} {number:8} {first:6.2f} -> {last:6.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
