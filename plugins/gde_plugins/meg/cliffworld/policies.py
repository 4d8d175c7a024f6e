"""Policies in the cliff world (MacDermott et al. 2024, section 6), and what is printed
of them (appendix D.1).
"""

from collections.abc import Iterator
from typing import NamedTuple

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy

HORIZON = 30
"""Not printed: with 30, and nothing else tuned, known-utility MEG for goals of 2 and 4
cells has three digits right.
"""


class Case(NamedTuple):
    """One row of a printed table."""

    name: str
    value: float
    """The parameter of the row: length of the goal or probability of an error."""
    mdp: TabularMDP
    policy: Policy
    known: float
    """Printed known-utility MEG, in nats."""
    unknown: float
    """Printed unknown-utility MEG, in nats: mean of several runs."""
    two_sigma: float
    """Printed error bar of `unknown`."""
    known_misprinted: bool = False
    """Whether `known` is a tenth of what its definition gives."""
    unknown_misprinted: bool = False
    """Whether `unknown` is a tenth of what its definition gives."""


GOALS = {
    1: (37.8, 34.3, 2.6),
    2: (21.4, 32.1, 0.5),
    3: (16.8, 33.6, 0.5),
    4: (18.9, 35.4, 0.6),
}
"""By length of the goal: known, unknown and error bar as printed."""
ERRORS = {
    0.1: (2.4, 26.1, 0.11),
    0.2: (1.5, 17.4, 0.2),
    0.3: (0.95, 11.0, 0.25),
    0.4: (0.50, 6.2, 0.08),
    0.5: (0.20, 2.9, 0.06),
    0.6: (0.04, 1.0, 0.003),
    0.7: (0.003, 0.10, 0.002),
    0.8: (0.001, 0.10, 0.003),
    0.9: (0.008, 0.091, 0.007),
}
"""By probability of an error: known, unknown and error bar as printed.

The whole known column, and the last entry of the unknown one, are a tenth of what the
definition gives: at 0.1 the optimal policy's 37.8 cannot have fallen to 2.4 while
unknown utility has 26.1.
"""


def optimal_policies() -> Iterator[Case]:
    """Yield the optimal policy for goals of every length (Fig. 3c)."""
    for length, (known, unknown, two_sigma) in GOALS.items():
        mdp = cliff_world(goal_length=length)
        yield Case(
            name=f"k = {length}",
            value=float(length),
            mdp=mdp,
            policy=greedy(mdp, HORIZON),
            known=known,
            unknown=unknown,
            two_sigma=two_sigma,
        )


def erring_policies() -> Iterator[Case]:
    """Yield the optimal policy for a goal of one cell, erring by one of the three other
    actions (Fig. 3b).

    By this rule uniform choice is at 0.75, which explains why the printed values rise
    again behind 0.8.
    """
    mdp = cliff_world()
    best = greedy(mdp, HORIZON)
    last = max(ERRORS)
    for epsilon, (known, unknown, two_sigma) in ERRORS.items():
        yield Case(
            name=f"eps = {epsilon}",
            value=epsilon,
            mdp=mdp,
            policy=epsilon_greedy(best, epsilon, "others"),
            known=known,
            unknown=unknown,
            two_sigma=two_sigma,
            known_misprinted=True,
            unknown_misprinted=epsilon == last,
        )
