"""What a study asks of language models, before it asks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, chain
from pathlib import Path

from gde.data.plan import Choice, Plan
from gde.parts.reproduction import Estimate
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.domains import Domain
from gde_plugins.reward_prediction.environment import recorded

ASKING = {"statefactory": 3, "judge": 1}
"""Calls a turn of the reward models that ask, by the names that they are offered under."""
ANSWERS = {"statefactory": 4096, "judge": 2048}
"""Tokens that an answer may have at most, by default."""
CHARACTERS = 4
"""Of a token, about."""
INSTRUCTIONS = 250
"""Tokens of a question besides what it tells of the episode, about."""
MILLION = 1e6


def estimates(plans: Mapping[str, Plan], domains: Sequence[Domain], config: StudyConfig) -> Iterator[Estimate]:
    """One for every reward model that asks a language model; repairs, and what is asked twice, are not foreseen."""
    lengths = cache(partial(_lengths, domains, config))
    for name, plan in plans.items():
        if not plan.rewards:
            note = "agents ask as often as they take turns, and for each candidate"
            yield Estimate(plan=name, part=plan.agent.label, episodes=plan.episodes, note=note)
        asking = [each for each in plan.rewards if _asks(each)]
        for choice in asking:
            yield _estimate(name, choice, lengths(_share(plan)), config)
        if plan.rewards and not asking:
            note = "no reward model asks a language model"
            yield Estimate(plan=name, part="", episodes=_all_episodes(plan, domains, config), calls=0, note=note)


def _asks(choice: Choice) -> bool:
    if choice.name == "judge":
        return True
    return choice.name in ASKING and bool(choice.config.get("model")) and choice.config.get("level") != 1


def _all_episodes(plan: Plan, domains: Sequence[Domain], config: StudyConfig) -> int:
    return sum(n_trajectories(domain, config, _share(plan)) for domain in domains)


def n_trajectories(domain: Domain, config: StudyConfig, share: float) -> int:
    """Of that share of its tasks."""
    return 2 * domain.tasks(share) if config.data is None else len(recorded(Path(config.data) / domain.name, share))


def _share(plan: Plan) -> float:
    share = plan.environment.config["share"]
    assert isinstance(share, int | float)
    return share


def _estimate(plan_name: str, choice: Choice, told: Sequence[Sequence[float]], config: StudyConfig) -> Estimate:
    part, per_turn = choice.label, ASKING[choice.name]
    if choice.config.get("goal") == "oracle":
        per_turn *= 2  # the success at the task is read for each of its trajectories as well
    calls = prompt = 0
    for lengths in told:
        shown = lengths if choice.config.get("memory") or choice.name == "statefactory" else [*accumulate(lengths)]
        calls += per_turn * len(lengths)
        prompt += per_turn * sum(INSTRUCTIONS + int(each / CHARACTERS) for each in shown)
    limit = choice.config.get("max_tokens", ANSWERS[choice.name])
    answers = calls * int(limit) if isinstance(limit, str | int | float) else 0
    priced = config.price_in or config.price_out
    cost = (prompt * config.price_in + answers * config.price_out) / MILLION if priced else None
    return Estimate(
        plan=plan_name,
        part=part,
        episodes=len(told),
        calls=calls,
        prompt_tokens=prompt,
        answer_tokens=answers,
        cost=cost,
    )


def _lengths(domains: Sequence[Domain], config: StudyConfig, share: float) -> Sequence[Sequence[float]]:
    """Characters of every step of every trajectory; from the data, else as many as are usual."""
    return [*chain.from_iterable(_lengths_of(domain, config, share) for domain in domains)]


def _lengths_of(domain: Domain, config: StudyConfig, share: float) -> list[list[float]]:
    if config.data is not None:
        return [_of_file(one.path) for one in recorded(Path(config.data) / domain.name, share)]
    return [[float(domain.characters)] * round(domain.steps)] * n_trajectories(domain, config, share)


def _of_file(path: Path) -> list[float]:
    """Of one that cannot be read, nothing: it will be judged by nobody."""
    try:
        steps = json.loads(path.read_text(encoding="utf-8"))["trajectory"]
        return [float(len(str(step["action"])) + len(str(step["observation"]))) for step in steps]
    except (OSError, ValueError, KeyError, TypeError):
        return []
