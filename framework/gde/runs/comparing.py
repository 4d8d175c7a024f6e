"""Two runs compared: over the worlds they share, or over worlds of their own."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.errors import GdeError
from gde.numerics.by_world import Quantity, measured, split
from gde.numerics.stats import cluster_means, paired_difference, unpaired_difference
from gde.offers import MetricOffer
from gde.parts.metric import Metric
from gde.request.catalogue import Catalogue
from gde.request.resolve import Ready, resolve
from gde.runs.adding import current_plan
from gde.runs.conclusion import as_offered, subject, unfinished
from gde.runs.differences import COST, Compared, Row, Side, Values, corrected, few_worlds, out_of_reach, same_tests
from gde.seeding import generator
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder

Condition = tuple[tuple[str, str | int | float | bool], ...]
"""Its labels, sorted."""
Quantities = dict[Quantity, tuple[Values, Values]]
"""What was measured in both runs."""
Conditions = Mapping[str, Condition]
"""World to its condition; worlds in the order of the plan's conditions. Empty where there is one condition, or a world
lies in several."""


class Opened(NamedTuple):
    """A run whose parts are known."""

    ready: Ready
    side: Side
    unfinished: str
    """What is still to be run; empty for nothing."""


class Shared(NamedTuple):
    """A metric of both runs."""

    name: str
    metric: Metric
    measures: tuple[Measure, ...]


def compare(run_a: Path | str, run_b: Path | str, catalogue: Catalogue | None = None, paired: bool = True) -> Compared:
    """Compare all measurements that the metrics of both runs give, world by world, measured anew in both.

    Of two measurements that are declared equal in a single world, one is compared. Headlines are also compared in each
    condition of a sweep.

    Raises:
        GdeError: both are one run; paired, and the runs share no world; or they share no measurement.
    """
    found = _compared(Path(run_a), Path(run_b), catalogue or Catalogue.default(), paired)
    return _noted(found, out_of_reach(found.rows, found.swept))


def compare_all(runs: Sequence[Path], catalogue: Catalogue | None = None) -> tuple[Compared, ...]:
    """Compare every two of several runs as pairs, with p values corrected over all comparisons together.

    Raises:
        GdeError: two of them share no world, or no measurement.
    """
    catalogue = catalogue or Catalogue.default()
    found = [_compared(a, b, catalogue, paired=True) for a, b in combinations(runs, 2)]
    rows: list[Row] = []
    swept: dict[str, None] = {}
    for one in found:
        rows += one.rows
        swept.update(dict.fromkeys(one.swept))
    rows = corrected(rows)
    warnings = out_of_reach(rows, [*swept])

    # Each comparison gets its own rows back.
    left = iter(rows)
    return tuple(_noted(replace(one, rows=tuple(islice(left, len(one.rows)))), warnings) for one in found)


def _noted(one: Compared, warnings: Sequence[str]) -> Compared:
    return replace(one, notes=(*one.notes, *warnings))


def _compared(run_a: Path, run_b: Path, catalogue: Catalogue, paired: bool) -> Compared:
    opened = [_opened(run, catalogue) for run in (run_a, run_b)]
    if run_a.samefile(run_b):
        raise GdeError(f"{run_a} and {run_b} are the same run: name another one to compare it with")
    metrics, notes = _shared_metrics(*opened)
    notes += [f"{one.side.run}: {one.unfinished}; long ones are missing first" for one in opened if one.unfinished]

    a = _worlds(run_a, catalogue)
    b = _worlds(run_b, catalogue)
    shared = a.keys() & b.keys()
    if paired and not shared:
        advice = "give both the same environment, --seed and world settings, or compare them with --unpaired"
        raise GdeError(f"{run_a} and {run_b} share no world: {advice}")
    if paired:
        a = {world: a[world] for world in sorted(shared)}
        b = {world: b[world] for world in sorted(shared)}
    elif shared:
        notes.append(f"{len(shared)} worlds are in both runs: without --unpaired they would be compared as pairs")
    clusters = {world: part.trajectories[0].world.cluster for world, part in [*a.items(), *b.items()]}
    conditions = _conditions([(one.ready, run) for one, run in zip(opened, (a, b), strict=True)])
    rows = _rows(metrics, a, b, conditions, clusters, paired)
    swept = tuple(dict.fromkeys(name for labels in conditions.values() for name, _ in labels))
    notes += few_worlds(rows, swept)
    return Compared(runs=tuple(one.side for one in opened), paired=paired, rows=rows, notes=tuple(notes), swept=swept)


def _worlds(run: Path, catalogue: Catalogue) -> dict[str, Evidence]:
    """Split the evidence of a run by world."""
    return split(load_evidence(run, catalogue), lambda one: one.world.id)


def _opened(run: Path, catalogue: Catalogue) -> Opened:
    folder = RunFolder.open(run)
    with closing(folder.journal(write=False)) as journal:
        ready = resolve(current_plan(folder, journal), catalogue, absent=True)
        return Opened(ready, Side(run=str(run), subject=subject(ready, journal)), unfinished(journal))


def _shared_metrics(a: Opened, b: Opened) -> tuple[list[Shared], list[str]]:
    """Give the metrics of both plans, as A configures them, and notes for the reader."""
    others = {chosen.label: chosen.config for chosen in b.ready.metrics}
    resources = Resources(a.ready, keys_to=())
    metrics: list[Shared] = []
    notes: list[str] = []
    for chosen in as_offered(a.ready.metrics):
        name = chosen.label
        offer = chosen.entry.offer
        if name not in others:
            continue
        if lacking := chosen.absent or (", ".join(offer.missing()) and "its packages are not installed"):
            notes.append(f"metric {name!r} is left out: {lacking}")
            continue
        if chosen.config != others[name]:
            configured = f"metric {name!r} is configured differently in {b.side.run}"
            notes.append(f"{configured}: both are measured as in {a.side.run}")
        assert isinstance(offer, MetricOffer)
        metrics.append(Shared(name, resources.metric(chosen), offer.measures))
    if not metrics:
        advice = "run `gde rescore` on one with the --metric of the other"
        raise GdeError(f"{a.side.run} and {b.side.run} share no metric: {advice}")
    return metrics, notes


def _conditions(runs: Sequence[tuple[Ready, Mapping[str, Evidence]]]) -> Conditions:
    conditions: dict[str, Condition] = {}
    places: dict[Condition, int] = {}
    for ready, parts in runs:
        planned = [tuple(sorted(condition.labels.items())) for condition in ready.conditions]
        for condition in planned:
            places.setdefault(condition, len(places))
        for world, part in parts.items():
            for one in part.trajectories:
                condition = planned[one.key.condition]
                if conditions.setdefault(world, condition) != condition:
                    # The world lies in several conditions.
                    return {}
    if len(set(conditions.values())) < 2:
        return {}
    return dict(sorted(conditions.items(), key=lambda pair: places[pair[1]]))


def _rows(
    metrics: Sequence[Shared],
    a: Mapping[str, Evidence],
    b: Mapping[str, Evidence],
    conditions: Conditions,
    clusters: Mapping[str, str],
    paired: bool,
) -> tuple[Row, ...]:
    named = [(one.name, one.metric) for one in metrics]
    declared: list[Measure] = []
    for one in metrics:
        declared += one.measures
    meanings = Measures(tuple(declared))

    values_a = measured(named, a)
    values_b = measured(named, b)
    common = {each: _aligned(values_a[each], values_b[each], paired) for each in values_a if each in values_b}
    known = {quantity.name for quantity in common}
    kept: Quantities = {}
    headlines: Quantities = {}
    others: Quantities = {}
    for quantity, runs in common.items():
        meaning = meanings[quantity.name]
        if meaning.repeats in known or not all(runs):
            continue
        kept[quantity] = runs
        if not quantity.restricted:
            group = headlines if meaning.headline else others
            group[quantity] = runs

    # Of two equal tests the first one counts, so headlines come first.
    tested = {each: runs for each, runs in {**headlines, **others}.items() if not meanings[each.name].cost}
    counterfactuals = same_tests(tested, paired)
    rows: dict[Quantity, Row] = {}
    for quantity, (of_a, of_b) in {**_by_condition(headlines, conditions), **kept}.items():
        meaning = meanings[quantity.name]
        row = _row(quantity, of_a, of_b, clusters, paired)
        reason = row.reason or (COST if meaning.cost else "")
        rows[quantity] = replace(row, title=meaning.titled(quantity.where)[0], reason=reason)
    for quantity, counterfactual in counterfactuals.items():
        # If the counterfactual is not tested, neither is.
        if not rows[counterfactual].reason:
            reason = f"tested as {rows[counterfactual].title}"
            rows[quantity] = replace(rows[quantity], tested_as=counterfactual.name, reason=reason)
    return tuple(corrected([*rows.values()]))


def _by_condition(quantities: Quantities, conditions: Conditions) -> Quantities:
    """Restrict the quantities to each condition that has a world of both runs."""
    found: Quantities = {}
    for quantity, (a, b) in quantities.items():
        for labels in dict.fromkeys(conditions.values()):
            of_a = {world: a[world] for world in a if conditions[world] == labels}
            of_b = {world: b[world] for world in b if conditions[world] == labels}
            if of_a and of_b:
                found[replace(quantity, restricted=labels)] = of_a, of_b
    return found


def _aligned(a: Values, b: Values, paired: bool) -> tuple[Values, Values]:
    """Of paired runs, the worlds in which both have a value, in one order."""
    if not paired:
        return a, b
    worlds = sorted(a.keys() & b.keys())
    return {world: a[world] for world in worlds}, {world: b[world] for world in worlds}


def _row(quantity: Quantity, a: Values, b: Values, clusters: Mapping[str, str], paired: bool) -> Row:
    first = [*a.values()]
    second = [*b.values()]
    of_first = [clusters[world] for world in a]
    of_second = [clusters[world] for world in b]
    rng = generator(0, "compare", quantity.name, *(f"{key}={value}" for key, value in quantity.restricted))
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
