"""Settings of the text worlds."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval

Folder = Annotated[str, "the path of a folder"]


@dataclass(frozen=True, kw_only=True)
class HostConfig:
    """Limits of a simulator's process."""

    begin_seconds: Annotated[float, Gt(0)] = 300.0
    """Longest time to begin a game, which includes making it, or to give its
    demonstration. A slower simulator is killed, and its episode fails.
    """
    step_seconds: Annotated[float, Gt(0)] = 60.0
    """Longest time of a step."""
    recycle_games: Annotated[int, Ge(1)] = 200
    """Games after which the simulator is replaced by a new one, because it leaks."""
    recycle_megabytes: Annotated[int, Ge(1)] = 2000
    """Memory of the simulator, in MiB and with what it starts, above which it is
    replaced before the next game.
    """


@dataclass(frozen=True, kw_only=True)
class TextWorldConfig(HostConfig):
    """One kind of TextWorld game; every seed is another game of that kind."""

    game: Literal["cooking", "treasure-hunt", "coin-collector", "custom"] = "cooking"
    """One of TextWorld's challenges; custom is a chain of actions in a house whose size
    you set.
    """
    level: Annotated[int, Interval(ge=1, le=300)] = 5
    """Difficulty of a treasure hunt, 1 to 30, or of a coin collection: length of the
    quest, rooms, doors, keys.
    """
    ingredients: Annotated[int, Interval(ge=1, le=5)] = 2
    """Cooking: ingredients of the recipe, all to be found."""
    rooms: Annotated[int, Interval(ge=1, le=30)] = 6
    """Cooking: 1, 6, 9 or 12 rooms; custom: any number."""
    cook: bool = True
    """Cooking: whether some ingredients must be cooked."""
    cut: bool = True
    """Cooking: whether some must be cut."""
    drop: bool = False
    """Cooking: whether the player can carry little."""
    objects: Annotated[int, Interval(ge=1, le=60)] = 8
    """Custom: objects in the house."""
    quest_length: Annotated[int, Interval(ge=1, le=20)] = 4
    """Custom: actions of the chain."""
    route: bool = False
    """Whether the objective gives the whole path, as in TextWorld's default."""
    horizon: Annotated[int, Ge(1)] = 100
    """Turns of an episode."""

    def __post_init__(self) -> None:
        if self.game == "cooking" and self.rooms not in (1, 6, 9, 12):
            raise ValueError(
                f"rooms of a cooking game: 1, 6, 9 or 12, got {self.rooms}"
            )
        if self.game == "treasure-hunt" and self.level > 30:
            raise ValueError(f"level of a treasure hunt: 1 to 30, got {self.level}")


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
    """ALFWorld's games of one split, or one generated game for every seed."""

    data: Folder | None = None
    """Folder of the official games, which holds json_2.1.1; none for the folder in
    ALFWORLD_DATA.
    """
    split: str | None = None
    """A folder of the official games, e.g. valid_seen, or "made"; none for valid_seen
    if there are official games, else for made.
    """
    task_type: TaskType | None = None
    """One of the six types of tasks; none for all."""
    receptacles: Annotated[int, Interval(ge=4, le=30)] = 10
    """Made games: receptacles of the room, at least."""
    objects: Annotated[int, Interval(ge=1, le=40)] = 10
    """Made games: objects in the room besides those of the task."""
    play_on: bool = False
    """Whether the episode goes on after the goal, with the success of each moment."""
    horizon: Annotated[int, Ge(1)] = 50
    """Turns of an episode."""


@dataclass(frozen=True, kw_only=True)
class ScienceWorldConfig(HostConfig):
    """Tasks of ScienceWorld; a world is one variation of a task."""

    task: str | None = None
    """One task by its name, e.g. boil; none for all thirty."""
    split: Literal["train", "dev", "test"] = "test"
    """Which variations of each task."""
    variations: Annotated[int, Ge(1)] | None = None
    """At most so many variations of each task, the first ones; none for all."""
    listed: bool = True
    """Whether the admissible actions, several hundred, are listed at every turn, which
    takes most of the time. If not, any text can be tried.
    """
    play_on: bool = False
    """Whether the episode goes on when the goal has been reached."""
    horizon: Annotated[int, Ge(1)] = 200
    """Turns of an episode; the longest demonstrations take some 190."""
