"""What the agent reads in a key world: the grid as everywhere, and below it whether it carries the key.

Twins differ in one cell of the text and in nothing else: the rules name every object, whichever of them there is.
"""

from gde_plugins.grid.keyed.dynamics import Stage
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.rendering.layout import GOAL_SYMBOL, empty_text, offsets, put

SYMBOLS = {"key": "K", "coin": "C", "flag": "F", "door": "D"}
"""Letters of objects, in the text and in pictures."""
MECHANICS = (
    "K is a key, C a coin, F a flag and D a locked door; not every grid holds them. Stepping onto a key, a coin or a"
    " flag takes it off the grid. A locked door cannot be entered. It opens by itself, and is a free cell from then"
    " on, as soon as the agent carries the key and stands right above, below, left or right of it. The line below the"
    " grid says whether the agent carries the key."
)


def stage_text(scene: Scene, stage: Stage) -> str:
    """The text of one stage without the agent, which is put over it at `offsets`."""
    at_goal, at_place = offsets(scene.rows, [scene.goal, scene.place])
    text = put(empty_text(scene.rows), at_goal, GOAL_SYMBOL)
    if stage == Stage.BEFORE and scene.artefact != "none":
        text = put(text, at_place, SYMBOLS[scene.artefact])
    if stage < Stage.OPEN and scene.door is not None:
        (at_door,) = offsets(scene.rows, [scene.door])
        text = put(text, at_door, SYMBOLS["door"])
    return f"{text}\nCarrying key: {scene.artefact == 'key' and stage >= Stage.TAKEN}"
