"""Two runs compared: over the worlds they share, or over worlds of their own."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.result import Subject
from gde.errors import GdeError
from gde.numerics.by_world import Quantity, measured, split
from gde.numerics.stats import (
    Interval,
    adjusted,
    benjamini_hochberg,
    cluster_means,
    holm,
    paired_difference,
    unpaired_difference,
)
from gde.parts.metric import Metric
from gde.request.catalogue import Catalogue
from gde.request.resolve import Ready, resolve
from gde.runs.adding import current_plan
from gde.runs.conclusion import as_offered, subject, unfinished
from gde.seeding import generator
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder

ALPHA = 0.05
Values = Mapping[str, float]
"""World to what was measured in it."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement in both runs."""

    name: str
    title: str = ""
    where: Labels
    """What the measurement is restricted to."""
    unit: str
    n: int
    """Worlds of A: when paired, those where both runs have the measurement."""
    n_b: int
    """Worlds of B."""
    n_different: int | None
    """Clusters of worlds in which the runs differ; None without pairs."""
    a: float
    b: float
    difference: float
    """b - a, the mean over clusters of worlds."""
    interval: Interval | None
    p_permutation: float | None
    p_wilcoxon: float | None
    rank_biserial: float | None
    effect_paper: float | None
    """As in Arghal et al. (2026), table 3."""
    mde: float | None
    """Smallest difference found with a power of 80 %."""
    p: float | None = None
    """Corrected after Holm (1979) over the rows of a family: of Wilcoxon's test, or without pairs of permutations."""
    q: float | None = None
    """The same, corrected after Benjamini and Hochberg (1995)."""
    reason: str
    """Why there are no p values; empty otherwise."""

    @property
    def family(self) -> tuple[str, ...]:
        """Measurements of whole worlds are tested together, and each one's breakdown by itself."""
        return (self.name, *self.where) if self.where else ()


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two runs."""

    run: str
    """Its folder."""
    subject: Subject


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the comparison of two runs found."""

    runs: tuple[Side, ...]
    """A and B."""
    paired: bool
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """What a reader must know about how the runs were made comparable."""


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
    """Every measurement that the metrics of both runs give, world by world, measured anew in both; of two that are
    declared to be equal in a single world, one.

    Raises:
        GdeError: paired, and the runs share no world; or they share no measurement.
    """
    catalogue, run_a, run_b = catalogue or Catalogue.default(), Path(run_a), Path(run_b)
    opened = [_opened(run, catalogue) for run in (run_a, run_b)]
    metrics, notes = _shared_metrics(*opened)
    notes += [f"{one.side.run}: {one.unfinished}; long ones are missing first" for one in opened if one.unfinished]
    a, b = (split(load_evidence(run, catalogue), lambda one: one.world.id) for run in (run_a, run_b))
    shared = a.keys() & b.keys()
    if paired and not shared:
        advice = "give both the same environment, --seed and world settings, or compare them with --unpaired"
        raise GdeError(f"{run_a} and {run_b} share no world: {advice}")
    if paired:
        a, b = ({world: run[world] for world in sorted(shared)} for run in (a, b))
    elif shared:
        notes.append(f"{len(shared)} worlds are in both runs: without --unpaired they would be compared as pairs")
    clusters = {world: part.trajectories[0].world.cluster for world, part in [*a.items(), *b.items()]}
    rows = _rows(metrics, a, b, clusters, paired)
    sides = (one.side for one in opened)
    return Compared(runs=tuple(sides), paired=paired, rows=rows, notes=(*notes, *out_of_reach(rows)))


def compare_all(runs: Sequence[Path], catalogue: Catalogue | None = None) -> tuple[Compared, ...]:
    """Each two of several runs compared as pairs, with p values corrected over all of the comparisons together.

    Raises:
        GdeError: two of them share no world, or no measurement.
    """
    catalogue = catalogue or Catalogue.default()
    found = [compare(a, b, catalogue) for a, b in combinations(runs, 2)]
    rows = iter(_corrected([row for one in found for row in one.rows]))
    return tuple(replace(one, rows=tuple(islice(rows, len(one.rows)))) for one in found)


