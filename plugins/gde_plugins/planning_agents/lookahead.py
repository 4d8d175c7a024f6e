"""Choice among tried plans by the reward at their ends: one step, or the best of n."""

from collections import deque
from collections.abc import Iterator

from gde.data.answer import Reading
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde.parts.simulator import Situation
from gde.seeding import generator
from gde_plugins.planning_agents.config import LookaheadConfig
from gde_plugins.planning_agents.effort import Effort
from gde_plugins.planning_agents.judging import Judge, Step
from gde_plugins.planning_agents.react import decision
from gde_plugins.planning_agents.worlds import world_model

UNLISTED = "the environment lists no actions to try"


class Lookahead:
    """Tries plans in the simulator and follows the one with the best end."""

    def __init__(self, config: LookaheadConfig, context: Context) -> None:
        self._config = config
        self._reward = context.reward_model(config.reward)

    def begin(self, brief: Brief) -> None:
        self._world = world_model("simulator", None, brief)
        self._judge = Judge(self._reward, self._world.begun, shown="path")
        self._rng = generator(brief.seed, "lookahead")
        self._plan: deque[str] = deque()

    async def act(self, observation: Observation) -> Decision:
        effort = Effort()
        here = await self._world.look(observation)
        # A world with dice may not go on as the simulator did.
        if not self._plan or self._plan[0] not in (observation.actions or ()):
            self._plan = deque(await self._best(here, effort))
        decided = decision(Reading(action=self._plan.popleft()), effort)
        self._judge.taken(here, decided)
        return decided

    async def _best(self, here: Situation, effort: Effort) -> list[str]:
        """Return the actions of the best plan, of equals the first in a random order.

        Raises:
            GdeError: there is nothing to try, or the reward model judged no end.
        """
        best: list[str] = []
        most: float | None = None
        for first in self._firsts(here):
            path, end = await self._tried(here, first, effort)
            value = await self._judge.value(end, path, effort)
            if value is not None and (most is None or value > most):
                most = value
                best = [action for _, action in path]
        if most is None:
            raise GdeError(
                f"reward model {self._config.reward!r} judged no plan: {self._judge.reason}"
            )
        return best

    def _firsts(self, here: Situation) -> Iterator[str]:
        """Yield the first action of each plan."""
        actions = self._actions(here)
        if not self._config.plans:
            yield from self._rng.permutation(actions).tolist()
        for _ in range(self._config.plans):
            yield str(self._rng.choice(actions))

    async def _tried(
        self, here: Situation, first: str, effort: Effort
    ) -> tuple[list[Step], Situation]:
        """Take a first action and random ones after it; return the path and its end."""
        path: list[Step] = [(here, first)]
        end = await self._world.step(here, first, effort)
        while len(path) < self._config.depth and not end.over:
            action = str(self._rng.choice(self._actions(end)))
            path.append((end, action))
            end = await self._world.step(end, action, effort)
        return path, end

    def _actions(self, situation: Situation) -> tuple[str, ...]:
        if not situation.observation.actions:
            raise GdeError(UNLISTED)
        return situation.observation.actions
