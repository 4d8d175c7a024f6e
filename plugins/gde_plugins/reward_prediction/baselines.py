"""Who takes part in the study: reward models by the names of their printed rows, and planning agents."""

from collections.abc import Mapping, Sequence

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.domains import Domain

BASELINES = ("monotonic", "clock", "goal-words", "goal-clock", "unrepeated", "constant", "random", "oracle")
REACT, REACT_REWARD = "react", "react-reward"
ASKING = (REACT, REACT_REWARD)
"""The agents of table 2, which ask a language model."""
AGENTS = (*ASKING, "mcts", "random")
"""They, a search that asks none, and what all have to be better than."""
AS_IN_TABLE_1 = ("level-4", "goal-online", "embedder-words", "effort-medium")
"""Rows of the ablations that are StateFactory as it stands, which is not asked again."""
PLANNED = ("alfworld", "scienceworld", "blocksworld")
"""The domains of table 2."""


def rivals(config: StudyConfig) -> list[Choice]:
    """Table 1: baselines, StateFactory, and the judges where there is a language model to ask."""
    named = [Choice(name=each) for each in config.rewards.split("+") if each]
    taken = {each.label for each in named}
    own = [*(Choice(name=each) for each in BASELINES), _factory("statefactory", config)]
    if config.model:
        own += [
            _judge("judge", config, effort="low"),
            _judge("judge-medium", config, effort="medium"),
            _judge("judge-brief", config, thinking=False),
            _judge("judge-thinking", config, thinking=True),
            _judge("judge-memory", config, memory=True),
        ]
    return [*(each for each in own if each.label not in taken), *named]


def ablations(config: StudyConfig) -> list[Choice]:
    """The ablation tables, by rules where there is no language model to ask; those of `AS_IN_TABLE_1` left out."""
    found = [
        *(_factory(f"level-{level}", config, level=level) for level in (1, 2, 3)),
        _factory("goal-oracle", config, goal="oracle"),
        *(
            _factory(f"embedder-{each.rstrip('/').rpartition('/')[2]}", config, embedder=each)
            for each in config.embedders.split("+")
            if each
        ),
    ]
    if config.model:
        found.append(_factory("effort-low", config, effort="low"))
    return found


def planning(config: StudyConfig, domains: Sequence[Domain], share: float, named: Choice) -> Mapping[str, Plan]:
    """Table 2: an agent that reasons, and one that is shown rewards of its candidates as well, where there is a
    language model to ask; and those that need none.

    Args:
        config: which model.
        domains: those that can be had.
        share: of the published number of tasks.
        named: what the user wants of one of them; what is said of react holds for react-reward as well.
    """
    can_ask = config.model or (named.name in ASKING and named.config.get("model"))
    return {
        f"{agent}-{domain.name}": Plan(
            environment=Choice(name=domain.name),
            agent=Choice(name=agent, config=_settings(agent, config, named)),
            metrics=("success",),  # type: ignore[arg-type]
            episodes=domain.tasks(share),
            concurrency=4,
        )
        for agent in AGENTS[0 if can_ask else len(ASKING) :]
        for domain in domains
        if domain.name in PLANNED
    }


def _settings(agent: str, config: StudyConfig, named: Choice) -> dict[str, Json]:
    model: dict[str, Json] = {"model": config.model} if config.model and agent in ASKING else {}
    said = named.name == agent or (named.name == REACT and agent == REACT_REWARD)
    return {**model, **(named.config if said else {})}


def _factory(label: str, config: StudyConfig, **settings: Json) -> Choice:
    model = {"model": config.model} if config.model else {}
    return Choice(name="statefactory", alias="" if label == "statefactory" else label, config={**model, **settings})


def _judge(label: str, config: StudyConfig, **settings: Json) -> Choice:
    return Choice(name="judge", alias="" if label == "judge" else label, config={"model": config.model, **settings})
