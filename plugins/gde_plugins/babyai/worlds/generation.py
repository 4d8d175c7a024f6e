"""Generates worlds with minigrid: the level's own generator, silent, in a fresh object
for every seed.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import gymnasium
import minigrid.envs.babyai.core.verifier as verifier
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling
from minigrid.envs.babyai.goto import GoToRedBallGrey

from gde_plugins.babyai.worlds import mission as ours
from gde_plugins.babyai.worlds.levels import PLAN_WORLDS, Release, environment_id
from gde_plugins.babyai.worlds.scene import FREE, NOTHING, WALL, Door, Scene, Thing

DRAW_ROOMS: Any = RoomGrid._gen_grid


class _Silent:
    """A level that draws until a draw is accepted, and prints nothing about rejected
    ones.
    """

    keeps_room = False

    def _gen_grid(self: Any, width: int, height: int) -> None:
        while True:
            if not self.keeps_room:
                self.locked_room = None
            try:
                DRAW_ROOMS(self, width, height)
                self.gen_mission()
                self.validate_instrs(self.instrs)
            except (RecursionError, RejectSampling):
                continue
            break
        self.surface = self.mission = self.instrs.surface(self)


class _AsPublished(_Silent):
    """A level that draws as minigrid 3.0: each draw remembers the locked room of the
    rejected draw before it.

    A few worlds depend on this. Later releases forget the room.
    """

    keeps_room = True

    @property
    def locked_room(self) -> Any:
        return self.__dict__.get("_room")

    @locked_room.setter
    def locked_room(self, room: Any) -> None:
        if room is not None:
            self.__dict__["_room"] = room


DRAWS: Mapping[Release, type] = {"3.0": _AsPublished, "3.2": _Silent}


def make_scene(level: str, seed: int, release: Release) -> Scene:
    """Generate the world of a level and a seed.

    Args:
        level: a name of `levels.LEVELS`. seed: 0 or more. release: the release of
        minigrid whose way of drawing is followed; any may be installed.
    """
    cls, settings = _maker(level, release)
    world = cls(**settings)
    world.reset(seed=seed)
    return _taken_over(world, level, seed)


def minigrid_version() -> str:
    """Return the version of minigrid that is installed."""
    return version("minigrid")


@cache
def _maker(level: str, release: Release) -> tuple[type, Mapping[str, Any]]:
    if level in PLAN_WORLDS:
        room_size, n_distractors = PLAN_WORLDS[level]
        settings = {
            "room_size": room_size,
            "num_dists": n_distractors,
            "max_steps": room_size**2,
        }
        return _mixed(GoToRedBallGrey, release), settings

    spec = gymnasium.spec(environment_id(level))
    module, _, name = str(spec.entry_point).partition(":")
    level_class = getattr(import_module(module), name)
    return _mixed(level_class, release), spec.kwargs


def _mixed(level: type, release: Release) -> type:
    """The class of a level with the drawing of a release before its own."""
    return type(level.__name__, (DRAWS[release], level), {})


def _taken_over(world: Any, level: str, seed: int) -> Scene:
    """Copy a world of minigrid into a scene, in which things are numbered."""
    objects = _objects(world)
    # Instructions refer to minigrid's objects, which are told apart by identity: two
    # red balls are equal.
    number: dict[int, int] = {}
    for n, each in enumerate(objects):
        number[id(each)] = n

    cells = tuple(_content(each, number) for each in world.grid.grid)
    mission = _mission(world.instrs, number)

    carrying = NOTHING
    if world.carrying is not None:
        carrying = number[id(world.carrying)]
    agent_x, agent_y = world.agent_pos
    return Scene(
        level=level,
        seed=seed,
        width=world.width,
        height=world.height,
        room=world.room_size,
        rooms=(world.num_rows, world.num_cols),
        cells=cells,
        things=tuple(_thing(each, number) for each in objects),
        doors=tuple(_door(each) for each in objects),
        known=_known(world, cells, mission, number),
        agent=int(agent_y * world.width + agent_x),
        direction=int(world.agent_dir),
        carrying=carrying,
        mission=mission,
        text=world.mission,
        max_steps=int(world.max_steps),
    )


def _objects(world: Any) -> list[Any]:
    """List all objects: those in cells, then what boxes hold, then what is carried."""
    placed = []
    inside = []
    for each in world.grid.grid:
        if each is None or each.type == "wall":
            continue
        placed.append(each)
        if each.type == "box" and each.contains is not None:
            inside.append(each.contains)

    carried = []
    if world.carrying is not None:
        carried.append(world.carrying)
    return [*placed, *inside, *carried]


def _content(each: Any, number: Mapping[int, int]) -> int:
    if each is None:
        return FREE
    if each.type == "wall":
        return WALL
    return number[id(each)]


def _thing(each: Any, number: Mapping[int, int]) -> Thing:
    contains = NOTHING
    inside = getattr(each, "contains", None)
    if inside is not None:
        contains = number[id(inside)]
    return Thing(each.type, each.color, contains)


def _door(each: Any) -> int:
    if each.type != "door":
        return NOTHING
    if each.is_open:
        return int(Door.OPEN)
    if each.is_locked:
        return int(Door.LOCKED)
    return int(Door.CLOSED)


def _known(
    world: Any, cells: Sequence[int], mission: ours.Mission, number: Mapping[int, int]
) -> tuple[int, ...]:
    """Where the mission takes each thing to be: minigrid tracks only the things of its
    clauses.
    """
    places = {}
    for cell, content in enumerate(cells):
        if content >= 0:
            places[content] = cell
    # The mission looked for the carried thing before it was handed over.
    if world.carrying is not None:
        x, y = world.obj_a.init_pos
        places[number[id(world.carrying)]] = int(y * world.width + x)

    wanted: set[int] = set()
    for clause in ours.clauses(mission):
        wanted.update(clause.thing.things)
        if isinstance(clause, ours.PutNext):
            wanted.update(clause.fixed.things)

    known = []
    for n in range(len(number)):
        is_tracked = n in wanted and n in places
        known.append(places[n] if is_tracked else NOTHING)
    return tuple(known)


def _mission(instr: Any, number: Mapping[int, int]) -> ours.Mission:
    match instr:
        case verifier.BeforeInstr():
            first = _part(instr.instr_a, number)
            then = _part(instr.instr_b, number)
            return ours.InOrder(first, then, instr.strict)
        case verifier.AfterInstr():
            first = _part(instr.instr_b, number)
            then = _part(instr.instr_a, number)
            return ours.InOrder(first, then, instr.strict)
        case _:
            return _part(instr, number)


def _part(instr: Any, number: Mapping[int, int]) -> ours.Clause | ours.Both:
    if isinstance(instr, verifier.AndInstr):
        one = _clause(instr.instr_a, number)
        other = _clause(instr.instr_b, number)
        return ours.Both(one, other)
    return _clause(instr, number)


def _clause(instr: Any, number: Mapping[int, int]) -> ours.Clause:
    match instr:
        case verifier.GoToInstr():
            return ours.GoTo(_description(instr.desc, number))
        case verifier.OpenInstr():
            return ours.Open(_description(instr.desc, number), instr.strict)
        case verifier.PickupInstr():
            return ours.Pickup(_description(instr.desc, number), instr.strict)
        case verifier.PutNextInstr():
            moved = _description(instr.desc_move, number)
            fixed = _description(instr.desc_fixed, number)
            return ours.PutNext(moved, fixed, instr.strict)
        case _:
            raise TypeError(
                f"wanted an instruction of the Baby language, got {instr!r}"
            )


def _description(instr: Any, number: Mapping[int, int]) -> ours.Description:
    # "A grey object" also means walls, which nothing can be done with.
    things = []
    for each in instr.obj_set:
        if id(each) in number:
            things.append(number[id(each)])
    return ours.Description(
        instr.type or "", instr.color or "", instr.loc or "", tuple(things)
    )
