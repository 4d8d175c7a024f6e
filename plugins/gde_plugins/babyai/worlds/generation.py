"""Generates worlds with minigrid: the level's own generator, silent, in a fresh object for every seed."""

from collections.abc import Iterator, Mapping
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
    """A level that draws until a draw will do, and says nothing of the others."""

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
    """As minigrid 3.0 draws: the locked room of a rejected draw is remembered by the next, which a few worlds depend
    on. Later releases forget it."""

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
        level: a name of `levels.LEVELS`.
        seed: 0 or more.
        release: of minigrid, whose way of drawing is followed whichever is installed.
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
        room, distractors = PLAN_WORLDS[level]
        return _mixed(GoToRedBallGrey, release), {"room_size": room, "num_dists": distractors, "max_steps": room**2}
    spec = gymnasium.spec(environment_id(level))
    module, _, name = str(spec.entry_point).partition(":")
    return _mixed(getattr(import_module(module), name), release), spec.kwargs


def _mixed(level: type, release: Release) -> type:
    return type(level.__name__, (DRAWS[release], level), {})


def _taken_over(world: Any, level: str, seed: int) -> Scene:
    objects = [*_objects(world)]
    number = {id(each): n for n, each in enumerate(objects)}
    cells = tuple(_content(each, number) for each in world.grid.grid)
    mission = _mission(world.instrs, number)
    places = {n: cell for cell, n in enumerate(cells) if n >= 0}
    if world.carrying is not None:  # the mission looked for it before it was handed over
        places[number[id(world.carrying)]] = int(world.obj_a.init_pos[1] * world.width + world.obj_a.init_pos[0])
    wanted = {n for one in ours.clauses(mission) for n in _tracked(one)}
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
        known=tuple(places.get(n, NOTHING) if n in wanted else NOTHING for n in range(len(objects))),
        agent=int(world.agent_pos[1] * world.width + world.agent_pos[0]),
        direction=int(world.agent_dir),
        carrying=NOTHING if world.carrying is None else number[id(world.carrying)],
        mission=mission,
        text=world.mission,
        max_steps=int(world.max_steps),
    )


def _objects(world: Any) -> Iterator[Any]:
    """In the order of cells, then what boxes hold, then what is carried."""
    placed = [each for each in world.grid.grid if each is not None and each.type != "wall"]
    yield from placed
    yield from (each.contains for each in placed if each.type == "box" and each.contains is not None)
    if world.carrying is not None:
        yield world.carrying


def _content(each: Any, number: Mapping[int, int]) -> int:
    if each is None:
        return FREE
    return WALL if each.type == "wall" else number[id(each)]


def _thing(each: Any, number: Mapping[int, int]) -> Thing:
    inside = getattr(each, "contains", None)
    return Thing(each.type, each.color, NOTHING if inside is None else number[id(inside)])


def _door(each: Any) -> int:
    if each.type != "door":
        return NOTHING
    return int(Door.OPEN if each.is_open else Door.LOCKED if each.is_locked else Door.CLOSED)


def _tracked(clause: ours.Clause) -> tuple[int, ...]:
    return (*clause.thing.things, *(clause.fixed.things if isinstance(clause, ours.PutNext) else ()))


def _mission(instr: Any, number: Mapping[int, int]) -> ours.Mission:
    match instr:
        case verifier.BeforeInstr():
            return ours.InOrder(_part(instr.instr_a, number), _part(instr.instr_b, number), instr.strict)
        case verifier.AfterInstr():
            return ours.InOrder(_part(instr.instr_b, number), _part(instr.instr_a, number), instr.strict)
        case _:
            return _part(instr, number)


def _part(instr: Any, number: Mapping[int, int]) -> ours.Clause | ours.Both:
    if isinstance(instr, verifier.AndInstr):
        return ours.Both(_clause(instr.instr_a, number), _clause(instr.instr_b, number))
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
            raise TypeError(f"wanted an instruction of the Baby language, got {instr!r}")


def _description(instr: Any, number: Mapping[int, int]) -> ours.Description:
    # "a grey object" means walls, too, which nothing can be done with
    things = tuple(number[id(each)] for each in instr.obj_set if id(each) in number)
    return ours.Description(instr.type or "", instr.color or "", instr.loc or "", things)
