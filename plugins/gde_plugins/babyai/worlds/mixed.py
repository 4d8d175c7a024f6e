"""Level MixedTrainLocal of Carta et al. (2023), which minigrid lacks.

Its missions and what they leave out are those of the publication. The worlds of its
seeds are our own: the original draws the kind of mission without the seed.
"""

from typing import Any

import minigrid.envs.babyai.core.verifier as verifier
from minigrid.envs.babyai.core.levelgen import LevelGen
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling

from gde.seeding import generator
from gde_plugins.babyai.worlds.levels import MIXED_MISSIONS

# Most of minigrid has no types.
LEVEL: Any = LevelGen
BABY: Any = verifier
ROOM = 8
HELD_OUT = ("yellow box", "red key", "red door", "green ball", "grey door")
"""No mission names one of these."""


class MixedTrainLocal(LEVEL):  # type: ignore[misc]
    """A room with things, or two rooms with a locked door between them."""

    def __init__(self, mission: str, n_distractors: int) -> None:
        """Prepare to draw worlds.

        Args:
            mission: one of `MIXED_MISSIONS`; empty to draw one by the seed.
            n_distractors: things beside those that the mission names.
        """
        self._asked = mission
        super().__init__(
            room_size=ROOM,
            num_rows=1,
            num_cols=1,
            num_dists=n_distractors,
            locations=False,
            unblocking=False,
        )

    def reset(self, *, seed: int, **options: Any) -> Any:
        rng = generator(seed, "MixedTrainLocal")
        self._mission = self._asked or str(rng.choice(MIXED_MISSIONS))
        self.num_cols = 2 if self._mission == "open" else 1
        self.width = self.num_cols * (ROOM - 1) + 1
        return super().reset(seed=seed, **options)

    def gen_mission(self) -> None:
        self.instrs = self._open() if self._mission == "open" else self._in_a_room()
        # Nothing has to be moved out of the way.
        self.check_objs_reachable()
        said = self.instrs.surface(self)
        if any(thing in said for thing in HELD_OUT):
            raise RejectSampling(f"held out: {said}")

    def _open(self) -> Any:
        self.add_locked_room()
        (door,) = filter(None, self.locked_room.doors)
        if f"{door.color} door" in HELD_OUT:
            raise RejectSampling(f"held out: {door.color} door")
        free = 1 - self.room_grid[0].index(self.locked_room)
        self.add_distractors(free, 0, self.num_dists, all_unique=False)
        self.place_agent(free, 0)
        return BABY.OpenInstr(BABY.ObjDesc("door", self._rand_elem([None, door.color])))

    def _in_a_room(self) -> Any:
        n_named = 1 if self._mission in ("goto", "pickup") else 2
        self.place_agent()
        n_things = self.num_dists + n_named
        things = self.add_distractors(num_distractors=n_things, all_unique=False)
        named = self._rand_subset(things, n_named)
        described = [BABY.ObjDesc(thing.type, thing.color) for thing in named]
        match self._mission:
            case "goto":
                return BABY.GoToInstr(*described)
            case "pickup":
                return BABY.PickupInstr(*described)
            case "putnext":
                return BABY.PutNextInstr(*described)
        first, then = BABY.PickupInstr(described[0]), BABY.GoToInstr(described[1])
        if self._rand_bool():
            return BABY.BeforeInstr(first, then)
        return BABY.AfterInstr(then, first)
