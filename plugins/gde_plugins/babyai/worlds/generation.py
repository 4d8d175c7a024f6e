"""Generates worlds with the generators of minigrid's levels.

They print nothing, and every seed has a fresh object.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import gymnasium
import minigrid.envs.babyai.core.verifier as verifier
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling
from minigrid.envs.babyai.goto import GoToRedBallGrey

from gde_plugins.babyai.worlds import mission as ours
from gde_plugins.babyai.worlds.levels import (
    MIXED,
    PLAN_WORLDS,
    Release,
    environment_id,
)
from gde_plugins.babyai.worlds.mixed import MixedTrainLocal
from gde_plugins.babyai.worlds.scene import FREE, NOTHING, WALL, Scene, Thing

DRAW_ROOMS: Any = RoomGrid._gen_grid


class _Silent:
    """A level that draws until a draw is accepted, silently."""

    def _gen_grid(self: Any, width: int, height: int) -> None:
        while True:
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
    """A level that draws as minigrid 3.0 does.

    Each draw remembers the locked room of the rejected draw before it. A few worlds
    depend on this. Later releases forget the room.

    A few worlds depend on this. Later releases forget the room.
    """

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
        release: the release of minigrid whose way of drawing is followed; any may be
            installed.
    """
    cls, settings = _maker(level, release)
    world = cls(**settings)
    world.reset(seed=seed)
    return _taken_over(world, level, seed)


def minigrid_version() -> str:
    """Return the version of the installed minigrid."""
    return version("minigrid")


@cache
def _maker(level: str, release: Release) -> tuple[type, Mapping[str, Any]]:
    """Return the class of a level, drawing as a release, and its settings."""
    settings: Mapping[str, Any]
    if level in PLAN_WORLDS:
        room_size, n_distractors = PLAN_WORLDS[level]
        level_class: Any = GoToRedBallGrey
        settings = {
            "room_size": room_size,
            "num_dists": n_distractors,
            "max_steps": room_size**2,
        }
    elif level in MIXED:
        mission, n_distractors = MIXED[level]
        level_class = MixedTrainLocal
        settings = {"mission": mission, "n_distractors": n_distractors}
    else:
        spec = gymnasium.spec(environment_id(level))
        level_class = gymnasium.envs.registration.load_env_creator(
            str(spec.entry_point)
        )
        settings = spec.kwargs
    return type(level_class.__name__, (DRAWS[release], level_class), {}), settings


def _taken_over(world: Any, level: str, seed: int) -> Scene:
    """Copy a world of minigrid into a scene, in which things are numbered."""
    # Things in cells come first, then what boxes hold, then what is carried.
    objects = []
    for each in world.grid.grid:
        if each is not None and each.type != "wall":
            objects.append(each)
    for each in objects[:]:
        if each.type == "box" and each.contains is not None:
            objects.append(each.contains)
    if world.carrying is not None:
        objects.append(world.carrying)

    # Instructions refer to minigrid's objects, which are told apart by identity: two
    # red balls are equal.
    number = {id(each): n for n, each in enumerate(objects)}
    # No object is an empty cell, an empty box or empty hands.
    number[id(None)] = FREE
    cells = tuple(number.get(id(each), WALL) for each in world.grid.grid)
    things = []
    doors = []
    for each in objects:
        contains = number[id(getattr(each, "contains", None))]
        things.append(Thing(each.type, each.color, contains))
        # The state is the third number of minigrid's encoding.
        doors.append(int(each.encode()[2]) if each.type == "door" else NOTHING)

    mission = _mission(world.instrs, number)
    agent_x, agent_y = world.agent_pos
    return Scene(
        level=level,
        seed=seed,
        width=world.width,
        height=world.height,
        room=world.room_size,
        rooms=(world.num_rows, world.num_cols),
        cells=cells,
        things=tuple(things),
        doors=tuple(doors),
        known=_known(world, cells, mission, number),
        agent=int(agent_y * world.width + agent_x),
        direction=int(world.agent_dir),
        carrying=number[id(world.carrying)],
        mission=mission,
        text=world.mission,
        max_steps=int(world.max_steps),
    )


def _known(
    world: Any, cells: Sequence[int], mission: ours.Mission, number: Mapping[int, int]
) -> tuple[int, ...]:
    """Return where the mission takes each thing to be.

    minigrid tracks only the things of its clauses.
    """
    wanted: set[int] = set()
    for clause in ours.clauses(mission):
        wanted.update(clause.thing.things)
        if isinstance(clause, ours.PutNext):
            wanted.update(clause.fixed.things)

    known = [NOTHING] * (len(number) - 1)
    for cell, content in enumerate(cells):
        if content in wanted:
            known[content] = cell
    # The mission looked for the carried thing before it was handed over.
    carried = number[id(world.carrying)]
    if carried in wanted:
        x, y = world.obj_a.init_pos
        known[carried] = int(y * world.width + x)
    return tuple(known)


def _mission(instr: Any, number: Mapping[int, int]) -> Any:
    match instr:
        case (
            verifier.BeforeInstr(instr_a=first, instr_b=then)
            | verifier.AfterInstr(instr_a=then, instr_b=first)
        ):
            parts = _mission(first, number), _mission(then, number)
            return ours.InOrder(*parts, instr.strict)
        case verifier.AndInstr(instr_a=one, instr_b=other):
            return ours.Both(_mission(one, number), _mission(other, number))
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
    things = [number[id(each)] for each in instr.obj_set if id(each) in number]
    return ours.Description(
        instr.type or "", instr.color or "", instr.loc or "", tuple(things)
    )
