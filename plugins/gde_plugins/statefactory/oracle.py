"""Goals that are known and not interpreted: the last state of a success at the same
task (section 4.3).
"""

from dataclasses import dataclass, replace

from gde.data.transcript import DEMONSTRATION, Transcript
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.routing import Vectors, best_named
from gde_plugins.statefactory.state import Extractor, Items, Reading


@dataclass(frozen=True)
class OracleGoals:
    """Implements `gde_plugins.statefactory.state.Extractor`: the states of another
    extractor, with oracle goals.

    The goal consists of the objects of the success's last state that best match, by
    name, those of the interpreted goal. Other objects of that state are no part of the
    task.
    """

    states: Extractor
    embedder: Embedder

    async def read(self, transcript: Transcript) -> Reading:
        reading = await self.states.read(transcript)
        if reading.failure or not transcript.steps:
            return reading
        steps = transcript.demonstration
        if not steps:
            lacking = f"the world has no fact `{DEMONSTRATION}`, a list of [action, observation], to read the goal off"
            return replace(reading, failure=lacking)

        success = await self.states.read(replace(transcript, steps=steps))
        if success.failure:
            return replace(
                reading,
                failure=f"the success at the task cannot be read: {success.failure}",
            )
        goal = self._reached(success.states[-1], success.goals[-1])
        if not goal:
            return replace(
                reading,
                failure="nothing that is wanted was there when the success at the task ended",
            )
        return replace(
            reading,
            made_by=f"{reading.made_by}, goals of the oracle",
            goals=[goal] * len(transcript.steps),
            counts=reading.counts + success.counts,
        )

    def _reached(self, state: Items, wanted: Items) -> Items:
        if not state:
            return []
        vectors = Vectors((item.name for item in (*state, *wanted)), self.embedder)
        return [best_named(one, state, vectors) for one in wanted]
