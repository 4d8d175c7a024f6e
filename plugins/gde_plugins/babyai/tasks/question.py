"""The three kinds of questions as one protocol."""

from collections.abc import Mapping
from typing import Protocol

from gde.data.json import Json
from gde_plugins.babyai.worlds.scene import Scene

Scores = Mapping[str, Json]
"""What an answer is worth, by name. `reading` is "ok" or the reason why the answer cannot be used, `score` the share of
success in [0, 1]; the others are those of the kind of question, null where there is no value."""


class Question(Protocol):
    """A question about the beginning of a world. Made of a scene; raises `Unanswerable` where it has no solution."""

    scene: Scene

    @property
    def asked(self) -> str:
        """What is asked, without the description of the world, but with the form of the answer."""

    @property
    def solution(self) -> str:
        """An answer that is scored 1."""

    @property
    def row(self) -> Mapping[str, str | int]:
        """The columns of the published dataset that this kind of question has beside those that all have."""

    def score(self, answer: str) -> Scores:
        """What an answer is worth."""


class Unanswerable(ValueError):
    """A world about which a question has no solution."""


def state_text(scene: Scene, cell: int, direction: int) -> str:
    """((x, y), direction)."""
    return str((scene.place(cell), direction))


def first_state(scene: Scene) -> str:
    """How states are written, and which is the first: what every question begins with."""
    return (
        "The state of the agent is written ((x, y), direction), where direction is 0 for east, 1 for south, 2 for west "
        f"and 3 for north. At first it is {state_text(scene, scene.agent, scene.direction)}."
    )
