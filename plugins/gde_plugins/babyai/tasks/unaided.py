"""A list of subgoals that the expert works off without adding any: its own run, written down as it was."""

from collections.abc import Iterator

from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.subgoals import Name, Subgoal, write
from gde_plugins.babyai.worlds.scene import ACTIONS, Door, Scene
from gde_plugins.babyai.worlds.simulation import Simulation


def unaided(scene: Scene) -> list[str]:
    """The subgoals, written: before each action that changes something, the agent goes to face what it changes."""
    return [write(subgoal, scene) for subgoal in _subgoals(scene)]


def _subgoals(scene: Scene) -> Iterator[Subgoal]:
    now = Simulation(scene)
    bot = OmniBot(now)
    while not now.over and now.n_steps < scene.max_steps and (action := bot.suggest(now)) is not None:
        if action in ("pickup", "drop", "toggle"):
            yield Subgoal("GoNextTo", cell=now.ahead)
            yield Subgoal(_name(action, now))
        before = now.done[:]
        now.act(action)
        if action in ACTIONS[:3] and now.done != before:  # what was to be gone to is faced
            yield Subgoal("GoNextTo", cell=now.ahead)


def _name(action: str, now: Simulation) -> Name:
    if action == "toggle":
        inside = now.cells[now.ahead]
        return "Close" if inside >= 0 and now.doors[inside] == Door.OPEN else "Open"
    return "Pickup" if action == "pickup" else "Drop"
