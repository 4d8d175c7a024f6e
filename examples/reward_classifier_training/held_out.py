"""How a trained model ranks held-out preferences, beside what reads nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from gde.numerics.stats import MINIMUM_CLUSTERS, cluster_share
from gde.parts.context import OutsideRun
from gde.parts.reward_model import RewardModel
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde.seeding import generator
from gde_plugins.reward_classifier.scorer import Scorer
from reward_classifier_training.preferences import Preference, read_text

ALL = "all"
BASELINES = (
    "clock",
    "goal-words",
    "goal-clock",
    "goal-unrepeated",
    "goal-mentions-unrepeated",
    "unrepeated",
)
"""Reward models that read no observation; by the clock, the longer text is better."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The share of held-out pairs that are ranked correctly, in a domain or in all."""

    domain: str
    pairs: int
    tasks: int
    accuracy: float
    interval: tuple[float, float] | None
    """95 %, over tasks; None with fewer than six."""
    baseline: str
    """The reward model that ranks most pairs correctly, of those that read nothing."""
    best: float
    """Its share; equals count half."""


def held_out_table(
    scorer: Scorer, preferences: Sequence[Preference], batch_size: int
) -> tuple[HeldOut, ...]:
    """A row for each domain, and one for all if there are several."""
    right = ranked_right(scorer, preferences, batch_size)
    unread = {name: ranked_unread(name, preferences) for name in BASELINES}
    domains = sorted({one.domain for one in preferences})
    groups = {domain: {domain} for domain in domains}
    if len(domains) > 1:
        groups[ALL] = {*domains}

    rows: list[HeldOut] = []
    for name, inside in groups.items():
        chosen = [i for i, one in enumerate(preferences) if one.domain in inside]
        tasks = [f"{preferences[i].domain}/{preferences[i].task}" for i in chosen]
        rng = generator(0, "held out", name)
        share = cluster_share([right[i] for i in chosen], tasks, rng)
        shares = {each: np.mean([unread[each][i] for i in chosen]) for each in unread}
        baseline = max(shares, key=lambda each: shares[each])
        n_tasks = len({*tasks})
        rows.append(
            HeldOut(
                domain=name,
                pairs=len(chosen),
                tasks=n_tasks,
                accuracy=share.value,
                interval=share.interval if n_tasks >= MINIMUM_CLUSTERS else None,
                baseline=baseline,
                best=float(shares[baseline]),
            )
        )
    return tuple(rows)


def ranked_right(
    scorer: Scorer, preferences: Sequence[Preference], batch_size: int
) -> list[bool]:
    """Whether the chosen text of each preference gets the higher reward."""
    right: list[bool] = []
    with torch.inference_mode():
        for i in range(0, len(preferences), batch_size):
            batch = preferences[i : i + batch_size]
            chosen = scorer.rewards([one.chosen for one in batch])
            rejected = scorer.rewards([one.rejected for one in batch])
            right += (chosen > rejected).tolist()
    return right


def ranked_unread(name: str, preferences: Sequence[Preference]) -> list[float]:
    """Whether a reward model, by name, ranks each preference correctly; 0.5 for equals."""
    offer = Catalogue.default().find("reward_model", name).offer
    model: RewardModel = offer.made(build(offer.config, {}, name), OutsideRun())

    async def ranked() -> list[float]:
        found: list[float] = []
        for one in preferences:
            better = await _last_reward(model, one.chosen)
            worse = await _last_reward(model, one.rejected)
            found.append(0.5 if better == worse else float(better > worse))
        return found

    return asyncio.run(ranked())


async def _last_reward(model: RewardModel, text: str) -> float:
    values = (await model.rewards(read_text(text))).values
    return float(values[-1]) if len(values) else 0.0
