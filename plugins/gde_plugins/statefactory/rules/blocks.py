"""The blocks world: what every block stands on, and what is above it."""

import re

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Given, Rules, Things, listed, seen
from gde_plugins.statefactory.state import Items

ON_BLOCK = re.compile(r"block (\S+?) is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
ON_TABLE = re.compile(r"block (\S+?) is on the table", re.IGNORECASE)
BARE = re.compile(r"nothing is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
HELD = re.compile(r"the hand holds block (\S+?)(?=[ .,]|$)", re.IGNORECASE)


def blocks(text: str) -> Items:
    """One object a block."""
    things: Things = {}
    for block, under in ON_BLOCK.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = f"block {under}"
    for block in ON_TABLE.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = "the table"
    for block in HELD.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = "in the hand"
    for block in BARE.findall(text):
        things.setdefault(f"block {block}", {})["above it"] = "nothing"
    return listed(things)


def _read(trajectory: Trajectory, objective: str) -> Given | None:
    goal = blocks(objective)
    if not goal:
        return None
    states = [blocks(text) for text in seen(trajectory)]
    return Given(states, [goal] * len(states))


RULES = Rules("blocks", _read)
