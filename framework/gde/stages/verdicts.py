"""The numbers of probes as they stand in a result, each control with its verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gde.data.json import Labels
from gde.data.measure import Better, Measures
from gde.data.probe import CodedTurns, Fit, ProbeReport
from gde.data.result import Measurement
from gde.numerics.probe_verdicts import compared


def results(
    reports: Sequence[ProbeReport],
    meanings: Measures,
    seed: int,
    conditions: Sequence[Labels] = (),
) -> Iterator[Measurement]:
    """The reports' measurements under full names, with the labels of their fits.

    Headlines have their verdicts, on the whole run and in each of several conditions.
    """

    def direction(fit: Fit, name: str) -> Better | None:
        measure = meanings[f"{fit.probe}.{name}"]
        return measure.better if measure.headline else None

    of_all = compared(reports, direction, seed)
    in_condition = []
    if len(conditions) > 1:
        for i, labels in enumerate(conditions):
            parts = [_of_condition(report, i) for report in reports]
            found = compared(parts, direction, seed)
            in_condition.append((labels, found, parts))
    for report in reports:
        fit = report.fit
        for measurement in report.measurements:
            name = f"{fit.probe}.{measurement.name}"
            verdict = None
            if not measurement.where:
                verdict = of_all.get((fit, measurement.name))
            for labels, found, parts in in_condition:
                if measurement.where == labels and _is_mean(measurement, fit, parts):
                    verdict = found.get((fit, measurement.name))
            yield replace(
                measurement,
                name=name,
                where={**fit.where, **measurement.where},
                source=fit.probe,
                verdict=verdict,
            )
        if report.reason:
            yield Measurement(
                name=fit.probe,
                value=None,
                n=0,
                where=fit.where,
                reason=report.reason,
                source=fit.probe,
            )


def _of_condition(report: ProbeReport, condition: int) -> ProbeReport:
    """The held-out turns of one condition alone."""
    chosen = []
    for i, (episode, _) in enumerate(report.rows):
        if episode.partition("/")[0] == str(condition):
            chosen.append(i)
    scores = {name: each[:, chosen] for name, each in report.scores.items()}
    return replace(
        report,
        rows=tuple(report.rows[i] for i in chosen),
        worlds=tuple(report.worlds[i] for i in chosen if report.worlds),
        scores=scores,
        coded=CodedTurns(),
    )


def _is_mean(one: Measurement, fit: Fit, parts: Sequence[ProbeReport]) -> bool:
    """Whether a number is the mean of its scores in a condition.

    The explained variance is not: its scores are multiples of the variance of all
    held-out turns.
    """
    for part in parts:
        if part.fit == fit and one.name in part.scores and one.value is not None:
            scores = part.scores[one.name]
            if np.isfinite(scores).any():
                return bool(np.isclose(np.nanmean(scores), one.value, rtol=1e-4))
    return False
