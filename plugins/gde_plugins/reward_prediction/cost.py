"""Calls, tokens and cost of a study's language models, estimated before anything is
asked.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from gde.data.estimate import Estimate
from gde.data.plan import Choice, Plan
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.domains import Domain
from gde_plugins.reward_prediction.environment import recorded

CALLS = {"statefactory": 3, "judge": 1}
"""Calls a turn of the reward models that ask a language model, by name."""
ANSWERS = {"statefactory": 4096, "judge": 2048}
"""Default limit of an answer, in tokens."""
CHARACTERS = 4
"""Of a token, about."""
INSTRUCTIONS = 250
"""Tokens of a question besides those of the episode, about."""
MILLION = 1e6


def estimates(
    plans: Mapping[str, Plan], domains: Sequence[Domain], config: StudyConfig
) -> Iterator[Estimate]:
    """One for every reward model that asks a language model; repeated questions are not
    foreseen.
    """

    @cache
    def lengths(share: float) -> list[list[float]]:
        """Characters of every step of every trajectory."""
        found: list[list[float]] = []
        for domain in domains:
            found.extend(_lengths(domain, config, share))
        return found

    for name, plan in plans.items():
        # Only replayed records have a number of steps that is known before.
        if "share" not in plan.environment.config:
            note = "agents ask as often as they take turns, and for each candidate"
            yield Estimate(
                plan=name, part=plan.agent.label, episodes=plan.episodes, note=note
            )
            continue

        share = _share(plan)
        asking = [choice for choice in plan.rewards if _asks(choice)]
        if not asking:
            note = "no reward model asks a language model"
            n_episodes = len(lengths(share))
            yield Estimate(plan=name, part="", episodes=n_episodes, calls=0, note=note)
        first: dict[str, str] = {}
        for choice in asking:
            extraction = _extraction(choice)
            label = first.setdefault(extraction, choice.label)
            if label != choice.label:
                note = f"reads what {label} extracts"
                n_episodes = len(lengths(share))
                yield Estimate(
                    plan=name,
                    part=choice.label,
                    episodes=n_episodes,
                    calls=0,
                    note=note,
                )
                continue
            yield _estimate(name, choice, lengths(share), config)


def n_tasks(domain: Domain, config: StudyConfig, share: float) -> int:
    """The number of tasks in a share of a domain."""
    if config.data is None:
        return domain.tasks(share)
    folder = Path(config.data) / domain.name
    return len({one.task for one in recorded(folder, share)})


def _asks(choice: Choice) -> bool:
    if choice.name == "judge":
        return True
    return (
        choice.name in CALLS
        and bool(choice.config.get("model"))
        and choice.config.get("level") != 1
    )


def _extraction(choice: Choice) -> str:
    """What the requests of a reward model depend on; equal ones are asked once.

    Goals of the oracle are read from the success, of which the extraction is known.
    """
    settings = {
        name: value
        for name, value in choice.config.items()
        if name not in {"embedder", "decimals", "goal"}
    }
    if choice.name == "statefactory":
        settings.setdefault("level", 4)
        settings.setdefault("effort", "medium")
        return repr(sorted(settings.items()))
    return choice.label


def _share(plan: Plan) -> float:
    share = plan.environment.config["share"]
    assert isinstance(share, int | float)
    return share


def _estimate(
    plan: str,
    choice: Choice,
    trajectories: Sequence[Sequence[float]],
    config: StudyConfig,
) -> Estimate:
    calls_a_turn = CALLS[choice.name]
    sees_one_step = choice.config.get("memory") or choice.name == "statefactory"

    n_calls = 0
    n_prompt_tokens = 0
    for lengths in trajectories:
        shown = lengths if sees_one_step else accumulate(lengths)
        n_calls += calls_a_turn * len(lengths)
        n_prompt_tokens += calls_a_turn * sum(
            INSTRUCTIONS + int(length / CHARACTERS) for length in shown
        )

    limit = choice.config.get("max_tokens", ANSWERS[choice.name])
    n_answer_tokens = (
        n_calls * int(limit) if isinstance(limit, str | int | float) else 0
    )
    cost = None
    if config.price_in or config.price_out:
        cost = (
            n_prompt_tokens * config.price_in + n_answer_tokens * config.price_out
        ) / MILLION
    return Estimate(
        plan=plan,
        part=choice.label,
        episodes=len(trajectories),
        calls=n_calls,
        prompt_tokens=n_prompt_tokens,
        answer_tokens=n_answer_tokens,
        cost=cost,
    )


def _lengths(domain: Domain, config: StudyConfig, share: float) -> list[list[float]]:
    """Characters of every step of a domain's trajectories; typical ones where there are
    no data.
    """
    if config.data is None:
        typical = [float(domain.characters)] * round(domain.steps)
        return [typical] * (2 * domain.tasks(share))
    return [
        _lengths_in(one.path)
        for one in recorded(Path(config.data) / domain.name, share)
    ]


def _lengths_in(path: Path) -> list[float]:
    """Characters of every step of a file; none of an unreadable one, which nobody will
    judge.
    """
    try:
        steps = json.loads(path.read_text(encoding="utf-8"))["trajectory"]
        return [
            float(len(str(step["action"])) + len(str(step["observation"])))
            for step in steps
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
