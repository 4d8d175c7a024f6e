"""Policies of highest entropy for what they attain (MacDermott et al. 2024, Definition
3.1) in influence diagrams.
"""

from collections.abc import Iterator, Sequence
from math import inf, isclose, isinf, prod

import numpy as np
from scipy.special import entr, softmax

from gde.data.mdp import Floats
from gde.seeding import generator
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.measurement import accuracy

QUALIFYING = 30
"""Rounds of improvement without recall, for every start."""
FINAL = 2000
"""Rounds of improvement without recall, for the best ends."""
SETTLED = 1e-12
"""Change of a probability below which a round has changed nothing."""
STARTS = 6
"""Random starts of the search without recall, beside the uniform policy, the measured
one and the corners.
"""
CORNERS = 8
"""Largest number of deterministic policies of which every one is a start."""
FIRMNESS = 0.9
"""Share of the choice in such a start that is not by chance."""
NEAR = 1e-4
"""Share of merit by which an end may fall short of the best and is improved further."""
EQUAL = 1e-9
"""Share of merit by which an end may fall short of the best and counts as equally
good.
"""
APART = 0.1
"""Difference of a probability above which two ends are taken for different
solutions.
"""
TIE = 1e-12
"""Expected utilities closer than this are equal for an optimal policy; the unit is the
expected absolute utility.
"""


def soft_optimal(
    problem: DecisionProblem,
    utility: Floats,
    beta: float = 1.0,
    rounds: int = FINAL,
) -> Policies:
    """Find the policies that maximise beta * E[utility] + entropy; at +-inf, the
    entropy among the optimal ones.

    Where the decisions recall what they need (`DecisionProblem.order`), one pass of
    backward induction finds the one maximum. Elsewhere the problem is not concave:
    policies are improved one at a time, each to the best reply to the others, from
    several starts. The best end is taken, which is a local maximum at least. Several
    ends may be equally good, e.g. because it matters only that two decisions agree. Of
    these the one that predicts the measured policy best is returned, as Definition 3.2
    takes the maximum over all policies of highest entropy.

    Args:
        problem: the decisions. utility: (n_outcomes,) of the targets' joint values.
        beta: rationality, in units of 1 / utility. rounds: of improvement of the best
        ends, where decisions do not recall what they need.
    """
    if problem.order is not None:
        policies = dict(problem.uniform)
        for name in problem.order:
            policies[name] = _reply(problem, policies, name, utility, beta)
        return policies

    # Most starts end in a few solutions, so a few rounds choose those that are worth
    # many.
    ends = [
        _improved(problem, start, utility, beta, QUALIFYING)
        for start in _starts(problem)
    ]
    near_best = _best(problem, ends, utility, beta, NEAR)
    qualified = _different(near_best)

    finalists = [_improved(problem, end, utility, beta, rounds) for end in qualified]
    equally_good = _best(problem, finalists, utility, beta, EQUAL)
    return max(equally_good, key=lambda policies: accuracy(problem, policies))


def merit(
    problem: DecisionProblem,
    policies: Policies,
    utility: Floats,
    beta: float,
) -> tuple[float, float]:
    """Return what soft-optimal policies maximise; at infinite beta entropy decides
    between equal utilities alone.
    """
    expected = float(problem.outcomes(policies) @ utility)
    entropy = problem.entropy(policies)
    if not isinf(beta):
        return beta * expected + entropy, 0.0

    # In whole units of the tie, utilities that differ by rounding are equal.
    unit = TIE * np.ptp(utility) or 1.0
    return round(np.sign(beta) * expected / unit), entropy


def equal_merits(
    one: tuple[float, float], other: tuple[float, float], tolerance: float
) -> bool:
    """Return whether two merits are equal up to a share of their size."""
    for a, b in zip(one, other, strict=True):
        if not isclose(a, b, rel_tol=tolerance, abs_tol=tolerance):
            return False
    return True


def _best(
    problem: DecisionProblem,
    ends: Sequence[Policies],
    utility: Floats,
    beta: float,
    tolerance: float,
) -> list[Policies]:
    """Return the policies whose merit is the highest, up to a share of its size."""
    merits = [merit(problem, policies, utility, beta) for policies in ends]
    most = max(merits)
    best = []
    for policies, found in zip(ends, merits, strict=True):
        if equal_merits(found, most, tolerance):
            best.append(policies)
    return best


