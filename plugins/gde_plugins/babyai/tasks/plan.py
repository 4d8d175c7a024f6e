"""Plan: which actions lead to that cell? (Choukrani et al. 2025, section 4.4.2)"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from gde.data.json import Json
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.search import shortest
from gde_plugins.babyai.oracle.subgoals import Subgoal, of_mission
from gde_plugins.babyai.tasks.execution import run_actions, run_bot
from gde_plugins.babyai.tasks.parsing import PLAN_MARKER, Reading, Way, read_plan
from gde_plugins.babyai.tasks.question import Scores, Unanswerable, first_state
from gde_plugins.babyai.worlds.mission import Description, GoTo
from gde_plugins.babyai.worlds.scene import ACTIONS, NOTHING, Scene
from gde_plugins.babyai.worlds.simulation import Simulation

BUDGET = 4000
"""Maximum number of states that the search for a shortest solution expands."""


def to_stand_beside(place: tuple[int, int]) -> str:
    """Write what a plan is to reach."""
    x, y = place
    return f"The agent is to stand beside the position ({x}, {y}) and face it."


class PlanQuestion:
    """The answer is a list of actions to the expert's first cell.

    After them the agent must face that cell.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        now = Simulation(scene)
        first = of_mission(scene.mission, now.done)[-1]
        expert = run_bot(scene, [Subgoal("GoNextTo", first.things)])
        self.target = expert.end.ahead
        self._expert = expert.actions
        arrived = expert.end.succeeded or now.cells[self.target] in first.things
        if not arrived:
            raise Unanswerable(
                f"level {scene.level}, seed {scene.seed}: the expert reaches no object"
            )

    @cached_property
    def best(self) -> tuple[str, ...] | None:
        """A plan with the lowest number of actions, by exact search; None if the budget
        is too small.
        """
        thing = self.scene.cells[self.target]
        if thing < 0:
            return None
        goal = GoTo(Description("", "", "", (thing,)))
        known = [NOTHING] * len(self.scene.things)
        known[thing] = self.target
        now = Simulation(replace(self.scene, mission=goal, known=tuple(known)))
        return shortest(now, Bound(now), BUDGET).actions

    @property
    def shortest(self) -> int | None:
        """The lowest number of actions; None if the budget is too small."""
        return None if self.best is None else len(self.best)

    @property
    def asked(self) -> str:
        return (
            f"{first_state(self.scene)} "
            f"{to_stand_beside(self.scene.place(self.target))}\n"
            f"Which actions lead there? Fewer are better. The actions are {', '.join(ACTIONS)}. End the answer with a "
            f"line of this form:\n{PLAN_MARKER} action, action, action"
        )

    @property
    def solution(self) -> str:
        return f"{PLAN_MARKER} {', '.join(self._expert)}"

    @property
    def row(self) -> Mapping[str, str | int]:
        return {
            "target_subgoal": str(self.scene.place(self.target)),
            "expert_action_sequence": ", ".join(self._expert),
        }

    def read(self, answer: str, way: Way) -> Reading[tuple[str, ...]]:
        return read_plan(answer, way)

    def judge(self, content: Sequence[str]) -> Scores:
        """Score a plan by executing it.

        `score` is 1 if the agent faces the target, or fulfils the mission, after some
        of the actions. `efficiency` is the expert's number of actions over that of the
        plan, those after success included, as in the published harness; `optimality` is
        the certified least number over the number up to success, and `charged` over the
        number of all actions. All are 0 without success. `distance` is the number of
        cells between the end and the nearest cell beside the target.
        """
        executed = run_actions(self.scene, content, self.target)
        reached = executed.end.ahead == self.target or executed.end.succeeded
        efficiency = 0.0
        optimality: float | None = None if self.shortest is None else 0.0
        charged = optimality
        if reached:
            n_all = max(len(content), 1)
            efficiency = len(self._expert) / n_all
            if self.shortest is not None:
                optimality = self.shortest / max(len(executed.actions), 1)
                charged = self.shortest / n_all

        x, y = self.scene.place(executed.end.position)
        target_x, target_y = self.scene.place(self.target)
        return {
            "score": float(reached),
            "efficiency": efficiency,
            "optimality": optimality,
            "charged": charged,
            "distance": max(0, abs(x - target_x) + abs(y - target_y) - 1),
        }

    @property
    def nothing(self) -> Scores:
        charged = None if self.shortest is None else 0.0
        none: dict[str, Json] = dict.fromkeys(("score", "efficiency"), 0.0)
        return {**none, "optimality": charged, "charged": charged, "distance": None}
