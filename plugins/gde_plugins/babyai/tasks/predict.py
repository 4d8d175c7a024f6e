"""Predict: where is the agent after these actions? (Choukrani et al. 2025, section
4.4.1)
"""

from collections.abc import Mapping, Sequence

from gde_plugins.babyai.tasks.execution import run_actions, solve
from gde_plugins.babyai.tasks.parsing import (
    STATE_MARKER,
    Reading,
    Way,
    read_state,
)
from gde_plugins.babyai.tasks.question import Scores, first_state, state_text
from gde_plugins.babyai.tasks.stated import AgentState
from gde_plugins.babyai.worlds.scene import Scene


class Predict:
    """The answer is the state of the agent after the expert's actions."""

    def __init__(self, scene: Scene, actions: Sequence[str] | None = None) -> None:
        """Ask about some actions; by default the expert's, up to success."""
        self.scene = scene
        if actions is None:
            actions = solve(scene).actions
        self.actions = tuple(actions)
        self.end = run_actions(scene, actions).end
        """The moment after the actions."""
        self.target = state_text(scene, self.end.position, self.end.direction)
        """The state after the actions."""

    @property
    def asked(self) -> str:
        return (
            f"{first_state(self.scene)} "
            f"The agent takes these actions, one after another: {', '.join(self.actions)}.\n"
            f"What is the state of the agent then? End the answer with one line of this form:\n"
            f"{STATE_MARKER} ((x, y), direction)"
        )

    @property
    def solution(self) -> str:
        return f"{STATE_MARKER} {self.target}"

    @property
    def row(self) -> Mapping[str, str | int]:
        return {
            "action_sequence": ", ".join(self.actions),
            "target_state": self.target,
        }

    def read(self, answer: str, way: Way) -> Reading[AgentState]:
        return read_state(answer, self.scene, way)

    def judge(self, content: AgentState) -> Scores:
        """Score a state.

        `score` needs position and direction, as the published harness does; `position`
        needs the position alone (the published equation 1). `distance` is the Manhattan
        distance between the positions.
        """
        (x, y), direction = content
        end_x, end_y = self.scene.place(self.end.position)
        distance = abs(x - end_x) + abs(y - end_y)
        return {
            "score": float(distance == 0 and direction == self.end.direction),
            "position": float(distance == 0),
            "distance": distance,
        }

    @property
    def nothing(self) -> Scores:
        return {"score": 0.0, "position": 0.0, "distance": None}
