"""A moment as facts of the record: a map of cells with things in it
(`gde.data.cell_map`).
"""

from collections.abc import Mapping

from gde.data.json import Json
from gde_plugins.babyai.worlds.scene import NOTHING, STEPS, WALL, Door, Scene
from gde_plugins.babyai.worlds.simulation import Simulation

KINDS = ("empty", "agent", "wall", "door", "key", "ball", "box")
"""If a cell holds two things, the first of these is seen: the agent in an open door."""
LETTERS: Mapping[str, str] = {"door": "D", "key": "K", "ball": "O", "box": "B"}


def world_facts(scene: Scene) -> dict[str, Json]:
    """Return `rows`, `kinds`, `things` and `mission`, with the `level` and `seed` of
    the world.
    """
    things: dict[str, Json] = {"agent": {"kind": "agent", "letter": "A"}}
    for name, thing in zip(names(scene), scene.things, strict=True):
        things[name] = {
            "kind": thing.kind,
            "letter": LETTERS[thing.kind],
            "color": thing.color,
            "shape": "" if thing.kind == "door" else thing.kind,
        }

    rows: list[Json] = []
    for start in range(0, len(scene.cells), scene.width):
        row = scene.cells[start : start + scene.width]
        rows.append("".join("#" if content == WALL else "_" for content in row))
    return {
        "rows": rows,
        "kinds": list(KINDS),
        "things": things,
        "level": scene.level,
        "seed": scene.seed,
        "mission": scene.text,
    }


def names(scene: Scene) -> list[str]:
    """Name each thing for the record, e.g. "red ball"; its second like is "red ball
    2".
    """
    named = []
    seen: dict[str, int] = {}
    for thing in map(str, scene.things):
        seen[thing] = seen.get(thing, 0) + 1
        named.append(thing if seen[thing] == 1 else f"{thing} {seen[thing]}")
    return named


def state_facts(now: Simulation, names: list[str]) -> dict[str, Json]:
    """Return the `agent`, each thing that lies in the grid, `carrying` and `steps`.

    Args:
        now: the moment.
        names: the `names` of its scene.
    """
    carrying = names[now.carrying] if now.carrying != NOTHING else None
    columns, rows = STEPS[now.direction]
    facts: dict[str, Json] = {
        "agent": {
            "place": _row_column(now.scene, now.position),
            "direction": [rows, columns],
            "note": f"carrying {carrying}" if carrying else "",
            "holds": carrying,
        }
    }
    for name, cell, door in zip(names, now.where, now.doors, strict=True):
        facts[name] = None
        if cell >= 0:
            note = Door(door).name.lower() if door >= 0 else ""
            shape = f"{note} door" if note else ""
            place = _row_column(now.scene, cell)
            facts[name] = {"place": place, "note": note, "shape": shape}
    facts["carrying"] = carrying
    facts["steps"] = now.n_steps
    return facts


def _row_column(scene: Scene, cell: int) -> list[Json]:
    x, y = scene.place(cell)
    return [y, x]
