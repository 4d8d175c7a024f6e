"""The extractor that needs no language model."""

from dataclasses import dataclass

from gde.data.observation import OBJECTIVE
from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.representation import at_level, sentences
from gde_plugins.statefactory.rules import blocks, household, maps, rooms, shop, text_game
from gde_plugins.statefactory.rules.given import Rules, Told, seen
from gde_plugins.statefactory.state import Level, Reading

KNOWN: tuple[Rules, ...] = (blocks.RULES, shop.RULES, household.RULES, text_game.RULES, rooms.RULES, maps.RULES)


@dataclass(frozen=True)
class RulesExtractor:
    """Implements `gde_plugins.statefactory.state.Extractor`.

    The first rules that know the world read it. What none knows, and every world at level 1, is read as sentences.
    """

    level: Level

    async def read(self, trajectory: Trajectory) -> Reading:
        return self.reading(trajectory)

    def reading(self, trajectory: Trajectory) -> Reading:
        """What the rules read."""
        objective = trajectory.world.objective
        name, told = self._told(trajectory, objective)
        made_by = f"rules for {name}, level {self.level}" if name else "sentences as they stand, level 1"
        made_by += ", no rules know this world" if not name and self.level > 1 else ""
        if told is None:
            return Reading(made_by=made_by, failure=_lacking(trajectory, objective))
        # What no rules know has no objects, whatever the level.
        level: Level = self.level if name else 4
        return Reading(
            made_by=made_by,
            states=[at_level(state, level) for state in told.states],
            goals=[at_level(goal, level) for goal in told.goals],
        )

    def _told(self, trajectory: Trajectory, objective: str) -> tuple[str, Told | None]:
        for rules in KNOWN if self.level > 1 else ():
            if told := rules.read(trajectory, objective):
                return rules.name, told
        goal = sentences(objective)
        if not goal:
            return "", None
        return "", Told([sentences(text) for text in seen(trajectory)], [goal] * len(trajectory.turns))


def _lacking(trajectory: Trajectory, objective: str) -> str:
    if objective:
        return f"no object in the objective {objective[:80]!r}"
    return f"the world {trajectory.world.id[:80]!r} has no fact `{OBJECTIVE}` that says what is asked for, and no map"
