"""Goals that are not interpreted but known: the state that a success at the same task ends in (section 4.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gde.data.trajectory import FIRST_ACTION, Trajectory
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.routing import Vectors, best_named
from gde_plugins.statefactory.state import Extractor, Items, Reading

SUCCESS = "success"
"""The fact of a world that tells how its goal was reached once: [[action, observation], ...]."""


@dataclass(frozen=True)
class OracleGoals:
    """Implements `gde_plugins.statefactory.state.Extractor`: states as another reads them, under goals of the oracle.

    Of the success's last state those objects are the goal that go by the name of something in the interpreted goal:
    what else there is in the end is no business of the task.
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
        success = await self.states.read(_as_played(trajectory, steps))
        if success.failure:
            return replace(reading, failure=f"the success at the task cannot be read: {success.failure}")
        goal = self._reached(success.states[-1], success.goals[-1])
        if not goal:
            return replace(reading, failure="nothing that is wanted was there when the success at the task ended")
        made_by = f"{reading.made_by}, goals of the oracle"
        counts = reading.counts + success.counts
        return replace(reading, made_by=made_by, goals=[goal] * len(trajectory.turns), counts=counts)

    def _reached(self, state: Items, wanted: Items) -> Items:
        vectors = Vectors((item.name for items in (state, wanted) for item in items), self.embedder)
        return [best_named(one, state, vectors) for one in wanted] if state else []


def _steps(trajectory: Trajectory) -> Sequence[tuple[str, str]]:
    told = trajectory.world.facts.get(SUCCESS)
    steps = [tuple(each) for each in told if isinstance(each, Sequence)] if isinstance(told, Sequence) else []
    fine = all(len(each) == 2 and all(isinstance(text, str) for text in each) for each in steps)
    return steps if fine else []  # type: ignore[return-value]


def _as_played(trajectory: Trajectory, steps: Sequence[tuple[str, str]]) -> Trajectory:
    """The episode as if these actions and observations were all of it."""
    turn, (first, _) = trajectory.turns[0], steps[0]
    actions: list[str] = [action for action, _ in steps]
    turns = (
        replace(
            turn,
            index=index,
            observation=replace(turn.observation, text=text),
            decision=replace(turn.decision, status="ok", action=after, detail="", completion=None),
        )
        for index, ((_, text), after) in enumerate(zip(steps, [*actions[1:], ""], strict=True))
    )
    world = replace(trajectory.world, facts={**trajectory.world.facts, FIRST_ACTION: first})
    return replace(trajectory, world=world, turns=tuple(turns))
