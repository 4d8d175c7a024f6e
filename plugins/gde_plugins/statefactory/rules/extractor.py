"""The extractor that needs no language model."""

from dataclasses import dataclass

from gde.data.observation import OBJECTIVE
from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules import household, shop, text_game
from gde_plugins.statefactory.rules.worlds import (
    BLOCKS,
    MAPS,
    Given,
    Rules,
    seen,
)
from gde_plugins.statefactory.state import Level, Reading, at_level, sentences

KNOWN: tuple[Rules, ...] = (
    BLOCKS,
    shop.RULES,
    household.RULES,
    text_game.RULES,
    MAPS,
)


@dataclass(frozen=True)
class RulesExtractor:
    """Implements `gde_plugins.statefactory.state.Extractor`.

    The first rules that know the world read it. Unknown worlds, and every world at
    level 1, are read as sentences.
    """

    level: Level

    async def read(self, transcript: Transcript) -> Reading:
        return self.reading(transcript)

    def reading(self, transcript: Transcript) -> Reading:
        """Read an episode."""
        objective = transcript.objective
        for rules in KNOWN if self.level > 1 else ():
            if given := rules.read(transcript, objective):
                return self._reading(
                    given, f"rules for {rules.name}, level {self.level}", self.level
                )

        made_by = "sentences as they stand, level 1"
        if self.level > 1:
            made_by += ", no rules know this world"
        goal = sentences(objective)
        if not goal:
            return Reading(made_by=made_by, failure=_why_no_goal(objective))
        states = [sentences(text) for text in seen(transcript)]
        # Sentences have no attributes that a lower level could leave out.
        return self._reading(Given(states, [goal] * len(states)), made_by, 4)

    def _reading(self, given: Given, made_by: str, level: Level) -> Reading:
        return Reading(
            made_by=made_by,
            states=[at_level(state, level) for state in given.states],
            goals=[at_level(goal, level) for goal in given.goals],
        )


def _why_no_goal(objective: str) -> str:
    if objective:
        return f"no object in the objective {objective[:80]!r}"
    return (
        f"the world has no fact `{OBJECTIVE}` that says what is asked for, and no map"
    )
