"""Plan: which actions lead to that cell? (Choukrani et al. 2025, section 4.4.2)"""

from collections.abc import Mapping
from functools import cached_property

from gde_plugins.babyai.oracle import walks
from gde_plugins.babyai.oracle.subgoals import Subgoal, of_mission
from gde_plugins.babyai.tasks.question import Scores, Unanswerable, state_text
from gde_plugins.babyai.tasks.readings import PLAN_MARKER, read_plan
from gde_plugins.babyai.tasks.running import run_actions, run_bot
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene
from gde_plugins.babyai.worlds.simulation import Simulation


class PlanQuestion:
    """Go to the first cell that the expert goes to, and face it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        now = Simulation(scene)
        first = of_mission(scene.mission, now.done)[-1]
        self.target = min((now.where[one] for one in first.things if now.where[one] >= 0), key=self._steps, default=-1)
        if self.target < 0:
            raise Unanswerable(
                f"level {scene.level}, seed {scene.seed}: the mission does not begin with going anywhere"
            )
        ran = run_actions(scene, run_bot(scene, [Subgoal("GoNextTo", cell=self.target)]).actions, self.target)
        self._expert = ran.actions
        if ran.end.ahead != self.target or not self._expert:
            raise Unanswerable(f"level {scene.level}, seed {scene.seed}: the expert does not reach what is to be faced")

    def _steps(self, cell: int) -> int:
        """Cells between, if nothing were in the way."""
        (x, y), (i, j) = self.scene.place(cell), self.scene.place(self.scene.agent)
        return abs(x - i) + abs(y - j)

    @cached_property
    def shortest(self) -> int | None:
        """Actions of the shortest way that moves nothing but doors; None where there is none."""
        now = Simulation(self.scene)
        state = 4 * now.position + now.direction
        entering = [toll if toll <= 2 else walks.FAR for toll in walks.tolls(now)]
        cost = walks.table(now, ((end, 0) for end in walks.facing(now, self.target)), entering, state)[state]
        return cost if cost < walks.FAR else None

    @property
    def asked(self) -> str:
        x, y = self.scene.place(self.target)
        return (
            f"The state of the agent is written ((x, y), direction), where direction is 0 for east, 1 for south, 2 for "
            f"west and 3 for north. At first it is {state_text(self.scene, self.scene.agent, self.scene.direction)}. "
            f"The agent is to stand beside the position ({x}, {y}) and face it.\n"
            f"Which actions lead there? Fewer are better. The actions are {', '.join(ACTIONS)}. End the answer with one "
            f"line of this form:\n{PLAN_MARKER} action, action, action"
        )

    @property
    def solution(self) -> str:
        return f"{PLAN_MARKER} {', '.join(self._expert)}"

    @property
    def row(self) -> Mapping[str, str | int]:
        subgoal = f"(GoNextToSubgoal, {self.scene.place(self.target)})"
        return {"target_subgoal": subgoal, "expert_action_sequence": ", ".join(self._expert)}

    def score(self, answer: str) -> Scores:
        """`score` is 1 where the target is faced after some of the actions. `efficiency` is the expert's number of
        actions over that of the answer, those after success included, as in the published harness; `optimality` the
        least possible number, moving nothing but doors, over the number up to success. Both are 0 without success.
        `distance` is how many cells the agent ends away from beside the target."""
        reading = read_plan(answer)
        if reading.value is None:
            return {"reading": reading.reason, "score": 0.0, "efficiency": 0.0, "optimality": 0.0, "distance": None}
        ran = run_actions(self.scene, reading.value, self.target)
        reached = ran.end.ahead == self.target
        (x, y), (i, j) = self.scene.place(ran.end.position), self.scene.place(self.target)
        least = self.shortest
        return {
            "reading": "ok",
            "score": float(reached),
            "efficiency": len(self._expert) / len(reading.value) if reached else 0.0,
            "optimality": None if least is None else least / len(ran.actions) if reached else 0.0,
            "distance": max(0, abs(x - i) + abs(y - j) - 1),
        }
