"""The experiments of MacDermott et al. (2024), section 6: the cliff world, computed without running an agent."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde_plugins.meg.cliffworld.figures import curve, visits
from gde_plugins.meg.cliffworld.policies import HORIZON, Case, erring_policies, optimal_policies
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
TITLES = ("optimal policy by length k of the goal", "policy that errs with probability eps")
SOURCE = "MacDermott et al. (2024), appendix D.1"
MISPRINTED = "; agrees if printed ten times too small"
NOT_PINNED = "; not pinned, depends on training"


class Group(NamedTuple):
    """The cases of one printed table."""

    title: str
    parameter: str
    cases: tuple[Case, ...]


class CliffWorldStudy:
    """Implements `gde.parts.reproduction.Reproduction`.

    "Ours" is exact: the concave problem solved to its certified optimum, over all utilities of the states where the
    utility is unknown. "Paper-compatible" follows the published rules as far as they are known: for a known utility
    see `meg.cliffworld.printed_rule`, for an unknown one the mean of networks fitted by gradient ascent, which comes
    out below the optimum. Greedy policies prefer the action of the lowest index among the equally good.
    """

    agentless = True

    def __init__(self, config: CliffWorldStudyConfig) -> None:
        self._config = config

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """None: no agent takes part, and the study has its published size at every scale."""
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """Both tables, each for known and unknown utility."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Figures 3b, 3c, 5a and 5b."""
        lengths, errors = self._groups
        return (
            curve("Fig. 3b: MEG and the probability of an error", "eps", self._rows, errors.parameter),
            curve("Fig. 3c: MEG and the length of the goal", "length of the goal", self._rows, lengths.parameter),
            *(
                visits(f"Fig. 5{letter}: visits of the optimal policy, {case.name}", case.mdp, case.policy, HORIZON)
                for letter, case in zip("ab", (lengths.cases[0], lengths.cases[-1]), strict=True)
            ),
        )

    @cached_property
    def _groups(self) -> tuple[Group, Group]:
        lengths = tuple(optimal_policies())
        errors = tuple(erring_policies())
        return Group(TITLES[0], "k", lengths), Group(TITLES[1], "eps", errors)

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        rows = [_known(group, case) for group in self._groups for case in group.cases]
        rows += [_unknown(group, case, self._config) for group in self._groups for case in group.cases]
        return tuple(rows)


def _known(group: Group, case: Case) -> Comparison:
    where: Labels = {group.parameter: case.value}
    compatible = published_known_utility(case.mdp, case.policy, HORIZON).value
    others = {COMPATIBLE: _computed("meg.known", compatible, where)}
    if case.known_misprinted:
        others[TENTH] = _computed("meg.known", compatible / 10, where)
    return Comparison(
        quantity=case.name,
        paper=case.known,
        ours=_certified("meg.known", known_utility(case.mdp, case.policy, HORIZON), where),
        source=SOURCE + MISPRINTED * case.known_misprinted,
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
    bars = f" (two sigma: {case.two_sigma:g})"
    return Comparison(
        quantity=case.name,
        paper=case.unknown,
        ours=_certified("meg.unknown", optimum, where),
        source=SOURCE + bars + MISPRINTED * case.unknown_misprinted + NOT_PINNED * (group.parameter == "k"),
        table=f"Unknown utility, {group.title}",
        others=others,
    )


def _computed(name: str, value: float, where: Labels) -> Measurement:
    return Measurement(name=name, value=value, unit="nats", n=1, where=where)


def _certified(name: str, meg: Meg, where: Labels) -> Measurement:
    """The value, or where the solver proved none the reason."""
    if meg.converged:
        return _computed(name, meg.value, where)
    reason = f"not certified: proven only to lie in [{meg.bounds[0]:.6g}, {meg.bounds[1]:.6g}]"
    return Measurement(name=name, value=None, unit="nats", n=0, where=where, reason=reason)


def _by_networks(case: Case, config: CliffWorldStudyConfig, where: Labels, optimum: Meg) -> Measurement:
    """The mean of several fitted networks, with Student's interval of that mean."""
    try:
        network = perceptron(inputs=2)
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed: pip install 'gde-eval[probes]'"
        return Measurement(name="meg.unknown", value=None, unit="nats", n=0, where=where, reason=reason)
    training = Training(steps=config.steps, starts=config.starts)
    process = process_of(case.mdp, HORIZON)
    seen = observe(process, case.policy, on_actions=False).occupancy
    # As `unknown_utility` does, but for the optimum, which is known already.
    fitted = train(case.mdp, process, seen, network, training, optimum)
    values = np.array([meg.value for meg in fitted.table.values()])
    mean = float(values.mean())
    n = len(values)
    half = float(student.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    interval = (mean - half, mean + half) if n > 1 else None
    return Measurement(name="meg.unknown", value=mean, unit="nats", n=n, interval=interval, where=where)
