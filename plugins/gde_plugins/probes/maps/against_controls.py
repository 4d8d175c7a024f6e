"""The numbers of decoded maps, each beside the same from the probe's controls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gde.data.measure import Measures
from gde.data.probe import ProbeReport
from gde.data.result import Measurement, with_unit
from gde.numerics.controls import over_initialisations
from gde.numerics.probe_verdicts import compared
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.maps.held_out import DecodedTurns


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What a metric measures in the N turns of a fit, or of one of its draws."""

    measurements: Sequence[Measurement]
    scores: Mapping[str, Doubles] = field(default_factory=dict)
    """(N,) of the turns, by the label of the measurement that is tested with them; NaN
    where a turn does not count.
    """


def against_controls(
    fits: Sequence[DecodedTurns],
    measure: Callable[[DecodedTurns], Measured],
    meanings: Measures,
    seed: int,
) -> list[Measurement]:
    """Measure all fits, and test each probe against its controls.

    Numbers of a control of several draws, such as random weights, are means over them.
    Tests are paired by the turns that both have decoded, see
    `gde.numerics.probe_verdicts`. Controls may have decoded one turn of each world.
    """
    measured = []
    reports = []
    for fit in fits:
        draws = [measure(one) for one in fit.initialisations]
        several = [
            [with_unit(one, meanings[one.name]) for one in draw.measurements]
            for draw in draws
        ]
        measured.append((fit, over_initialisations(several)))
        reports.append(_report(fit, draws))

    verdicts = compared(
        reports, lambda _, label: meanings[label.partition(" ")[0]].better, seed
    )
    found: list[Measurement] = []
    for fit, numbers in measured:
        for one in numbers:
            verdict = verdicts.get((fit.fit, one.label))
            found += fit.under([replace(one, verdict=verdict)])
    return found


def _report(fit: DecodedTurns, draws: Sequence[Measured]) -> ProbeReport:
    """The scores of all draws of a fit."""
    first, *_ = draws
    scores = {}
    for label in first.scores:
        of_draws = np.stack([draw.scores[label] for draw in draws])
        scores[label] = of_draws.astype(np.float32)
    return ProbeReport(
        fit=fit.fit,
        measurements=(),
        n_train=0,
        n_test=len(fit.turns),
        rows=tuple(fit.keys),
        decoded=fit.decoded,
        worlds=tuple(fit.groups.tolist()),
        scores=scores,
    )
