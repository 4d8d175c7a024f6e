"""Decompose: which subgoals fulfil the mission? (Choukrani et al. 2025, section 4.4.3 and appendix D.4)"""

from collections.abc import Mapping
from functools import cached_property

from gde_plugins.babyai.oracle.subgoals import NAMES, of_mission
from gde_plugins.babyai.tasks.question import Scores, Unanswerable, first_state
from gde_plugins.babyai.tasks.readings import END, START, read_subgoals
from gde_plugins.babyai.tasks.running import run_bot
from gde_plugins.babyai.tasks.unaided import unaided
from gde_plugins.babyai.worlds.scene import Scene
from gde_plugins.babyai.worlds.simulation import Simulation


class Decompose:
    """Write a list that the expert works off."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._ran = run_bot(scene)
        if not self._ran.end.succeeded:
            raise Unanswerable(f"level {scene.level}, seed {scene.seed}: the expert does not fulfil the mission")

    @property
    def help_count(self) -> int:
        """Subgoals that the expert puts on its stack by itself, its translation of the mission included."""
        return self._ran.n_added

    @cached_property
    def n_translated(self) -> int:
        """Those of them that translate the mission."""
        return len(of_mission(self.scene.mission, Simulation(self.scene).done))

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

    @cached_property
    def solution(self) -> str:
        return "\n".join([START, *unaided(self.scene), END])

    @property
    def row(self) -> Mapping[str, str | int]:
        return {"mission": self.scene.text, "help_count": self.help_count}

    def score(self, answer: str) -> Scores:
        """`score` is the comprehension: whether the expert fulfils the mission with the list and whatever it adds.
        `precision`: whether it does without adding any. The two assistance curves are the share of what the expert
        would have added by itself that it did not add: `aci` counts the translation of the mission in, as the
        published harness does, `aci_defined` leaves it out, as the published text does."""
        reading, own = read_subgoals(answer, self.scene), self.help_count - self.n_translated
        told: dict[str, int] = {"help_count": self.help_count, "sa": own}
        if reading.value is None:
            zero = {"score": 0.0, "precision": 0.0, "aci": 0.0, "aci_defined": 0.0, "added": None}
            return {"reading": reading.reason, **zero, **told}
        ran = run_bot(self.scene, reading.value)
        done, added = ran.end.succeeded, ran.n_added
        return {
            "reading": "ok",
            "score": float(done),
            "precision": float(done and not added),
            "aci": max(0, self.help_count - added) / self.help_count if done else 0.0,
            "aci_defined": (max(0, own - added) / own if own else float(not added)) if done else 0.0,
            "added": added,
            **told,
        }
