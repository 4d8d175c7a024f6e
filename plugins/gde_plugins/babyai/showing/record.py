"""A moment as facts of the record: a map of kinds of cells with things in it (`gde.data.cell_map`)."""

from collections.abc import Mapping

from gde.data.json import Json
from gde_plugins.babyai.worlds.scene import NOTHING, STEPS, WALL, Door, Scene
from gde_plugins.babyai.worlds.simulation import Simulation

KINDS = ("empty", "agent", "wall", "door", "key", "ball", "box")
"""The first of two things in a cell is seen: the agent in an open door."""
LETTERS: Mapping[str, str] = {"door": "D", "key": "K", "ball": "O", "box": "B"}


def world_facts(scene: Scene) -> dict[str, Json]:
    """`rows`, `kinds`, `things`, `mission`, and where the world comes from: `level`, `seed`."""
    things: dict[str, Json] = {"agent": {"kind": "agent", "letter": "A"}}
    things |= {
        name: {"kind": thing.kind, "letter": LETTERS[thing.kind], "color": thing.color}
        for name, thing in zip(names(scene), scene.things, strict=True)
    }
    walls = "".join("#" if inside == WALL else "_" for inside in scene.cells)
    rows = [walls[start : start + scene.width] for start in range(0, len(walls), scene.width)]
    told: dict[str, Json] = {"level": scene.level, "seed": scene.seed, "mission": scene.text}
    return {"rows": rows, "kinds": list(KINDS), "things": things, **told}


def names(scene: Scene) -> list[str]:
    """What the record calls each thing, e.g. "red ball", from the second of its like on "red ball 2"."""
    given, seen = [], dict[str, int]()
    for thing in map(str, scene.things):
        seen[thing] = seen.get(thing, 0) + 1
        given.append(thing if seen[thing] == 1 else f"{thing} {seen[thing]}")
    return given


def state_facts(now: Simulation, called: list[str]) -> dict[str, Json]:
    """`agent` with the way it faces, each thing that lies in the grid, `carrying` and `steps`.

    Args:
        now: the moment.
        called: `names` of its scene.
    """
    scene = now.scene
    columns, rows = STEPS[now.direction]
    held = called[now.carrying] if now.carrying != NOTHING else ""
    note = f"carrying {held}" if held else ""
    facts: dict[str, Json] = {
        "agent": {"place": _row_column(scene, now.position), "direction": [rows, columns], "note": note}
    }
    for thing, name in enumerate(called):
        facts[name] = _thing(now, thing)
    return {**facts, "carrying": held or None, "steps": now.n_steps}


def _thing(now: Simulation, thing: int) -> Json:
    if now.where[thing] < 0:
        return None
    place = _row_column(now.scene, now.where[thing])
    state = now.doors[thing]
    note = Door(state).name.lower() if state >= 0 else ""
    return {"place": place, "note": note}


def _row_column(scene: Scene, cell: int) -> list[int]:
    x, y = scene.place(cell)
    return [y, x]
