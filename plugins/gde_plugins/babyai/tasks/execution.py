"""Execution of actions or subgoals from the beginning of a world."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.subgoals import Subgoal
from gde_plugins.babyai.tasks.parsing import DONE
from gde_plugins.babyai.tasks.question import Unanswerable
from gde_plugins.babyai.worlds.scene import Scene
from gde_plugins.babyai.worlds.simulation import Simulation


@dataclass(frozen=True)
class Execution:
    """The actions taken, and their result."""

    actions: tuple[str, ...]
    end: Simulation
    n_added: int = 0
    """Number of subgoals that the bot added."""


def run_bot(scene: Scene, subgoals: Sequence[Subgoal] | None = None) -> Execution:
    """Run the bot with given subgoals, or with its own translation of the mission."""
    now = Simulation(scene)
    bot = OmniBot(now, subgoals)
    actions: list[str] = []
    while not now.over and now.n_steps < scene.max_steps:
        action = bot.suggest(now)
        if action is None:
            break
        now.act(action)
        actions.append(action)
    return Execution(tuple(actions), now, bot.n_added)


def solve(scene: Scene) -> Execution:
    """Run the bot up to the end of the mission.

    Raises:
        Unanswerable: it does not fulfil the mission.
    """
    execution = run_bot(scene)
    if not execution.end.succeeded:
        raise Unanswerable(
            f"level {scene.level}, seed {scene.seed}: the expert does not fulfil the mission"
        )
    return execution


def run_actions(scene: Scene, actions: Iterable[str], target: int = -1) -> Execution:
    """Take actions up to success, the last step allowed or the target.

    The target, if any, is reached when the agent faces it.
    """
    now = Simulation(scene)
    taken: list[str] = []
    for action in actions:
        if now.over or now.n_steps >= scene.max_steps or now.ahead == target:
            break
        if action != DONE:
            now.act(action)
        taken.append(action)
    return Execution(tuple(taken), now)
