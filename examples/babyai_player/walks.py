"""Noisy walks with the expert's advice at every moment, to learn from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from babyai_player.reading import Line, Moment, Pose, read_lines
from gde.seeding import generator
from gde_plugins.babyai.descriptions.description import describe
from gde_plugins.babyai.descriptions.formats import write
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.subgoals import Subgoal
from gde_plugins.babyai.tasks.grounded import ENDLESS
from gde_plugins.babyai.tasks.plan import to_stand_beside
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.scene import ACTIONS, FREE, Scene
from gde_plugins.babyai.worlds.simulation import Simulation

DONE = "done"
"""The expert's advice when nothing is left to do."""
ADVICE = (*ACTIONS, DONE)
WALKS = 4
"""Number of walks in each world: half towards its mission, half to a random cell."""
LONGEST = 32
"""Maximum number of actions of a walk."""
NOISE = 0.6
"""Largest probability of a random action; each walk draws its own up to this."""


@dataclass(frozen=True)
class Walk:
    """A walk in a world that a text describes."""

    lines: tuple[Line, ...]
    moments: tuple[Moment, ...]
    advice: tuple[str, ...]
    """The expert's next action at each moment, of `ADVICE`."""


def walks_in(level: str, seed: int) -> Iterator[Walk]:
    """Walk in the world of a seed.

    Walks with noise leave the expert's way, so that the player learns what to do there,
    and bump into walls and things.
    """
    scene = make_scene(level, seed, "3.0")
    for number in range(WALKS):
        rng = generator(seed, "walk", level, number)
        details = bool(rng.integers(2))
        text = write("structured", describe(Simulation(scene), details))
        if number % 2:
            cell = int(rng.choice([*_cells(scene)]))
            text += f"\n{to_stand_beside(scene.place(cell))}"
            walk = _walk(replace(scene, mission=ENDLESS), text, rng, cell)
        else:
            walk = _walk(scene, text, rng)
        if walk is not None:
            yield walk


def _cells(scene: Scene) -> Iterator[int]:
    """The cells that a walk can lead to: free ones, and those of things."""
    for cell, content in enumerate(scene.cells):
        if content >= FREE and cell != scene.agent:
            yield cell


def _walk(
    scene: Scene, text: str, rng: np.random.Generator, cell: int = -1
) -> Walk | None:
    """Walk to a cell, or else towards the mission; None if the expert knows no way."""
    now = Simulation(scene)
    given = None if cell < 0 else [Subgoal("GoNextTo", cell=cell)]
    bot = OmniBot(now, given)
    noise = rng.uniform(0, NOISE)
    moments = [Moment("", pose_of(now))]
    advice: list[str] = []
    while len(advice) < LONGEST:
        # The bot leaves the end of a given list to its caller.
        arrived = now.ahead == cell
        wanted = DONE if now.over or arrived else bot.suggest(now)
        if wanted is None:
            return None
        advice.append(wanted)
        if wanted == DONE:
            break
        action = _random(rng) if rng.random() < noise else wanted
        now.act(action)
        moments.append(Moment(action, pose_of(now)))
    lines = tuple(read_lines(text))
    return Walk(lines, tuple(moments[: len(advice)]), tuple(advice))


def _random(rng: np.random.Generator) -> str:
    """A random action, half of them forward, which meets obstacles."""
    return "forward" if rng.random() < 0.5 else str(rng.choice(ACTIONS))


def pose_of(now: Simulation) -> Pose:
    """The agent's pose at a moment."""
    x, y = now.scene.place(now.position)
    return Pose(x, y, now.direction)
