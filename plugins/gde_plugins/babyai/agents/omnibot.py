"""OmniBot as an agent, as able as one likes."""

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Brief
from gde.seeding import derive
from gde_plugins.babyai.config import OmniBotConfig
from gde_plugins.babyai.environment import BabyAIEnvironment
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.subgoals import of_mission
from gde_plugins.babyai.worlds.scene import ACTIONS

IDLE = "left"
"""What it does when it has nothing left to do."""


class OmniBotAgent:
    """Asks the bot, which sees the world itself and not its description."""

    def __init__(self, config: OmniBotConfig) -> None:
        self._config = config

    def begin(self, brief: Brief) -> None:
        self._seed = brief.seed
        self._turn = 0
        world = brief.environment
        self._world = world if isinstance(world, BabyAIEnvironment) else None
        self._bot = self._made() if self._world else None

    async def act(self, _observation: Observation) -> Decision:
        if self._world is None or self._bot is None:
            return Decision.unusable(
                "error", "OmniBot acts in the environment babyai and in no other"
            )
        self._turn += 1
        if derive(self._seed, "noise", self._turn) < self._config.noise * 2**63:
            return Decision.act(
                ACTIONS[derive(self._seed, "action", self._turn) % len(ACTIONS)]
            )
        return Decision.act(self._bot.suggest(self._world.now) or IDLE)

    def _made(self) -> OmniBot:
        assert self._world is not None
        now = self._world.now
        forgets = self._config.forgets
        if not forgets:
            return OmniBot(now, sight=self._config.sight)
        plan = [*reversed(of_mission(now.scene.mission, now.done))]
        kept = [
            subgoal for place, subgoal in enumerate(plan, start=1) if place != forgets
        ]
        return OmniBot(now, kept, sight=self._config.sight)
