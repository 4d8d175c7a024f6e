"""Settings of the BabyAI worlds, the questions about them and their agents."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval, MinLen

from gde.offers import ModelName
from gde_plugins.babyai.worlds.levels import Level, Release

Format = Literal["structured", "narrative", "json"]
Seeds = tuple[Annotated[int, Ge(0)], ...]


@dataclass(frozen=True, kw_only=True)
class WorldConfig:
    """Which worlds, and how they are described."""

    level: Level = "GoToLocal"
    """A BabyAI level without prefix and version, e.g. GoToLocal, BossLevel or
    CustomBabyAI-GoToRedBall-Small-4Dists; docs/babyai.md lists them.
    """
    seeds: Seeds = ()
    """Seeds of the worlds to use, e.g. 2,3,5; none: every seed of the run makes another
    world.
    """
    release: Release = "3.0"
    """The release of minigrid whose worlds are made: 3.0 as in Choukrani et al. (2025),
    or 3.2; a few worlds of the levels with a locked room differ.
    """
    format: Format = "structured"
    """How a world is described: as a list, in sentences or as JSON (Choukrani et al.
    2025, section 4.2).
    """
    details: bool = False
    """Whether descriptions say if a door is open and what is carried, which those of
    Choukrani et al. (2025) do not.
    """


@dataclass(frozen=True, kw_only=True)
class BabyAIConfig(WorldConfig):
    """Worlds that are acted in step by step."""

    details: bool = True
    """Whether descriptions say if a door is open and what is carried, which those of
    Choukrani et al. (2025) do not.
    """
    view: Literal["full", "partial"] = "full"
    """Whether everything is described, or the 7 x 7 cells ahead that minigrid shows."""
    horizon: Annotated[int, Ge(0)] = 0
    """Turns allowed; 0: as many as the level does."""
    search: Annotated[int, Ge(0)] = 2000
    """States that the search for optimal actions may look at in a turn; where they do
    not suffice, none are certified. 0: no search.
    """


@dataclass(frozen=True, kw_only=True)
class PlanConfig(WorldConfig):
    """Worlds to plan in."""

    level: Level = "CustomBabyAI-GoToRedBall-Small-4Dists"
    """A world of the Plan task (Choukrani et al. 2025, appendix B.2), or any other
    level: the question is how to get to what its mission wants first.
    """


@dataclass(frozen=True, kw_only=True)
class OmniBotConfig:
    """How the bot is weakened."""

    noise: Annotated[float, Interval(ge=0, le=1)] = 0.0
    """Probability of a random action in the place of the bot's own, in each turn."""
    sight: Annotated[int, Ge(0)] = 0
    """Cells up to which it takes things in its way into account; farther ones it walks
    up to first. 0: all.
    """
    forgets: Annotated[int, Ge(0)] = 0
    """Which of its first subgoals it forgets, counted from 1; 0: none."""


@dataclass(frozen=True, kw_only=True)
class PrompterConfig:
    """How a language model is asked."""

    model: Annotated[ModelName, MinLen(1)] = "nano"
    """The language model: nano, hf:PATH_OR_ID or openai:BASE_URL."""
    prompting: Literal["zero_shot", "few_shot", "cot", "tot"] = "tot"
    """Without more, with 3 solved questions of other worlds, with a chain of thought,
    or with a tree of thoughts (Choukrani et al. 2025, section 5.1).
    """
    temperature: Annotated[float, Interval(ge=0, le=2)] = 1.0
    """0 takes the likeliest token."""
    top_p: Annotated[float, Interval(gt=0, le=1)] = 1.0
    """Mass of the likeliest tokens that are drawn from."""
    max_tokens: Annotated[int, Ge(1)] = 8192
    """Longest completion, reasoning included."""


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """The study of Choukrani et al. (2025)."""

    release: Release = "3.0"
    """The release of minigrid whose worlds are made."""


@dataclass(frozen=True, kw_only=True)
class ScriptedConfig:
    """How questions are answered."""

    how: Literal["perfect", "position", "forward", "garbage"] = "perfect"
    """With the solution; to Predict with the right position and the opposite direction;
    always forward, with a fixed state and a list that does nothing; with no answer at
    all.
    """
