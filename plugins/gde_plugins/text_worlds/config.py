"""Settings of the text worlds."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, Interval

from gde.data.how import How
from gde.data.ranges import Count
from gde.offers import FilePath

MOST_ROOMS = 100
"""Of a game of TextWorld 1.7."""


@dataclass(frozen=True, kw_only=True)
class HostConfig:
    """Limits of a simulator's process."""

    begin_seconds: Annotated[float, Gt(0), How] = 300.0
    """Time limit in seconds for making and starting a game, and for its demonstration.
    A slower simulator is killed, and its episode fails.
    """
    step_seconds: Annotated[float, Gt(0), How] = 60.0
    """Time limit of a step in seconds."""
    recycle_games: Annotated[Count, How] = 200
    """Number of games after which the simulator is restarted, because it leaks memory."""
    recycle_megabytes: Annotated[Count, How] = 2000
    """Memory limit in MiB of the simulator and its child processes; above it the
    simulator is restarted before the next game.
    """


@dataclass(frozen=True, kw_only=True)
class TextWorldConfig(HostConfig):
    """One kind of TextWorld game; every seed gives another game of that kind."""

    game: Literal["cooking", "treasure-hunt", "coin-collector", "custom"] = "cooking"
    """One of TextWorld's challenges, or custom: a chain of actions in a house of chosen
    size.
    """
    level: Annotated[int, Interval(ge=1, le=233)] = 5
    """Difficulty of a treasure hunt, 1 to 30, or of a coin collection: length of the
    quest (its last two digits) and rooms for each step of it (1 to 100: 1, to 150: 2,
    201 to 233: 3).
    """
    ingredients: Annotated[int, Interval(ge=1, le=5)] = 2
    """Cooking: number of ingredients in the recipe, all of which must be found."""
    rooms: Annotated[int, Interval(ge=1, le=30)] = 6
    """Cooking: 1, 6, 9 or 12 rooms; custom: any number."""
    cook: bool = True
    """Cooking: some ingredients must be cooked."""
    cut: bool = True
    """Cooking: some ingredients must be cut."""
    drop: bool = False
    """Cooking: limit the number of carried objects."""
    objects: Annotated[int, Interval(ge=1, le=60)] = 8
    """Custom: number of objects in the house."""
    quest_length: Annotated[int, Interval(ge=1, le=20)] = 4
    """Custom: number of actions in the chain."""
    route: bool = False
    """Give the whole path in the objective, as TextWorld does by default."""
    horizon: Count = 100
    """Maximum number of turns of an episode."""

    def __post_init__(self) -> None:
        if self.game == "cooking" and self.rooms not in (1, 6, 9, 12):
            raise ValueError(
                f"rooms of a cooking game: 1, 6, 9 or 12, got {self.rooms}"
            )
        if self.game == "treasure-hunt" and self.level > 30:
            raise ValueError(f"level of a treasure hunt: 1 to 30, got {self.level}")
        hundreds, quest = divmod(self.level - 1, 100)
        n_rooms = (quest + 1) * (hundreds + 1)
        if self.game == "coin-collector" and n_rooms > MOST_ROOMS:
            raise ValueError(
                f"level of a coin collection of at most {MOST_ROOMS} rooms: 1 to 150 or 201 to 233, got {self.level}"
            )


TaskType = Literal[
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
]


@dataclass(frozen=True, kw_only=True)
class AlfworldConfig(HostConfig):
    """ALFWorld's games of one split, or one generated game per seed."""

    data: FilePath | None = None
    """Folder of the official games, with json_2.1.1 in it; none for the folder in
    ALFWORLD_DATA.
    """
    split: str | None = None
    """A folder of the official games, e.g. valid_seen, or "made" for generated games;
    none for valid_seen if there are official games, else for made.
    """
    task_type: TaskType | None = None
    """One of the six types of tasks; none for all."""
    receptacles: Annotated[int, Interval(ge=4, le=30)] = 10
    """Generated games: minimum number of receptacles in the room."""
    objects: Annotated[int, Interval(ge=1, le=40)] = 10
    """Generated games: number of objects in the room besides those of the task."""
    play_on: bool = False
    """Continue after the goal; success then describes the current state."""
    horizon: Count = 50
    """Maximum number of turns of an episode."""

    def __post_init__(self) -> None:
        # Elsewhere, nobody may have said that its games may be read.
        if self.split is not None and not re.fullmatch(r"\w[\w-]*", self.split):
            raise ValueError(
                f"split: wanted the name of a folder, e.g. valid_seen, got {self.split!r}"
            )


@dataclass(frozen=True, kw_only=True)
class ScienceWorldConfig(HostConfig):
    """Tasks of ScienceWorld; a world is one variation of a task."""

    task: str | None = None
    """Name of one task, e.g. boil; none for all thirty."""
    split: Literal["train", "dev", "test"] = "test"
    """Split of the variations of each task."""
    variations: Count | None = None
    """Number of variations of each task, from the first; none for all."""
    listed: bool = True
    """List the admissible actions, several hundred, in every turn, which takes most of
    the time. With false, an action is any text.
    """
    play_on: bool = False
    """Continue after the goal; success then describes the current state."""
    horizon: Count = 200
    """Maximum number of turns of an episode; the longest demonstrations take about 190."""
