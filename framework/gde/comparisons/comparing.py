"""Two runs compared: over the worlds they share, or over worlds of their own."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from gde.comparisons.differences import (
    COST,
    Compared,
    ProbeRow,
    Row,
    Side,
    Values,
    corrected,
    few_worlds,
    out_of_reach,
    same_tests,
)
from gde.comparisons.probes import (
    ProbedRun,
    compare_probes,
    in_one_run,
    judged,
)
from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.by_world import Quantity, measured, split
from gde.numerics.stats import cluster_means, paired_difference, unpaired_difference
from gde.offers import MetricOffer
from gde.parts.metric import Declared
from gde.request.catalogue import Catalogue
from gde.request.ready import Ready, reads_turns_alone, untrusted
from gde.request.resolve import resolve
from gde.runs.conclusion import as_offered, subject
from gde.seeding import generator
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.stages.model_use import models_used
from gde.store.damage import decoding
from gde.store.folder import RunFolder

Condition = tuple[tuple[str, str | int | float | bool], ...]
"""The labels of a condition, sorted by name."""
Quantities = dict[Quantity, tuple[Values, Values]]
"""Quantity to its values in A and B."""
Conditions = Mapping[str, Condition]
"""World to its condition; worlds in the order of the plan's conditions. Empty where
there is one condition, or a world lies in several.
"""


class Opened(NamedTuple):
    """A run whose parts are known."""

    ready: Ready
    side: Side
    unfinished: str
    """What is still to be run; empty if the run is finished."""


def compare(
    run_a: Path | str,
    run_b: Path | str,
    catalogue: Catalogue | None = None,
    paired: bool = True,
) -> Compared:
    """Compare the shared measurements of two runs, computed anew for each world.

    Of two measurements that are declared equal in a single world, one is compared.
    Headlines are also compared in each condition of a sweep.

    Raises:
        GdeError: both are one run; paired, and the runs share no world; or they share
        no measurement.
    """
    catalogue = catalogue or Catalogue.default()
    found = _compared(Path(run_a), Path(run_b), catalogue, paired)
    warnings = out_of_reach(found.rows)
    return replace(
        found,
        notes=(*found.notes, *warnings),
        probes=tuple(judged(found.probes)),
    )


def compare_all(
    runs: Sequence[Path], catalogue: Catalogue | None = None
) -> tuple[Compared, ...]:
    """Compare every two of several runs as pairs.

    p values are corrected over all comparisons together.

    Raises:
        GdeError: two of them share no world, or no measurement.
    """
    catalogue = catalogue or Catalogue.default()
    comparisons = []
    rows: list[Row] = []
    probes: list[ProbeRow] = []
    for run_a, run_b in combinations(runs, 2):
        found = _compared(run_a, run_b, catalogue, paired=True)
        comparisons.append(found)
        rows += found.rows
        probes += found.probes

    rows = corrected(rows)
    warnings = out_of_reach(rows)

    # Each comparison gets its own rows back.
    remaining = iter(rows)
    remaining_probes = iter(judged(probes))
    compared = []
    for found in comparisons:
        own_rows = tuple(islice(remaining, len(found.rows)))
        own_probes = tuple(islice(remaining_probes, len(found.probes)))
        notes = (*found.notes, *warnings)
        compared.append(replace(found, rows=own_rows, notes=notes, probes=own_probes))
    return tuple(compared)


def _compared(run_a: Path, run_b: Path, catalogue: Catalogue, paired: bool) -> Compared:
    opened_a = _opened(run_a, catalogue)
    opened_b = _opened(run_b, catalogue)
    if run_a.samefile(run_b):
        raise GdeError(
            f"{run_a} and {run_b} are the same run; choose two different runs"
        )

    metrics, meanings, notes = _shared_metrics(opened_a, opened_b)
    for opened in (opened_a, opened_b):
        if opened.unfinished:
            notes.append(
                f"{opened.side.run}: {opened.unfinished}; longer episodes are missing first"
            )

    # Metrics are computed anew in each world, since a result holds their means alone.
    evidence_a = load_evidence(run_a, catalogue)
    evidence_b = load_evidence(run_b, catalogue)
    a = split(evidence_a, _world)
    b = split(evidence_b, _world)
    shared = a.keys() & b.keys()
    if paired and not shared:
        advice = (
            "use the same environment, --seed and world settings, or pass --unpaired"
        )
        raise GdeError(f"{run_a} and {run_b} share no world: {advice}")
    if paired:
        a = {world: a[world] for world in sorted(shared)}
        b = {world: b[world] for world in sorted(shared)}
    elif shared:
        notes.append(
            f"{len(shared)} worlds are in both runs; drop --unpaired to compare them as pairs"
        )

    # Some numbers belong to a task, e.g. a success and a failure, not to one world.
    tasks_a = split(evidence_a, _task)
    tasks_b = split(evidence_b, _task)
    if paired:
        both = tasks_a.keys() & tasks_b.keys()
        tasks_a = {task: tasks_a[task] for task in sorted(both)}
        tasks_b = {task: tasks_b[task] for task in sorted(both)}
    whole_a = {**tasks_a, **a}
    whole_b = {**tasks_b, **b}

    clusters = {}
    for place, part in [*whole_a.items(), *whole_b.items()]:
        clusters[place] = part.trajectories[0].world.cluster

    conditions = _conditions([(opened_a.ready, whole_a), (opened_b.ready, whole_b)])
    swept = dict.fromkeys(name for labels in conditions.values() for name, _ in labels)
    values_a = _measured(metrics, meanings, a, tasks_a)
    values_b = _measured(metrics, meanings, b, tasks_b)
    _match_contenders(values_a, values_b, meanings)
    rows = _rows(meanings, values_a, values_b, conditions, clusters, paired)
    notes += few_worlds(rows)

    probed_a = _probed(run_a, evidence_a, a)
    probed_b = _probed(run_b, evidence_b, b)
    probes: tuple[ProbeRow, ...] = ()
    if probed_a and probed_b:
        probes = tuple(compare_probes(probed_a, probed_b, paired))
        notes += in_one_run(probed_a, probed_b)
    return Compared(
        runs=(opened_a.side, opened_b.side),
        paired=paired,
        rows=rows,
        notes=tuple(notes),
        swept=tuple(swept),
        probes=probes,
    )


def _world(one: Trajectory) -> str:
    return one.world.id


def _task(one: Trajectory) -> str:
    return one.world.cluster


def _measured(
    metrics: Mapping[str, Declared],
    meanings: Measures,
    worlds: Mapping[str, Evidence],
    tasks: Mapping[str, Evidence],
) -> dict[Quantity, dict[str, float]]:
    """The numbers of each world, or of each task where contenders are compared."""
    found = measured(list(metrics.items()), worlds)
    contending = []
    for name, metric in metrics.items():
        if any(each.contender for each in metric.measures.known):
            contending.append((name, metric))
    of_tasks = measured(contending, tasks)
    for quantity in [*found, *of_tasks]:
        if meanings[quantity.name].contender:
            found[quantity] = of_tasks.get(quantity, {})
    return found


def _match_contenders(
    a: dict[Quantity, dict[str, float]],
    b: dict[Quantity, dict[str, float]],
    meanings: Measures,
) -> None:
    """Set each contender of A alone against each of B alone."""
    for one in list(a):
        label = meanings[one.name].contender
        if not label or one in b or label not in one.where:
            continue
        for other in list(b):
            same_rest = {**other.where, label: ""} == {**one.where, label: ""}
            if other.name != one.name or other in a or not same_rest:
                continue
            names = f"{other.where[label]} against {one.where[label]}"
            restricted = tuple(sorted({**one.where, label: names}.items()))
            pair = replace(one, restricted=restricted)
            a[pair] = a[one]
            b[pair] = b[other]


def _probed(
    run: Path, evidence: Evidence, parts: Mapping[str, Evidence]
) -> ProbedRun | None:
    """The probes of a run in the compared worlds; None before it has a result."""
    folder = RunFolder.open(run)
    if not folder.is_finished:
        return None
    worlds = {}
    for part in parts.values():
        for trajectory in part.trajectories:
            worlds[str(trajectory.key)] = trajectory.world
    return ProbedRun(
        result=folder.read_result(), reports=evidence.probe_reports, worlds=worlds
    )


def _opened(run: Path, catalogue: Catalogue) -> Opened:
    folder = RunFolder.open(run)
    with closing(folder.journal()) as journal:
        plan = folder.plan()
        noted = folder.noted_how(journal)
        ready = resolve(plan, catalogue, absent=True)
        side = Side(
            run=str(run),
            subject=subject(ready, journal),
            models=models_used(journal, plan, noted.prices),
            verdicts=_verdicts(folder),
        )
        return Opened(ready, side, journal.unfinished())


def _verdicts(folder: RunFolder) -> tuple[Measurement, ...]:
    if not folder.is_finished:
        return ()
    result = folder.read_result()
    return tuple(
        one for one in result.measurements if result.meanings[one.name].sentence
    )


def _shared_metrics(
    a: Opened, b: Opened
) -> tuple[dict[str, Declared], Measures, list[str]]:
    """The metrics of both plans as A configures them, with measures and notes."""
    others = {chosen.label: chosen.config for chosen in b.ready.metrics}
    sides = (a.side.run, b.side.run)
    foreign = [run for run in sides if not RunFolder(Path(run)).is_trusted]
    resources = Resources(untrusted(a.ready) if foreign else a.ready)
    metrics: dict[str, Declared] = {}
    declared: list[Measure] = []
    notes: list[str] = []
    for chosen in as_offered(a.ready.metrics):
        name = chosen.label
        offer = chosen.entry.offer
        if name not in others:
            continue

        lacking = chosen.absent
        if foreign and not reads_turns_alone(chosen):
            lacking = f"you do not trust {foreign[0]} (`gde trust {foreign[0]}`)"
        if not lacking and offer.missing():
            lacking = "its packages are not installed"
        if lacking:
            notes.append(f"metric {name!r} is left out: {lacking}")
            continue

        if chosen.config != others[name]:
            configured = f"metric {name!r} is configured differently in {b.side.run}"
            notes.append(f"{configured}: both are measured as in {a.side.run}")
        assert isinstance(offer, MetricOffer)
        metrics[name] = resources.metric_of(chosen)
        declared += offer.measures

    if not metrics:
        advice = "run `gde rescore` on one with the --metric of the other"
        raise GdeError(f"{a.side.run} and {b.side.run} share no metric: {advice}")
    return metrics, Measures(tuple(declared)), notes


def _conditions(runs: Sequence[tuple[Ready, Mapping[str, Evidence]]]) -> Conditions:
    condition_of: dict[str, Condition] = {}
    places: dict[Condition, int] = {}
    for ready, parts in runs:
        planned: list[Condition] = []
        for each in ready.conditions:
            condition = tuple(sorted(each.labels.items()))
            planned.append(condition)
            places.setdefault(condition, len(places))

        for world, part in parts.items():
            for trajectory in part.trajectories:
                with decoding("episodes"):
                    condition = planned[trajectory.key.condition]
                # A world in several conditions belongs to none, so nothing is broken
                # down.
                if condition_of.setdefault(world, condition) != condition:
                    return {}

    n_conditions = len(set(condition_of.values()))
    if n_conditions < 2:
        return {}
    worlds = sorted(condition_of, key=lambda world: places[condition_of[world]])
    return {world: condition_of[world] for world in worlds}


def _rows(
    meanings: Measures,
    a: Mapping[Quantity, Values],
    b: Mapping[Quantity, Values],
    conditions: Conditions,
    clusters: Mapping[str, str],
    paired: bool,
) -> tuple[Row, ...]:
    kept = _comparable(a, b, meanings, paired)
    whole = {
        quantity: values for quantity, values in kept.items() if not quantity.restricted
    }
    headlines = {
        quantity: values
        for quantity, values in whole.items()
        if meanings[quantity.name].headline
    }

    rows: dict[Quantity, Row] = {}
    by_condition = _by_condition(headlines, conditions)
    for quantity, (of_a, of_b) in {**by_condition, **kept}.items():
        meaning = meanings[quantity.name]
        # A cost, such as seconds, is shown but not tested: a difference in it is no
        # finding.
        row = _row(quantity, of_a, of_b, clusters, paired)
        title, _ = meaning.titled(quantity.where)
        reason = row.reason
        if not reason and meaning.cost:
            reason = COST
        rows[quantity] = replace(row, title=title, better=meaning.better, reason=reason)

    # Of two equal tests the first one counts, so headlines come first.
    tested: Quantities = {}
    for quantity, values in {**headlines, **whole}.items():
        if not meanings[quantity.name].cost:
            tested[quantity] = values

    for quantity, earlier in same_tests(tested, paired).items():
        # If the earlier one is not tested, neither is this one.
        if not rows[earlier].reason:
            reason = f"tested as {rows[earlier].title}"
            rows[quantity] = replace(
                rows[quantity], tested_as=earlier.name, reason=reason
            )
    return tuple(corrected(list(rows.values())))


def _comparable(
    values_a: Mapping[Quantity, Values],
    values_b: Mapping[Quantity, Values],
    meanings: Measures,
    paired: bool,
) -> Quantities:
    """Give the quantities of both runs, without those that repeat another one."""
    # In a single world some measurements are equal by definition, and one of them is
    # enough.
    names = {quantity.name for quantity in values_a if quantity in values_b}
    kept: Quantities = {}
    for quantity in values_a:
        if quantity not in values_b or meanings[quantity.name].repeats in names:
            continue
        of_a = values_a[quantity]
        of_b = values_b[quantity]
        # Of paired runs, the worlds in which both have a value, in one order.
        if paired:
            worlds = sorted(of_a.keys() & of_b.keys())
            of_a = {world: of_a[world] for world in worlds}
            of_b = {world: of_b[world] for world in worlds}
        if of_a and of_b:
            kept[quantity] = of_a, of_b
    return kept


def _by_condition(quantities: Quantities, conditions: Conditions) -> Quantities:
    """Restrict the quantities to each condition that has a world of both runs."""
    found: Quantities = {}
    distinct = list(dict.fromkeys(conditions.values()))
    for quantity, (a, b) in quantities.items():
        for labels in distinct:
            of_a = {world: a[world] for world in a if conditions[world] == labels}
            of_b = {world: b[world] for world in b if conditions[world] == labels}
            if of_a and of_b:
                found[replace(quantity, restricted=labels)] = of_a, of_b
    return found


def _row(
    quantity: Quantity, a: Values, b: Values, clusters: Mapping[str, str], paired: bool
) -> Row:
    first = [*a.values()]
    second = [*b.values()]
    of_first = [clusters[world] for world in a]
    of_second = [clusters[world] for world in b]

    # The seed depends on the quantity alone, so that a row is the same whatever else is
    # compared.
    restrictions = [f"{key}={value}" for key, value in quantity.restricted]
    rng = generator(0, "compare", quantity.name, *restrictions)
    if paired:
        found = paired_difference(second, first, of_first, rng)
    else:
        found = unpaired_difference(second, of_second, first, of_first, rng)
    return Row(
        name=quantity.name,
        where=quantity.where,
        unit=quantity.unit,
        n=len(a),
        n_b=len(b),
        clusters=len(set(of_first)),
        clusters_b=len(set(of_second)),
        n_different=found.n_different,
        a=float(cluster_means(first, of_first).mean()),
        b=float(cluster_means(second, of_second).mean()),
        difference=found.estimate.value,
        interval=found.estimate.interval,
        p_permutation=found.permutation.p_value,
        p_wilcoxon=found.signed_rank.p_value,
        rank_biserial=found.rank_biserial.value,
        effect_paper=found.effect_paper.value,
        mde=found.mde.value,
        reason=found.permutation.reason,
    )
