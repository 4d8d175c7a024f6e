"""Options of the planning agents."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Interval, MinLen

from gde.data.completion import Effort, History
from gde.data.ranges import Count, Index, PositiveShare, Temperature
from gde.offers import GeneralModelName, ModelName, RewardName

World = Literal["simulator", "model"]


@dataclass(frozen=True, kw_only=True)
class ReactConfig:
    """Prompts and sampling of the language model."""

    model: Annotated[GeneralModelName, MinLen(1)] = "nano"
    """The language model: hf:PATH_OR_ID or openai:MODEL@URL."""
    retries: Index = 2
    """Maximum number of retries per turn after an unusable answer; each names the error."""
    history: History = 10
    """Number of earlier turns in the prompt, or all."""
    example: bool = False
    """Start with a solved example of another world, for weaker models."""
    rest: Literal["refused", "dropped"] = "refused"
    """Treatment of text after the actions of an answer: refused as malformed, or
    dropped, as by a stop string.
    """
    strict: bool = False
    """Accept an answer of exactly the form asked for only; false also reads actions that
    are stated otherwise, and notes the rule.
    """
    temperature: Temperature = 0.7
    """Sampling temperature; 0 takes the likeliest token."""
    top_p: PositiveShare = 0.95
    """Nucleus sampling: probability mass of the sampled tokens."""
    max_tokens: Count = 1024
    """Maximum number of tokens of a completion, reasoning included."""
    effort: Effort = "low"
    """Reasoning effort."""


@dataclass(frozen=True, kw_only=True)
class ReactRewardConfig(ReactConfig):
    """Proposal, simulation and choice of candidate actions."""

    reward: RewardName = "statefactory"
    """The reward model that judges candidates: one of the run, or any with defaults."""
    candidates: Count = 5
    """Maximum number of actions that the language model proposes per turn."""
    world: World = "simulator"
    """World model: a private copy of the world, or predictions of the language
    model.
    """
    choose: Literal["model", "reward"] = "model"
    """Decision: by the language model, given the predicted rewards, or by the largest
    reward.
    """
    shown: Literal["path", "state"] = "path"
    """History for the reward model: every turn, for models that remember what they saw,
    or the first turn only, so that a state has one reward in an episode.
    """


@dataclass(frozen=True, kw_only=True)
class MctsConfig(ReactConfig):
    """Options of the tree search."""

    model: ModelName = ""
    """Language model of prior and world model; empty if neither needs one."""
    reward: RewardName = "statefactory"
    """The reward model that values states: one of the run, or any with defaults."""
    budget: Index = 64
    """Simulations per turn, each with at most one new step in the world model; with 0
    the agent acts by its prior.
    """
    guide: Literal["values", "prior"] = "values"
    """Guide of the search: values and prior, as in UCT, or the prior only, as a
    baseline.
    """
    prior: Literal["uniform", "model"] = "uniform"
    """Prior at the root: uniform, or the ranking of the language model. Deeper nodes
    have a uniform prior.
    """
    world: World = "simulator"
    """World model: a private copy of the world, or predictions of the language model,
    one step deep.
    """
    candidates: Count = 5
    """Maximum number of actions that the language model proposes."""
    exploration: Annotated[float, Ge(0)] = 1.4
    """Weight of rarely tried actions, relative to values scaled from 0 to 1."""
    discount: Annotated[float, Gt(0), Interval(le=1)] = 0.9
    """Discount factor per step."""
    shown: Literal["path", "state"] = "path"
    """History for the reward model: every turn, for models that remember what they saw,
    or the first turn only, so that a state has one reward in an episode.
    """

    def __post_init__(self) -> None:
        if not self.model and "model" in (self.prior, self.world):
            raise ValueError(
                "a language model in agent.model, because agent.prior or agent.world is model, got none"
            )


@dataclass(frozen=True, kw_only=True)
class LookaheadConfig:
    """Which plans are tried before a decision."""

    reward: RewardName = "statefactory"
    """The reward model that values the ends of plans: one of the run, or any with
    defaults.
    """
    plans: Index = 0
    """Number of random plans, of which the best is followed; 0: every action by itself."""
    depth: Count = 1
    """Steps of a random plan."""

    def __post_init__(self) -> None:
        if self.depth > 1 and not self.plans:
            raise ValueError(
                f"random plans in agent.plans, because agent.depth is {self.depth}, got none"
            )
