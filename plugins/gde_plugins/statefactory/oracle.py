"""Goals that are known and not interpreted: the last state of a success at the same
task (section 4.3).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gde.data.trajectory import FIRST_ACTION, Trajectory
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.routing import Vectors, best_named
from gde_plugins.statefactory.state import Extractor, Items, Reading

SUCCESS = "success"
"""The fact of a world that shows one way to its goal: [[action, observation], ...]."""


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

    async def read(self, trajectory: Trajectory) -> Reading:
        reading = await self.states.read(trajectory)
        if reading.failure or not trajectory.turns:
            return reading
        steps = _steps(trajectory)
        if not steps:
            lacking = f"the world has no fact `{SUCCESS}`, a list of [action, observation], to read the goal off"
            return replace(reading, failure=lacking)

        success = await self.states.read(_with_steps(trajectory, steps))
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
            goals=[goal] * len(trajectory.turns),
            counts=reading.counts + success.counts,
        )

    def _reached(self, state: Items, wanted: Items) -> Items:
        if not state:
            return []
        vectors = Vectors((item.name for item in (*state, *wanted)), self.embedder)
        return [best_named(one, state, vectors) for one in wanted]


def _steps(trajectory: Trajectory) -> list[tuple[str, str]]:
    """Actions and observations of the success; empty where the fact is missing or of
    another form.
    """
    fact = trajectory.world.facts.get(SUCCESS)
    if not isinstance(fact, Sequence):
        return []
    steps: list[tuple[str, str]] = []
    for each in fact:
        match each:
            case [str(action), str(observation)]:
                steps.append((action, observation))
            case _:
                return []
    return steps


def _with_steps(trajectory: Trajectory, steps: Sequence[tuple[str, str]]) -> Trajectory:
    """The episode with these actions and observations in place of its own."""
    template = trajectory.turns[0]
    # The first action came before the first turn; the decision of a turn is the next
    # action.
    first_action, *decisions = [action for action, _ in steps]
    decisions.append("")
    turns = []
    for index, ((_, observation), action) in enumerate(
        zip(steps, decisions, strict=True)
    ):
        decision = replace(
            template.decision, status="ok", action=action, detail="", completion=None
        )
        seen = replace(template.observation, text=observation)
        turns.append(
            replace(template, index=index, observation=seen, decision=decision)
        )
    world = replace(
        trajectory.world, facts={**trajectory.world.facts, FIRST_ACTION: first_action}
    )
    return replace(trajectory, world=world, turns=tuple(turns))
