"""Predict: where is the agent after these actions? (Choukrani et al. 2025, section
4.4.1)
"""

from collections.abc import Mapping

from gde_plugins.babyai.tasks.execution import solve
from gde_plugins.babyai.tasks.parsing import STATE_MARKER, read_state
from gde_plugins.babyai.tasks.question import Scores, first_state, state_text
from gde_plugins.babyai.worlds.scene import Scene


class Predict:
    """The answer is the state of the agent after the expert's actions."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._expert = solve(scene)
        end = self._expert.end
        self.target = state_text(scene, end.position, end.direction)
        """The state after the actions."""

    @property
    def asked(self) -> str:
        return (
            f"{first_state(self.scene)} "
            f"The agent takes these actions, one after another: {', '.join(self._expert.actions)}.\n"
            f"What is the state of the agent then? End the answer with one line of this form:\n"
            f"{STATE_MARKER} ((x, y), direction)"
        )

    @property
    def solution(self) -> str:
        return f"{STATE_MARKER} {self.target}"

    @property
    def row(self) -> Mapping[str, str | int]:
        return {
            "action_sequence": ", ".join(self._expert.actions),
            "target_state": self.target,
        }

    def score(self, answer: str) -> Scores:
        """Score an answer.

        `score` needs position and direction, as the published harness does; `position`
        needs the position alone (the published equation 1). `distance` is the Manhattan
        distance between the positions.
        """
        reading = read_state(answer, self.scene)
        if reading.value is None:
            unusable = {"score": 0.0, "position": 0.0, "distance": None}
            return {"reading": reading.reason, **unusable}

        (x, y), direction = reading.value
        end = self._expert.end
        end_x, end_y = self.scene.place(end.position)
        distance = abs(x - end_x) + abs(y - end_y)
        return {
            "reading": "ok",
            "score": float(distance == 0 and direction == end.direction),
            "position": float(distance == 0),
            "distance": distance,
        }
