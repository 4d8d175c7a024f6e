"""Calls and tokens of a study's language models, estimated before anything is asked."""

from collections.abc import Iterator, Sequence
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
Lengths = Sequence[int]
"""Characters of every step of a trajectory."""


def estimates(
    name: str, plan: Plan, domains: Sequence[Domain], config: StudyConfig
) -> Iterator[Estimate]:
    """One for every reward model that asks a language model; repeated questions are not
    foreseen.

    Raises:
        GdeError: a trajectory cannot be read.
    """
    share = plan.environment.config["share"]
    assert isinstance(share, int | float)
    trajectories: list[Lengths] = []
    for domain in domains:
        trajectories.extend(_lengths(domain, config, share))
    n_episodes = len(trajectories)

    asking = [choice for choice in plan.rewards if _asks(choice)]
    if not asking:
        note = "no reward model asks a language model"
        yield Estimate(plan=name, part="", episodes=n_episodes, calls=0, note=note)
    first: dict[str, str] = {}
    for choice in asking:
        label = first.setdefault(_extraction(choice), choice.label)
        if label == choice.label:
            yield _estimate(name, choice, trajectories)
        else:
            note = f"reads what {label} extracts"
            part = choice.label
            yield Estimate(
                plan=name, part=part, episodes=n_episodes, calls=0, note=note
            )


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
    if choice.name != "statefactory":
        return choice.label
    settings = {"level": 4, "effort": "medium", **choice.config}
    for name in ("embedder", "decimals", "goal"):
        settings.pop(name, None)
    return repr(sorted(settings.items()))


def _estimate(plan: str, choice: Choice, trajectories: Sequence[Lengths]) -> Estimate:
    calls_a_turn = CALLS[choice.name]
    sees_one_step = choice.config.get("memory") or choice.name == "statefactory"

    n_calls = 0
    n_prompt_tokens = 0
    for lengths in trajectories:
        n_calls += calls_a_turn * len(lengths)
        for length in lengths if sees_one_step else accumulate(lengths):
            n_prompt_tokens += calls_a_turn * (INSTRUCTIONS + length // CHARACTERS)

    # A setting of the command line is still text.
    limit = int(str(choice.config.get("max_tokens", ANSWERS[choice.name])))
    return Estimate(
        plan=plan,
        part=choice.label,
        episodes=len(trajectories),
        calls=n_calls,
        prompt_tokens=n_prompt_tokens,
        answer_tokens=n_calls * limit,
    )


def _lengths(domain: Domain, config: StudyConfig, share: float) -> Iterator[Lengths]:
    """The lengths of a domain's trajectories; typical ones where there are no data."""
    if config.data is None:
        typical = [domain.characters] * round(domain.steps)
        yield from [typical] * (2 * domain.tasks(share))
        return
    for one in recorded(Path(config.data) / domain.name, share):
        yield [len(step.action) + len(step.observation) for step in one.read().steps]
