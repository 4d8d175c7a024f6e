"""Running actions and subgoals in a world of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.subgoals import Subgoal
from gde_plugins.babyai.tasks.readings import DONE
from gde_plugins.babyai.worlds.scene import Scene
from gde_plugins.babyai.worlds.simulation import Simulation


@dataclass(frozen=True)
class Ran:
    """What came of it."""

    actions: tuple[str, ...]
    """That were taken."""
    end: Simulation
    n_added: int = 0
    """Subgoals that the bot added."""


def run_bot(scene: Scene, subgoals: Sequence[Subgoal] | None = None) -> Ran:
    """The bot from the beginning, with its own translation of the mission or with given subgoals."""
    now, actions = Simulation(scene), list[str]()
    bot = OmniBot(now, subgoals)
    while not now.over and now.n_steps < scene.max_steps and (action := bot.suggest(now)) is not None:
        now.act(action)
        actions.append(action)
    return Ran(tuple(actions), now, bot.n_added)


def run_actions(scene: Scene, actions: Iterable[str], target: int = -1) -> Ran:
    """Actions one after another, up to success, the last step allowed or, with a target, the moment it is faced."""
    now, taken = Simulation(scene), list[str]()
    for action in actions:
        if now.over or now.n_steps >= scene.max_steps or now.ahead == target:
            break
        if action != DONE:
            now.act(action)
        taken.append(action)
    return Ran(tuple(taken), now)
