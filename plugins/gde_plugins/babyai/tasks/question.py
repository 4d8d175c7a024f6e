"""The protocol of a question about a world."""

from collections.abc import Mapping
from typing import Protocol

from gde.data.json import Json
from gde_plugins.babyai.worlds.scene import Scene

Scores = Mapping[str, Json]
"""Scores of an answer by name. `reading` is "ok" or the reason why the answer cannot be
used, `score` is the success in [0, 1]; the others belong to the kind of question and
are null if they have no value.
"""


class Question(Protocol):
    """A question about the beginning of a world.

    Its constructor raises `Unanswerable` if it has no solution.
    """

    scene: Scene

    @property
    def asked(self) -> str:
        """The question with the form of the answer, without the description of the
        world.
        """

    @property
    def solution(self) -> str:
        """An answer whose score is 1."""

    @property
    def row(self) -> Mapping[str, str | int]:
        """The columns of the published dataset that are specific to this kind of
        question.
        """

    def score(self, answer: str) -> Scores:
        """Score an answer."""


class Unanswerable(ValueError):
    """The question has no solution in this world."""


def state_text(scene: Scene, cell: int, direction: int) -> str:
    """Write a state of the agent as ((x, y), direction)."""
    return str((scene.place(cell), direction))


def first_state(scene: Scene) -> str:
    """Write the beginning of every question: the notation of states, and the first
    state.
    """
    return (
        "The state of the agent is written ((x, y), direction), where direction is 0 for east, 1 for south, 2 for west "
        f"and 3 for north. At first it is {state_text(scene, scene.agent, scene.direction)}."
    )