def out_of_reach(rows: Sequence[Row]) -> list[str]:
    """A warning where no row of the whole runs could be significant, whatever the data."""
    tested = [row.n_different for row in rows if not row.where and row.n_different and row.p is not None]
    if not tested or (least := len(tested) * 0.5 ** (max(tested) - 1)) <= ALPHA:
        return []
    found = f"{len(tested)} rows are tested and at most {max(tested)} pairs differ"
    return [f"{found}: no p value can fall below {min(1.0, least):.2g} once corrected; compare more worlds"]


def _opened(run: Path, catalogue: Catalogue) -> Opened:
    folder = RunFolder.open(run)
    with closing(folder.journal(write=False)) as journal:
        ready = resolve(current_plan(folder, journal), catalogue, absent=True)
        return Opened(ready, Side(run=str(run), subject=subject(ready, journal)), unfinished(journal))


def _shared_metrics(a: Opened, b: Opened) -> tuple[list[Shared], list[str]]:
    """The metrics of both plans, as A configures them, and what there is to say about it."""
    others = {chosen.label: chosen.config for chosen in b.ready.metrics}
    resources = Resources(a.ready, keys_to=())
    metrics: list[Shared] = []
    notes: list[str] = []
    for chosen in (chosen for chosen in as_offered(a.ready.metrics) if chosen.label in others):
        name, offer = chosen.label, chosen.entry.offer
        if lacking := chosen.absent or (", ".join(offer.missing()) and "its packages are not installed"):
            notes.append(f"metric {name!r} is left out: {lacking}")
            continue
        if chosen.config != others[name]:
            configured = f"metric {name!r} is configured differently in {b.side.run}"
            notes.append(f"{configured}: both are measured as in {a.side.run}")
        metrics.append(Shared(name, resources.metric(chosen), offer.measures))
    if not metrics:
        advice = "run `gde rescore` on one with the --metric of the other"
        raise GdeError(f"{a.side.run} and {b.side.run} share no metric: {advice}")
    return metrics, notes


def _rows(
    metrics: Sequence[Shared],
    a: Mapping[str, Evidence],
    b: Mapping[str, Evidence],
    clusters: Mapping[str, str],
    paired: bool,
) -> tuple[Row, ...]:
    named = [(one.name, one.metric) for one in metrics]
    meanings = Measures(tuple(measure for one in metrics for measure in one.measures))
    values_a, values_b = measured(named, a), measured(named, b)
    common = [quantity for quantity in values_a if quantity in values_b]
    known = {quantity.name for quantity in common}
    rows = []
    for quantity in (each for each in common if meanings[each.name].repeats not in known):
        of_a, of_b = _aligned(values_a[quantity], values_b[quantity], paired)
        if of_a and of_b:
            row = _row(quantity, of_a, of_b, clusters, paired)
            rows.append(replace(row, title=meanings[quantity.name].titled(quantity.where)[0]))
    return tuple(_corrected(rows))


def _aligned(a: Values, b: Values, paired: bool) -> tuple[Values, Values]:
    """Of paired runs, the worlds in which both have a value, in one order."""
    if not paired:
        return a, b
    worlds = sorted(a.keys() & b.keys())
    return {world: a[world] for world in worlds}, {world: b[world] for world in worlds}


def _row(quantity: Quantity, a: Values, b: Values, clusters: Mapping[str, str], paired: bool) -> Row:
    (first, of_first), (second, of_second) = (([*run.values()], [clusters[world] for world in run]) for run in (a, b))
    rng = generator(0, "compare", quantity.name, *(f"{key}={value}" for key, value in quantity.restricted))
    found = (
        paired_difference(second, first, of_first, rng)
        if paired
        else unpaired_difference(second, of_second, first, of_first, rng)
    )
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


def _corrected(rows: Sequence[Row]) -> list[Row]:
    families: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        families.setdefault(row.family, []).append(i)
    corrected = list(rows)
    for members in families.values():
        raw = [rows[i].p_permutation if rows[i].p_wilcoxon is None else rows[i].p_wilcoxon for i in members]
        for i, p, q in zip(members, adjusted(raw, holm), adjusted(raw, benjamini_hochberg), strict=True):
            corrected[i] = replace(rows[i], p=p, q=q)
    return corrected
