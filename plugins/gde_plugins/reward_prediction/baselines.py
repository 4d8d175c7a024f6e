"""The reward models that the study compares, by the names of their printed rows."""

from collections.abc import Mapping

from gde.data.json import Json
from gde.data.plan import Choice
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.embedders import row_of

READING_NOTHING = (
    "monotonic",
    "clock",
    "goal-words",
    "goal-clock",
    "goal-unrepeated",
    "goal-mentions-unrepeated",
    "unrepeated",
    "constant",
    "random",
)
"""Baselines that read no observation."""
PUBLISHED: Mapping[str, Json] = {"embedder": "minilm", "decimals": 2}
"""Settings of StateFactory in the publication, by a language model."""


def baselines(config: StudyConfig) -> list[Choice]:
    """Table 1: the baselines, StateFactory, and with a language model the judges."""
    own = [Choice(name=name) for name in (*READING_NOTHING, "oracle")]
    own.append(_state_factory("statefactory", config))
    if config.model:
        own += [
            Choice(name="statefactory", alias="rules"),
            _judge("judge", config, effort="low"),
            _judge("judge-medium", config, effort="medium"),
            _judge("judge-brief", config, thinking=False),
            _judge("judge-thinking", config, thinking=True),
            _judge("judge-memory", config, memory=True),
        ]
    return own


def as_in_table_1(config: StudyConfig) -> tuple[str, ...]:
    """The rows of the ablations that are StateFactory as in table 1."""
    if config.model:
        return "level-4", "goal-online", "embedder-minilm", "effort-medium"
    return "level-4", "goal-online", "embedder-words"


def ablations(config: StudyConfig) -> list[Choice]:
    """The ablation tables less `as_in_table_1`, by rules where there is no language
    model to ask.
    """
    found = [
        _state_factory(f"level-{level}", config, level=level) for level in (1, 2, 3)
    ]
    found.append(_state_factory("goal-oracle", config, goal="oracle"))
    taken = {*as_in_table_1(config)}
    for embedder in listed(config.embedders):
        label = f"embedder-{row_of(embedder)}"
        if label not in taken:
            found.append(_state_factory(label, config, embedder=embedder))
        taken.add(label)
    if config.model:
        found.append(_state_factory("effort-low", config, effort="low"))
    return found


def listed(names: str) -> list[str]:
    """The names of a setting such as "minilm+words"."""
    return [name for name in names.split("+") if name]


def _state_factory(label: str, config: StudyConfig, **settings: Json) -> Choice:
    if config.model:
        settings = {"model": config.model, **PUBLISHED, **settings}
    return Choice(
        name="statefactory",
        alias="" if label == "statefactory" else label,
        config=settings,
    )


def _judge(label: str, config: StudyConfig, **settings: Json) -> Choice:
    return Choice(
        name="judge",
        alias="" if label == "judge" else label,
        config={"model": config.model, **settings},
    )
