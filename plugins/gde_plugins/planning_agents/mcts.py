"""Monte Carlo tree search over a world model, with a reward model for values.

See Shen et al. (2026), appendix C.6.3.
"""

from collections.abc import Mapping

from gde.data.answer import Reading
from gde.data.completion import Completion
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde.parts.simulator import Situation
from gde.seeding import generator
from gde_plugins.planning_agents.answers import Rejected
from gde_plugins.planning_agents.asking import Asker
from gde_plugins.planning_agents.config import MctsConfig
from gde_plugins.planning_agents.conversation import Conversation
from gde_plugins.planning_agents.effort import Effort
from gde_plugins.planning_agents.judging import Judge
from gde_plugins.planning_agents.priors import proposed, ranked, uniform
from gde_plugins.planning_agents.react import decision
from gde_plugins.planning_agents.tree import Node, Search
from gde_plugins.planning_agents.worlds import world_model

UNLISTED = "the environment lists no actions: set agent.prior=model and a language model in agent.model"


class Mcts:
    """Plans anew in every turn, from the current state.

    Each action is simulated once in a plan.
    """

    def __init__(self, config: MctsConfig, context: Context) -> None:
        self._config = config
        # Without one the prior is uniform and the world model a simulator.
        self._model = context.model(config.model) if config.model else None
        self._reward = context.reward_model(config.reward)

    def begin(self, brief: Brief) -> None:
        config = self._config
        self._asker = Asker(self._model, config, brief.seed) if self._model else None
        self._conversation = Conversation(
            brief.task, config.history, example=config.example
        )
        self._world = world_model(config.world, self._asker, brief)
        self._judge = Judge(self._reward, self._world.begun, config.shown)
        self._search = Search(
            config.exploration, config.guide, generator(brief.seed, "search")
        )

    async def act(self, observation: Observation) -> Decision:
        effort = Effort()
        here = await self._world.look(observation)
        found: Reading | Rejected
        prior, completion = await self._prior(observation, effort)
        if isinstance(prior, Rejected):
            found = prior
        else:
            action = await self._searched(here, prior, effort)
            found = Reading(action=action)
            self._conversation.remember(
                observation, f"Thought: The plan says so.\nAction: {action}"
            )
            self._world.taken(observation, action)
        decided = decision(found, effort, completion)
        self._judge.taken(here, decided)
        return decided

    async def _prior(
        self, observation: Observation, effort: Effort
    ) -> tuple[Mapping[str, float] | Rejected, Completion | None]:
        actions = observation.actions
        found: tuple[str, ...] | Rejected = Rejected("error", UNLISTED, UNLISTED)
        completion = None
        if self._config.prior == "model" and self._asker:
            found, completion = await proposed(
                self._asker,
                self._conversation,
                self._config.candidates,
                observation,
                effort,
                strict=self._config.strict,
            )
        if not isinstance(found, Rejected):
            return ranked(found, actions), completion
        # Where no answer can be used, the listed actions are alike.
        return uniform(actions) if actions else found, completion

    async def _searched(
        self, here: Situation, prior: Mapping[str, float], effort: Effort
    ) -> str:
        """Return the action that the search chooses.

        Raises:
            GdeError: the reward model judged nothing of what was tried.
        """
        root = Node(situation=here)
        root.grow(prior)
        if self._config.budget:
            root.value = await self._judge.value(here, (), effort) or 0.0
        judged = False
        for _ in range(self._config.budget):
            judged = await self._simulate(root, effort) or judged
        if self._config.budget and not judged:
            raise GdeError(
                f"reward model {self._config.reward!r} judged no state: {self._judge.reason}"
            )
        return self._search.decide(root)

    async def _simulate(self, root: Node, effort: Effort) -> bool:
        """Make one more visit; return whether it found a state with a reward."""
        node = self._search.descend(root)
        judged = False
        parent = node.parent
        if node.situation is None and parent and parent.situation:
            node.situation = await self._world.step(
                parent.situation, node.action, effort
            )
            node.grow(uniform(node.situation.observation.actions or ()))
            value = await self._judge.value(node.situation, node.path(), effort)
            judged = value is not None
            # Where there is no reward, nothing is known to be gained.
            node.value = parent.value if value is None else value
        node.back_up(self._config.discount)
        return judged
