"""Decompose: which subgoals fulfil the mission?

See Choukrani et al. (2025), section 4.4.3 and appendix D.4.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from gde.data.json import Json
from gde_plugins.babyai.oracle.subgoals import NAMES, Name, Subgoal, of_mission, write
from gde_plugins.babyai.tasks.execution import run_bot, solve
from gde_plugins.babyai.tasks.parsing import END, START, Reading, Way, read_subgoals
from gde_plugins.babyai.tasks.question import Scores, first_state
from gde_plugins.babyai.worlds.scene import Scene
from gde_plugins.babyai.worlds.simulation import Simulation

SUBGOALS: Mapping[str, Name] = {"pickup": "Pickup", "drop": "Drop"}
"""The subgoals of actions; that of "toggle" depends on the door."""
RATES = ("score", "precision", "charged", "aci", "aci_defined")
"""The scores in [0, 1]."""


class Decompose:
    """The answer is a list of subgoals for the expert to follow."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._expert = solve(scene)

    @property
    def help_count(self) -> int:
        """Number of subgoals that the expert adds without help.

        Its translation of the mission is included.
        """
        return self._expert.n_added

    @cached_property
    def n_translated(self) -> int:
        """Number of them that translate the mission."""
        return len(of_mission(self.scene.mission, Simulation(self.scene).done))

    @cached_property
    def subgoals(self) -> list[Subgoal]:
        """The expert's run as a list that needs no additions."""
        return _without_additions(self.scene, self._expert.actions)

    @property
    def asked(self) -> str:
        return (
            f"{first_state(self.scene)} "
            f"The mission is: {self.scene.text}.\n"
            f"Break the mission down into subgoals, in the order in which they are to be done. There are "
            f"{', '.join(NAMES)}. (GoNextToSubgoal, (x, y)) goes beside the position (x, y) and faces it; the others "
            f"act on the cell that the agent faces then. Leave out nothing: doors on the way have to be opened, keys "
            f"fetched, and what blocks the way moved. End the answer with the subgoals, one a line, between two lines "
            f"{START} and {END}, e.g.\n{START}\n(GoNextToSubgoal, (3, 4))\n(PickupSubgoal)\n{END}"
        )

    @property
    def solution(self) -> str:
        lines = [write(subgoal, self.scene) for subgoal in self.subgoals]
        return "\n".join([START, *lines, END])

    @property
    def row(self) -> Mapping[str, str | int]:
        return {"mission": self.scene.text, "help_count": self.help_count}

    def read(self, answer: str, way: Way) -> Reading[tuple[Subgoal, ...]]:
        return read_subgoals(answer, self.scene, way)

    def judge(self, content: Sequence[Subgoal]) -> Scores:
        """Score a list of subgoals by the expert's run with it.

        `score`, the comprehension, says whether the expert fulfils the mission with the
        list and its own additions, `precision` whether it does so without additions.
        `charged` is the expert's number of subgoals over the number listed and added, at
        most 1, and 0 without success. The assistance curves are the share of its usual
        additions that were not needed: `aci` counts the translation of the mission
        among them, as the published harness does, `aci_defined` does not, as the
        published text says.
        """
        executed = run_bot(self.scene, content)
        added = executed.n_added
        scores: dict[str, Json] = {**self.nothing, "added": added}
        if not executed.end.succeeded:
            return scores

        usual = self.help_count
        usual_defined = usual - self.n_translated
        scores["score"] = 1.0
        scores["precision"] = float(added == 0)
        scores["charged"] = min(1.0, len(self.subgoals) / (len(content) + added))
        scores["aci"] = max(0, usual - added) / usual
        # Where the expert usually adds nothing, the share is 1 if it added nothing.
        scores["aci_defined"] = float(added == 0)
        if usual_defined:
            scores["aci_defined"] = max(0, usual_defined - added) / usual_defined
        return scores

    @property
    def nothing(self) -> Scores:
        none: dict[str, Json] = dict.fromkeys(RATES, 0.0)
        usual = self.help_count
        described = {"help_count": usual, "sa": usual - self.n_translated}
        return {**none, "added": None, **described}


def _without_additions(scene: Scene, actions: Sequence[str]) -> list[Subgoal]:
    """Write a run of the expert as a list of subgoals that needs no additions."""
    now = Simulation(scene)
    subgoals: list[Subgoal] = []
    for action in actions:
        name = SUBGOALS.get(action)
        if action == "toggle":
            name = "Close" if now.is_open(now.faced) else "Open"
        if name is not None:
            subgoals += [Subgoal("GoNextTo", cell=now.ahead), Subgoal(name)]
        done_before = now.done[:]
        now.act(action)
        # A movement that fulfils a clause has brought the agent before a thing that it
        # was to go to.
        if name is None and now.done != done_before:
            subgoals.append(Subgoal("GoNextTo", cell=now.ahead))
    return subgoals
