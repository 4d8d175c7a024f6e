"""Baselines that answer questions without reading the world."""

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import ConfigError
from gde.parts.agent import Brief
from gde_plugins.babyai.config import BlindConfig
from gde_plugins.babyai.tasks.blind import blind_answers
from gde_plugins.babyai.tasks.environment import QuestionEnvironment


class BlindAnswerer:
    """Gives the answer of one baseline."""

    def __init__(self, config: BlindConfig) -> None:
        self._how = config.how

    def begin(self, brief: Brief) -> None:
        self._world = brief.environment

    async def act(self, _observation: Observation) -> Decision:
        if not isinstance(self._world, QuestionEnvironment):
            return Decision.unusable(
                "error", "the blind baselines answer only questions about BabyAI worlds"
            )
        answers = blind_answers(self._world.question)
        how, *_ = [self._how] if self._how else [*answers]
        if how not in answers:
            raise ConfigError(
                f"agent.how={how}: this task has {', '.join(answers)}; set one of them"
            )
        return Decision.act(answers[how])
