"""The forms in which a caller may give a part of his own."""

import inspect
from typing import Any

from gde.data.evidence import Evidence
from gde.errors import GdeError
from gde.numerics.episode_metric import EpisodeMetric
from gde.numerics.numbers import Mean
from gde.parts.agent import FunctionAgent, HasActionProbabilities, PolicyAgent
from gde.parts.reward_model import StepReward, TranscriptReward

METHODS = {
    "environment": ("reset", "step", "task", "world", "close"),
    "agent": ("act", "predict"),
    "language_model": ("complete", "info", "close"),
    "probe": ("capture", "labels", "fit", "load", "score"),
    "reward_model": ("rewards",),
    "executor": ("map",),
    "reporter": ("render",),
}
"""The methods, any of which tells a part of a kind from a function that makes one."""
COMPLETE = {"environment", "language_model", "probe"}
"""The kinds whose parts need all of these methods."""
OF_ONE = {"agent", "metric"}
"""The kinds of which any function of one argument is a part."""
OF_REWARD = ({"goal", "observation", "action"}, {"transcript"}, {"trajectory"})
"""The names of the arguments of functions that are reward models."""
WANTED = {
    "environment": "an object with reset(), step(), task(), world() and close(), or from_gymnasium(ENV)",
    "agent": "a function of the observation, an object with act() or predict()",
    "language_model": "an object with complete(), info and close(), or in_memory(NAME, MODEL, TOKENIZER)",
    "probe": "an object with capture(), labels(), fit(), load() and score()",
    "reward_model": "reward(goal, observation, action), reward(transcript), an object with rewards()",
    "metric": "a function of an episode or of the evidence",
    "executor": "an object with map()",
    "reporter": "an object with render()",
}
"""What a part of a kind is, for messages."""


def needed(function: Any) -> list[inspect.Parameter]:
    """The arguments that a call needs."""
    try:
        parameters = inspect.signature(function).parameters.values()
    # Some built-in classes do not tell.
    except ValueError:
        return []

    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in optional
    ]


def is_part(kind: str, value: Any) -> bool:
    """Whether a value is a part of a kind, not what makes one."""
    if isinstance(value, type):
        return False
    if any(hasattr(value, method) for method in METHODS.get(kind, ())):
        return True
    if not callable(value):
        return False
    names = {each.name for each in needed(value)}
    if kind == "reward_model":
        return names in OF_REWARD
    return kind in OF_ONE and len(names) == 1


def as_part(kind: str, given: Any, name: str) -> Any:
    """A part in the full form of its kind, from one in any form.

    Args:
        kind: of the part.
        given: for which `is_part` holds.
        name: of the part in the run.
    """
    if kind == "agent":
        return _agent(given)
    if kind == "reward_model":
        function = getattr(given, "rewards", given)
        of_step = len(needed(function)) > 1
        return StepReward(function) if of_step else TranscriptReward(function)
    if kind == "metric" and not _takes_evidence(given):
        nothing = f"{name} gave None for every episode: wanted a number"
        return EpisodeMetric(
            columns=("value",),
            facts=lambda episode, _: {"value": _number(given(episode))},
            numbers=(Mean(name, "value", share=False, reason=nothing),),
        )
    return given


def _agent(given: Any) -> Any:
    if isinstance(given, FunctionAgent | HasActionProbabilities):
        return given
    if is_policy(given):
        return PolicyAgent(given)
    if hasattr(given, "act"):
        return FunctionAgent(given.act, getattr(given, "begin", None))
    return FunctionAgent(given)


def is_policy(given: Any) -> bool:
    """Whether an agent is the policy of a library, which keeps nothing between turns."""
    return hasattr(given, "predict") and not hasattr(given, "act")


def _number(found: Any) -> Any:
    if isinstance(found, list):
        raise GdeError(
            "wanted a number for an episode, got a list: call the argument `evidence` to measure the whole run"
        )
    return found


def _takes_evidence(metric: Any) -> bool:
    """Whether a metric's argument is called `evidence`, or is said to be that."""
    argument = needed(metric)[0]
    return argument.name == "evidence" or argument.annotation in (Evidence, "Evidence")
