"""The experiments of MacDermott et al. (2024), section 6: the cliff world, computed
without running an agent.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.parts.reproduction import Comparison, Run
from gde_plugins.meg.cliffworld.figures import curve, visits
from gde_plugins.meg.cliffworld.policies import (
    HORIZON,
    Case,
    erring_policies,
    optimal_policies,
)
from gde_plugins.meg.cliffworld.printed_rule import published_known_utility
from gde_plugins.meg.config import CliffWorldStudyConfig
from gde_plugins.meg.solvers.known import known_utility
from gde_plugins.meg.solvers.neural import Training, perceptron, train
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.solvers.result import Meg
from gde_plugins.meg.solvers.unknown import unknown_utility

COMPATIBLE = "paper-compatible"
TENTH = "a tenth of paper-compatible"
CONFIDENCE = 0.95
TITLES = (
    "optimal policy by length k of the goal",
    "erring policy, error probability eps",
)
SOURCE = "MacDermott et al. (2024), appendix D.1"
MISPRINTED = (
    "; agrees with a tenth of ours: the printed value may be ten times too small"
)
NOT_PINNED = "; no fixed value: depends on training"


class Group(NamedTuple):
    """The cases of one printed table."""

    title: str
    parameter: str
    cases: tuple[Case, ...]


class CliffWorldStudy:
    """The tables and figures of the cliff world. Implements
    `gde.parts.reproduction.Reproduction`.

    "Ours" is exact: the certified optimum of the concave problem, over all utilities of
    the states where the utility is unknown. "Paper-compatible" follows the published
    rules as far as they are known. For a known utility see
    `meg.cliffworld.printed_rule`. For an unknown one it is the mean of networks fitted
    by gradient ascent, which is below the optimum. Greedy policies prefer the action of
    the lowest index among the equally good.
    """

    agentless = True

    def __init__(self, config: CliffWorldStudyConfig) -> None:
        self._config = config
        self._rows: tuple[Comparison, ...] = ()

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """Return none: no agent takes part, and the study has its published size at
        every scale.
        """
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Iterator[Comparison]:  # noqa: ARG002
        """The rows of both tables for a known utility, then for an unknown one; made
        once, and kept for the figures.
        """
        rows = []
        for row in self._rows or self._made():
            rows.append(row)
            yield row
        self._rows = tuple(rows)

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Return figures 3b, 3c, 5a and 5b."""
        lengths, errors = self._groups
        by_error = curve(
            "Fig. 3b: MEG and the probability of an error",
            "eps",
            self._rows,
            errors.parameter,
        )
        by_length = curve(
            "Fig. 3c: MEG and the length of the goal",
            "length of the goal",
            self._rows,
            lengths.parameter,
        )

        shortest = lengths.cases[0]
        longest = lengths.cases[-1]
        heat_maps = []
        for letter, case in (("a", shortest), ("b", longest)):
            title = f"Fig. 5{letter}: visits of the optimal policy, {case.name}"
            heat_maps.append(visits(title, case.mdp, case.policy, HORIZON))
        return (by_error, by_length, *heat_maps)

    @cached_property
    def _groups(self) -> tuple[Group, Group]:
        lengths = tuple(optimal_policies())
        errors = tuple(erring_policies())
        return Group(TITLES[0], "k", lengths), Group(TITLES[1], "eps", errors)

    def _made(self) -> Iterator[Comparison]:
        for group in self._groups:
            for case in group.cases:
                yield _known(group, case)
        for group in self._groups:
            for case in group.cases:
                yield _unknown(group, case, self._config)


def _known(group: Group, case: Case) -> Comparison:
    where: Labels = {group.parameter: case.value}
    compatible = published_known_utility(case.mdp, case.policy, HORIZON).value
    optimum = known_utility(case.mdp, case.policy, HORIZON)
    source = SOURCE
    others = {COMPATIBLE: _computed("meg.known", compatible, where)}
    if case.known_misprinted:
        source += MISPRINTED
        others[TENTH] = _computed("meg.known", compatible / 10, where)
    return Comparison(
        quantity=case.name,
        paper=case.known,
        ours=_certified("meg.known", optimum, where),
        source=source,
        table=f"Known utility, {group.title}",
        others=others,
    )


def _unknown(group: Group, case: Case, config: CliffWorldStudyConfig) -> Comparison:
    where: Labels = {group.parameter: case.value}
    optimum = unknown_utility(case.mdp, case.policy, "states", HORIZON)
    compatible = _by_networks(case, config, where, optimum)
    others = {COMPATIBLE: compatible}
    if case.unknown_misprinted and compatible.value is not None:
        others[TENTH] = _computed("meg.unknown", compatible.value / 10, where)

    source = f"{SOURCE} (two sigma: {case.two_sigma:g})"
    if case.unknown_misprinted:
        source += MISPRINTED
    if group.parameter == "k":
        source += NOT_PINNED
    return Comparison(
        quantity=case.name,
        paper=case.unknown,
        ours=_certified("meg.unknown", optimum, where),
        source=source,
        table=f"Unknown utility, {group.title}",
        others=others,
    )


def _computed(name: str, value: float, where: Labels) -> Measurement:
    return Measurement(
        name=name,
        value=value,
        unit="nats",
        n=1,
        where=where,
    )


def _certified(name: str, meg: Meg, where: Labels) -> Measurement:
    """Return the value, or the reason where the solver proved none."""
    if meg.converged:
        return _computed(name, meg.value, where)
    lower, upper = meg.bounds
    reason = f"not certified: proven only to lie in [{lower:.6g}, {upper:.6g}]"
    return unmeasured(name, reason, where, "nats")


def _by_networks(
    case: Case,
    config: CliffWorldStudyConfig,
    where: Labels,
    optimum: Meg,
) -> Measurement:
    """Return the mean of several fitted networks, with Student's interval of that
    mean.
    """
    # As `unknown_utility` does, but for the optimum, which is known already.
    process = process_of(case.mdp, HORIZON)
    seen = observe(process, case.policy, on_actions=False).occupancy
    training = Training(steps=config.steps)
    found = []
    try:
        for seed in range(config.starts):
            network = perceptron(inputs=2, seed=seed)
            fitted = train(case.mdp, process, seen, network, training, optimum)
            found.append(fitted.value)
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed: pip install 'gde-eval[probes]'"
        return unmeasured("meg.unknown", reason, where, "nats")

    values = np.array(found)
    n = len(values)
    mean = float(values.mean())
    interval = None
    if n > 1:
        quantile = student.ppf((1 + CONFIDENCE) / 2, n - 1)
        half = float(quantile * values.std(ddof=1) / np.sqrt(n))
        interval = (mean - half, mean + half)
    return Measurement(
        name="meg.unknown",
        value=mean,
        unit="nats",
        n=n,
        interval=interval,
        where=where,
    )
