"""How a trained model ranks held-out preferences, beside what reads nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from gde.numerics.stats import MINIMUM_CLUSTERS, cluster_share
from gde.seeding import generator
from gde_plugins.reward_classifier.scorer import Scorer
from gde_plugins.reward_classifier.texts import STATE, Preference

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The share of held-out pairs that are ranked correctly, in a domain or in all."""

    domain: str
    pairs: int
    tasks: int
    accuracy: float
    interval: tuple[float, float] | None
    """95 %, over tasks; None with fewer than six."""
    longer: float
    """The share in which the text of more steps is the better one; equals count half."""


def held_out_table(
    scorer: Scorer, preferences: Sequence[Preference], batch_size: int
) -> tuple[HeldOut, ...]:
    """A row for each domain, and one for all if there are several."""
    right = ranked_right(scorer, preferences, batch_size)
    domains = sorted({one.domain for one in preferences})
    groups = {domain: {domain} for domain in domains}
    if len(domains) > 1:
        groups[ALL] = {*domains}

    rows: list[HeldOut] = []
    for name, inside in groups.items():
        chosen = [
            (one, hit)
            for one, hit in zip(preferences, right, strict=True)
            if one.domain in inside
        ]
        tasks = [f"{one.domain}/{one.task}" for one, _ in chosen]
        rng = generator(0, "held out", name)
        share = cluster_share([hit for _, hit in chosen], tasks, rng)
        n_tasks = len({*tasks})
        rows.append(
            HeldOut(
                domain=name,
                pairs=len(chosen),
                tasks=n_tasks,
                accuracy=share.value,
                interval=share.interval if n_tasks >= MINIMUM_CLUSTERS else None,
                longer=sum(_longer(one) for one, _ in chosen) / len(chosen),
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


def _longer(one: Preference) -> float:
    more = one.chosen.count(STATE) - one.rejected.count(STATE)
    return 0.5 if more == 0 else float(more > 0)
