"""What of the planning agents can be chosen."""

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
    """How often in a turn an answer that cannot be used is told so and asked for
    again.
    """
    history: Annotated[int, Ge(0)] = 10
    """Earlier turns that are shown."""
    example: bool = False
    """Whether an answered task of another world comes before all, for models that do
    not see the form by its rules.
    """
    rest: Literal["refused", "dropped"] = "refused"
    """What becomes of an answer that goes on after its actions. dropped: it is read up
    to there, as one is that a stop string ends.
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
    """The reward model that candidates are judged by: one of the run, or as it is
    offered.
    """
    candidates: Annotated[int, Ge(1)] = 5
    """Actions that the language model proposes in a turn, at most."""
    world: World = "simulator"
    """Where they are tried: in a private copy of the world, or in the imagination of
    the language model.
    """
    choose: Literal["model", "reward"] = "model"
    """Who decides: the language model, which is told the predicted rewards, or the
    largest of them.
    """
    shown: Literal["state", "path"] = "state"
    """What the reward model sees of what led to a state: the first turn alone, so that
    a state has one reward in an episode, or every turn.
    """


@dataclass(frozen=True, kw_only=True)
class MctsConfig(ReactConfig):
    """How the tree grows."""

    model: ModelName = ""
    """The language model of prior and imagined world; none where neither is asked
    for.
    """
    reward: RewardName = "statefactory"
    """The reward model that values states: one of the run, or as it is offered."""
    budget: Annotated[int, Ge(0)] = 64
    """Simulations a turn, each of at most one new step in the world model; with 0 the
    agent acts by its prior.
    """
    guide: Literal["values", "prior"] = "values"
    """What the steps are spent by: values and prior, as in UCT, or the prior alone,
    which is what the search must be better than.
    """
    prior: Literal["uniform", "model"] = "uniform"
    """Which actions are thought likely at the root: all alike, or those that the
    language model proposes. Further down all are alike.
    """
    world: World = "simulator"
    """What is searched: a private copy of the world, or the imagination of the language
    model, one step deep.
    """
    candidates: Annotated[int, Ge(1)] = 5
    """Actions that the language model proposes, at most."""
    exploration: Annotated[float, Ge(0)] = 1.4
    """Weight of what has been tried little; values are between 0 and 1 for it."""
    discount: Annotated[float, Gt(0), Interval(le=1)] = 0.9
    """What a gain is worth a step later."""
    shown: Literal["state", "path"] = "state"
    """What the reward model sees of what led to a state: the first turn alone, so that
    a state has one reward in an episode, or every turn.
    """

    def __post_init__(self) -> None:
        if not self.model and "model" in (self.prior, self.world):
            raise ValueError(
                "the language model to ask as agent.model, where prior or world is model, got none"
            )
