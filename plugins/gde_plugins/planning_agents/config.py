"""Options of the planning agents."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from gde.data.completion import Effort
from gde.offers import ModelName, RewardName

World = Literal["simulator", "model"]
Share = Annotated[float, Interval(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class ReactConfig:
    """How the language model is asked."""

    model: Annotated[ModelName, MinLen(1)] = "nano"
    """The language model: nano, hf:PATH_OR_ID or openai:BASE_URL."""
    retries: Annotated[int, Ge(0)] = 2
    """Most retries in a turn after an unusable answer; each says what was wrong."""
    history: Annotated[int, Ge(0)] = 10
    """Earlier turns that are shown."""
    example: bool = False
    """Whether a solved example of another world comes first, for weaker models."""
    rest: Literal["refused", "dropped"] = "refused"
    """How text after the actions of an answer is treated: refused as malformed, or
    dropped, as by a stop string.
    """
    temperature: Annotated[float, Interval(ge=0, le=2)] = 0.7
    """0 takes the likeliest token."""
    top_p: Annotated[float, Interval(gt=0, le=1)] = 0.95
    """Mass of the likeliest tokens that are drawn from."""
    max_tokens: Annotated[int, Ge(1)] = 1024
    """Longest completion, reasoning included."""
    effort: Effort = "low"
    """How long the model is asked to reason."""


@dataclass(frozen=True, kw_only=True)
class ReactRewardConfig(ReactConfig):
    """How candidates are proposed, tried and chosen from."""

    reward: RewardName = "statefactory"
    """The reward model that judges candidates: one of the run, or any with defaults."""
    candidates: Annotated[int, Ge(1)] = 5
    """Most actions that the language model proposes in a turn."""
    world: World = "simulator"
    """World model: a private copy of the world, or predictions of the language
    model.
    """
    choose: Literal["model", "reward"] = "model"
    """Decision by the language model, given the predicted rewards, or by the largest
    reward.
    """
    shown: Literal["state", "path"] = "state"
    """History that the reward model sees: the first turn alone, so that a state has one
    reward in an episode, or every turn.
    """


@dataclass(frozen=True, kw_only=True)
class MctsConfig(ReactConfig):
    """How the tree grows."""

    model: ModelName = ""
    """The language model of prior and world model; none where neither needs one."""
    reward: RewardName = "statefactory"
    """The reward model that values states: one of the run, or any with defaults."""
    budget: Annotated[int, Ge(0)] = 64
    """Simulations a turn, each of at most one new step in the world model; with 0 the
    agent acts by its prior.
    """
    guide: Literal["values", "prior"] = "values"
    """Guide of the search: values and prior, as in UCT, or the prior alone, the
    baseline.
    """
    prior: Literal["uniform", "model"] = "uniform"
    """Prior at the root: uniform, or the ranking of the language model. Further down it
    is uniform.
    """
    world: World = "simulator"
    """World model: a private copy of the world, or predictions of the language model,
    one step deep.
    """
    candidates: Annotated[int, Ge(1)] = 5
    """Most actions that the language model proposes."""
    exploration: Annotated[float, Ge(0)] = 1.4
    """Weight of rarely tried actions, against values scaled to 0 to 1."""
    discount: Annotated[float, Gt(0), Interval(le=1)] = 0.9
    """Discount factor of a gain, per step."""
    shown: Literal["state", "path"] = "state"
    """History that the reward model sees: the first turn alone, so that a state has one
    reward in an episode, or every turn.
    """

    def __post_init__(self) -> None:
        if not self.model and "model" in (self.prior, self.world):
            raise ValueError(
                "the language model to ask as agent.model, where prior or world is model, got none"
            )