def _different(ends: Sequence[Policies]) -> list[Policies]:
    """Drop all but one of the ends that seem to improve to the same solution."""
    found: list[Policies] = []
    for policies in ends:
        if all(_distance(policies, other) > APART for other in found):
            found.append(policies)
    return found


def _distance(policies: Policies, others: Policies) -> float:
    """Return the largest difference of a probability."""
    largest = 0.0
    for name, table in policies.items():
        difference = np.abs(table - others[name]).max()
        largest = max(largest, float(difference))
    return largest


def _starts(problem: DecisionProblem) -> Iterator[Policies]:
    """Yield policies from which the search without recall begins, the same in every
    call.
    """
    yield problem.uniform
    yield problem.policy
    yield from _corners(problem)

    rng = generator(0, "soft optimal policies")
    for _ in range(STARTS):
        drawn = {}
        for name, table in problem.policy.items():
            # A concentration below one prefers firm choices, which are more apart than
            # a flat prior's.
            concentration = np.full(table.shape[-1], 0.5)
            drawn[name] = rng.dirichlet(concentration, size=table.shape[:-1])
        yield drawn


def _corners(problem: DecisionProblem) -> Iterator[Policies]:
    """Yield nearly deterministic policies, where there are few.

    The uniform policy, which favours no solution, may be the saddle between them.
    """
    rows: list[tuple[str, tuple[int, ...]]] = []
    n_options: list[int] = []
    for name, table in problem.policy.items():
        for row in np.ndindex(table.shape[:-1]):
            rows.append((name, row))
            n_options.append(table.shape[-1])
    if prod(n_options) > CORNERS:
        return

    for chosen in np.ndindex(*n_options):
        policies = {}
        for name, table in problem.uniform.items():
            policies[name] = (1 - FIRMNESS) * table
        for (name, row), option in zip(rows, chosen, strict=True):
            policies[name][(*row, option)] += FIRMNESS
        yield policies


def _improved(
    problem: DecisionProblem,
    start: Policies,
    utility: Floats,
    beta: float,
    rounds: int,
) -> Policies:
    """Improve one policy after the other until a round changes nothing."""
    policies = dict(start)
    for _ in range(rounds):
        before = dict(policies)
        # Later decisions first, as in backward induction.
        for name in reversed(problem.decisions):
            policies[name] = _reply(problem, policies, name, utility, beta)
        if _distance(policies, before) < SETTLED:
            break
    return policies


def _reply(
    problem: DecisionProblem,
    policies: Policies,
    name: str,
    utility: Floats,
    beta: float,
) -> Floats:
    """Return the best policy of one decision, the others fixed; uniform where the
    decision is never reached.
    """
    family = problem.families[name]
    others = problem.distribution(policies, [name])
    reach = problem.marginal(others, family)
    worth = problem.marginal(others * problem.on_targets(utility), family)
    absolute = problem.on_targets(np.abs(utility))
    size = problem.marginal(others * absolute, family)

    # The entropies of the other decisions count like utilities of their own.
    entropy = np.zeros_like(reach)
    for other in problem.decisions:
        if other == name:
            continue
        weights = problem.distribution(policies, [name, other])
        surprise = problem.spread(entr(policies[other]), problem.families[other])
        entropy += problem.marginal(weights * surprise, family)

    # All sums are joint with reaching the decision; the choice depends on them given
    # that it is reached.
    reached = np.where(reach > 0, reach, 1.0)
    blur = TIE * size / reached
    return _boltzmann(worth / reached, entropy / reached, beta, blur)


def _boltzmann(
    worth: Floats,
    entropy: Floats,
    beta: float,
    blur: Floats,
) -> Floats:
    """Return the softmax over the last axis; at +-inf over the best alone, up to the
    `blur` of their values.
    """
    if not isinf(beta):
        merits = beta * worth + entropy
        return np.asarray(softmax(merits, axis=-1))

    worth = np.sign(beta) * worth
    place = worth.argmax(axis=-1, keepdims=True)
    blur_of_best = np.take_along_axis(blur, place, axis=-1)
    short = worth.max(axis=-1, keepdims=True) - worth
    best = short <= blur + blur_of_best
    among_best = np.where(best, entropy, -inf)
    return np.asarray(softmax(among_best, axis=-1))
