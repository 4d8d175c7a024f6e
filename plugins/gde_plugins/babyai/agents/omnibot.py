"""OmniBot as an agent, perhaps with noise."""

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Brief
from gde.seeding import derive
from gde_plugins.babyai.config import OmniBotConfig
from gde_plugins.babyai.environment import BabyAIEnvironment
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.worlds.scene import ACTIONS

IDLE = "left"
"""Action when nothing is left to do."""


class OmniBotAgent:
    """Asks the bot, which sees the world itself and not its description."""

    def __init__(self, config: OmniBotConfig) -> None:
        self._config = config

    def begin(self, brief: Brief) -> None:
        self._seed = brief.seed
        self._turn = 0
        self._world = brief.environment
        if isinstance(self._world, BabyAIEnvironment):
            self._bot = OmniBot(self._world.now)

    async def act(self, _observation: Observation) -> Decision:
        if not isinstance(self._world, BabyAIEnvironment):
            return Decision.unusable(
                "error", "OmniBot acts only in the environment babyai"
            )
        self._turn += 1
        if derive(self._seed, "noise", self._turn) < self._config.noise * 2**63:
            return Decision.act(
                ACTIONS[derive(self._seed, "action", self._turn) % len(ACTIONS)]
            )
        return Decision.act(self._bot.suggest(self._world.now) or IDLE)
