"""The headlines of probes in two runs: each against its control, and B against A."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.comparisons.differences import ProbeRow
from gde.data.episode_table import Head
from gde.data.probe import FIT, CodedTurns, Fit, ProbeReport
from gde.data.result import Measurement, Result
from gde.data.verdict import Verdict
from gde.numerics.verdicts import compare_paired, judged
from gde.seeding import generator

FIRST = "A"
"""The control of a verdict on two runs."""
Headlines = dict[Fit, dict[str, Measurement]]
"""Fit to its headlines over all held-out worlds, by name."""
_Turns = tuple[ProbeReport | CodedTurns, Mapping[str, Head]]
"""The turns that a score is of, and the compared episodes of their run."""


@dataclass(frozen=True, kw_only=True)
class ProbedRun:
    """What a comparison needs to know of the probes of a run."""

    result: Result
    reports: Sequence[ProbeReport]
    episodes: Mapping[str, Head]
    """Those that are compared, by key."""


def compare_probes(a: ProbedRun, b: ProbedRun) -> Iterator[ProbeRow]:
    """The headlines that both runs have, of equal fits; p values are not corrected.

    A probe without any fit in common is compared by the first fits of both runs.

    Args:
        a: the first run.
        b: the second run.
    """
    of_a = _headlines(a.result)
    of_b = _headlines(b.result)
    reports_a = {report.fit: report for report in a.reports}
    reports_b = {report.fit: report for report in b.reports}
    meanings = a.result.meanings
    for fit_a, fit_b in _pairs(list(of_a), list(of_b)):
        for name in meanings.ordered(of_a[fit_a]):
            if name not in of_b[fit_b]:
                continue
            between = None
            score = name.removeprefix(f"{fit_a.probe}.")
            turns_a = _scored(reports_a.get(fit_a), score)
            turns_b = _scored(reports_b.get(fit_b), score)
            if turns_a is not None and turns_b is not None:
                both = (turns_a, a.episodes), (turns_b, b.episodes)
                between = _between(*both, fit_a, score)
            yield ProbeRow(
                name=name,
                title=meanings[name].title,
                better=meanings[name].better,
                a=of_a[fit_a][name],
                b=of_b[fit_b][name],
                between=between,
            )


def in_one_run(a: ProbedRun, b: ProbedRun) -> list[str]:
    """A note for each probe that has headlines in one of the runs alone."""
    of_a = {fit.probe for fit in _headlines(a.result)}
    of_b = {fit.probe for fit in _headlines(b.result)}
    notes = []
    for probe in sorted(of_a ^ of_b):
        run = a.result.run if probe in of_a else b.result.run
        notes.append(f"probe {probe!r} has numbers in {run} alone")
    return notes


def with_outcomes(rows: Sequence[ProbeRow]) -> list[ProbeRow]:
    """The rows with the outcomes of B against A.

    p values are corrected after Holm for all headlines of a fit, in all comparisons.
    """
    families: dict[Fit | None, dict[int, Verdict]] = {}
    for i, row in enumerate(rows):
        if row.between is not None:
            families.setdefault(Fit.of(row.a), {})[i] = row.between

    found = list(rows)
    for family in families.values():
        for i, verdict in judged(family, lambda i: rows[i].better).items():
            found[i] = replace(rows[i], between=verdict)
    return found


def _headlines(result: Result) -> Headlines:
    """The headlines of all fits that are no controls, in the order of the plan."""
    meanings = result.meanings
    found: Headlines = {}
    for one in result.measurements:
        fit = Fit.of(one)
        if fit is None or fit.control != "none":
            continue
        # More labels than those of the fit mean a number of a part of the worlds.
        if one.where.keys() == FIT and meanings[one.name].headline:
            found.setdefault(fit, {})[one.name] = one
    return found


def _pairs(of_a: Sequence[Fit], of_b: Sequence[Fit]) -> Iterator[tuple[Fit, Fit]]:
    """The fits that are compared with each other."""
    for probe in dict.fromkeys(fit.probe for fit in of_a):
        own = [fit for fit in of_a if fit.probe == probe]
        others = [fit for fit in of_b if fit.probe == probe]
        shared = [(fit, fit) for fit in own if fit in others]
        if shared:
            yield from shared
        elif others:
            yield own[0], others[0]


def _scored(report: ProbeReport | None, score: str) -> ProbeReport | CodedTurns | None:
    """The turns that a score is of: the held-out or the coded ones."""
    if report is None:
        return None
    for turns in (report, report.coded):
        # Runs of earlier versions have no worlds.
        if score in turns.scores and turns.worlds:
            return turns
    return None


def _between(a: _Turns, b: _Turns, fit: Fit, score: str) -> Verdict:
    """B against A in the worlds of both, without correction."""
    turns_a, episodes = a
    turns_b, _ = b
    # A world is coded by fits to the worlds before it.
    is_code = isinstance(turns_a, CodedTurns)
    if is_code and set(turns_a.worlds) != set(turns_b.worlds):
        return _untested("the runs code different worlds")
    first = _world_means(*a, score)
    second = _world_means(*b, score)
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return _untested("no world was held out in both runs")

    clusters = {head.world: head.cluster for head in episodes.values()}
    # The seed depends on the quantity alone, so that a row is the same whatever else is
    # compared.
    return compare_paired(
        FIRST,
        [second[world] for world in shared],
        [first[world] for world in shared],
        [clusters[world] for world in shared],
        generator(0, "compare", fit.name, score),
    )


def _world_means(
    turns: ProbeReport | CodedTurns, episodes: Mapping[str, Head], score: str
) -> dict[str, float]:
    """The mean of a score in each of the compared worlds."""
    # The runs may have other turns in the same world, so a world counts once.
    of_worlds: dict[str, list[float]] = {}
    values = turns.scores[score].mean(axis=0)
    for (episode, _), value in zip(turns.rows, values, strict=True):
        if episode in episodes and np.isfinite(value):
            of_worlds.setdefault(episodes[episode].world, []).append(float(value))
    return {world: float(np.mean(own)) for world, own in of_worlds.items()}


def _untested(reason: str) -> Verdict:
    return Verdict(control=FIRST, difference=0.0, worlds=0, reason=reason)
