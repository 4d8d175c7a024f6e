"""Settings of the BabyAI worlds, the questions about them and their agents."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen

from gde.data.completion import Effort
from gde.data.ranges import Count, Index, PositiveShare, Share, Temperature
from gde.offers import FilePath, ModelName
from gde_plugins.babyai.worlds.levels import Level, Release

Format = Literal["structured", "narrative", "json"]
Seeds = tuple[Index, ...]


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """Choice and description of worlds."""

    level: Level = "GoToLocal"
    """A BabyAI level without prefix and version, e.g. GoToLocal, BossLevel or
    CustomBabyAI-GoToRedBall-Small-4Dists.
    """
    seeds: Seeds = ()
    """Seeds of the worlds to use, e.g. 2,3,5; none for another world per seed of the
    run.
    """
    release: Release = "3.0"
    """Release of minigrid whose worlds are generated: 3.0, as in Choukrani et al.
    (2025), or 3.2; a few worlds of the levels with a locked room differ.
    """
    format: Format = "structured"
    """Form of descriptions: a list, sentences or JSON (Choukrani et al. 2025, section
    4.2).
    """
    details: bool = False
    """Describe the state of doors and the carried object, which Choukrani et al. (2025)
    leave out.
    """


@dataclass(frozen=True, kw_only=True)
class BabyAIConfig(WorldConfig):
    """Worlds for acting step by step."""

    details: bool = True
    """Describe the state of doors and the carried object, which Choukrani et al. (2025)
    leave out.
    """
    view: Literal["full", "partial"] = "full"
    """Described cells: all, or the 7 x 7 cells ahead that minigrid shows."""
    horizon: Index = 0
    """Maximum number of turns of an episode; 0: the level's own limit."""
    search: Index = 15
    """Maximum number of states that the search for optimal actions expands, per turn of
    the episode in the mean. Where it does not suffice, the optimum has certified
    bounds. 0: no search.
    """


@dataclass(frozen=True, kw_only=True)
class QuestionConfig(WorldConfig):
    """Worlds of questions."""

    dataset: FilePath | None = None
    """A CSV file in the published columns, e.g. a published dataset: its descriptions,
    actions and targets are used as they stand. Level, seeds and format then play no
    part.
    """
    grounded: bool = False
    """Ask in pairs of worlds that differ in one thing, which changes the answer: a
    thing in the way, the state of a door, a missing key or a wall. Texts then describe
    the state of doors; without seeds, the published ones are used.
    """


@dataclass(frozen=True, kw_only=True)
class PlanConfig(QuestionConfig):
    """Worlds of the Plan questions."""

    level: Level = "CustomBabyAI-GoToRedBall-Small-4Dists"
    """A level of the Plan task (Choukrani et al. 2025, appendix B.2), or any other
    level: the question asks for a path to the first object of its mission.
    """


@dataclass(frozen=True, kw_only=True)
class OmniBotConfig:
    """The handicap of the bot."""

    noise: Share = 0.0
    """Probability of a random action instead of the bot's own, in each turn."""


@dataclass(frozen=True, kw_only=True)
class PrompterConfig:
    """Prompts and sampling of a language model."""

    model: Annotated[ModelName, MinLen(1)] = "nano"
    """The language model: nano, hf:PATH_OR_ID or openai:MODEL@URL."""
    prompting: Literal["zero_shot", "few_shot", "cot", "tot"] = "tot"
    """The question only, with 3 solved questions of other worlds, with a chain of
    thought, or with a tree of thoughts (Choukrani et al. 2025, section 5.1).
    """
    actions: Literal["text", "json"] = "text"
    """Form of an answer: as the question asks, or that as a text in a JSON object."""
    temperature: Temperature = 1.0
    """Sampling temperature; 0 takes the likeliest token."""
    top_p: PositiveShare = 1.0
    """Nucleus sampling: probability mass of the sampled tokens."""
    effort: Effort | None = None
    """Reasoning effort to ask for; none is sent by default, as in the released clients."""
    max_tokens: Count = 8192
    """Maximum number of tokens of a completion, reasoning included."""


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """Options of the study of Choukrani et al. (2025)."""

    protocol: Literal["lenient", "published"] = "lenient"
    """Reading of answers in the tables: lenient, with unusable answers as 0; or as the
    published harness, which takes the first marker and leaves unusable answers out.
    """
    agents: tuple[str, ...] = ("babyai-blind",)
    """Other agents that answer the three tasks, a column each."""
    models: tuple[ModelName, ...] = ()
    """Other language models that the same agent asks, a column each."""


@dataclass(frozen=True, kw_only=True)
class BlindConfig:
    """Choice of a baseline that does not read the world."""

    how: Literal["", "counter", "random_walk", "list_all", "translate"] = ""
    """counter: count turns and steps as if nothing were in the way (Predict, Plan);
    random_walk (Plan); list_all: every thing, with all that can be done to it;
    translate: the mission alone (Decompose). Empty: the first of these that the task
    has.
    """
