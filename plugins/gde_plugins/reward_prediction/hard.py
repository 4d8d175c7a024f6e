"""The reward models of table 1 on hard pairs, beside their distances on the published
ones.
"""

from collections.abc import Iterator, Mapping, Sequence

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.numerics.leaderboard import OVERALL, Standing
from gde.parts.reproduction import Comparison
from gde_plugins.reward_prediction.baselines import baselines
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.cost import HARD, n_trajectories
from gde_plugins.reward_prediction.domains import Domain
from gde_plugins.reward_prediction.measured import beside_best, find_number

ON_HARD = "EPIC distance on hard pairs"
PUBLISHED = "published pairs"
COLUMNS: Mapping[str, str] = {
    "step_order.progress": "progress told from other steps",
    "step_order.harm": "harm told from other steps",
    "reward_regret.auc": "failure told by regret",
}
"""Further columns, by the name of their number."""


def hard_plan(config: StudyConfig, domains: Sequence[Domain], share: float) -> Plan:
    """All kinds of failures, each of which has its success."""
    environment: dict[str, Json] = {
        "domain": [domain.name for domain in domains],
        "padding": config.padding,
        "share": share,
        "pairs": HARD,
    }
    n_episodes = [n_trajectories(one, config, share, hard=True) for one in domains]
    return Plan(
        environment=Choice(name="rewardbench", config=environment),
        agent=Choice(name="random"),
        rewards=tuple(baselines(config)),
        metrics=("epic", "step-order", "reward-regret"),
        episodes=max(n_episodes),
    )


def hard_rows(
    published: Sequence[Measurement],
    hard: Sequence[Measurement],
    board: Sequence[Standing],
    domains: Sequence[Domain],
) -> Iterator[Comparison]:
    """A row for each reward model and domain, the best first.

    Args:
        published: numbers of the published pairs. hard: those of the hard ones.
        board: of the hard pairs.
        domains: of both.
    """
    by_name = {domain.name: domain for domain in domains}
    for standing in board:
        if standing.condition == OVERALL:
            continue
        label = standing.contender
        domain = by_name[standing.condition]
        ours = find_number(hard, "epic", label, domain, domains)
        assert ours is not None
        others = beside_best(standing)
        on_published = find_number(published, "epic", label, domain, domains)
        if on_published is not None:
            others[PUBLISHED] = on_published
        for name, title in COLUMNS.items():
            one = find_number(hard, name, label, domain, domains)
            if one is not None:
                others[title] = one
        yield Comparison(
            quantity=f"{label}, {domain.title}",
            paper=None,
            ours=ours,
            source="none",
            table=ON_HARD,
            others=others,
        )
