"""Two runs compared over the worlds that they share."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

from gde.comparisons.differences import (
    COST,
    Compared,
    ProbeRow,
    Row,
    Values,
    corrected,
    few_worlds,
    same_tests,
)
from gde.comparisons.opening import Episodes, Opened, Shared
from gde.comparisons.probes import (
    compare_probes,
    in_one_run,
    with_outcomes,
)
from gde.comparisons.worlds import differing_worlds
from gde.data.measure import Measures
from gde.errors import GdeError
from gde.numerics.by_world import Quantity
from gde.numerics.stats import cluster_means, paired_difference
from gde.request.catalogue import Catalogue
from gde.seeding import generator
from gde.stages.model_use import mixtures
from gde.store.damage import decoding

Condition = tuple[tuple[str, str | int | float | bool], ...]
"""The labels of a condition, sorted by name."""
Quantities = dict[Quantity, tuple[Values, Values]]
"""Quantity to its values in A and B."""
Conditions = Mapping[str, Condition]
"""World to its condition; worlds in the order of the plan's conditions. Empty where
there is one condition, or a world lies in several.
"""


def compare(
    run_a: Path | str,
    run_b: Path | str,
    catalogue: Catalogue | None = None,
    episodes: str = "",
) -> Compared:
    """Compare the shared measurements of two runs, computed anew for each world.

    Of two measurements that are declared equal in a single world, one is compared.
    Headlines are also compared in each condition of a sweep.

    Args:
        run_a: folder of A.
        run_b: folder of B.
        catalogue: the installed parts.
        episodes: a number with a better direction: the worlds in which one of the runs
            is better in it are listed, with their episodes.

    Raises:
        UnknownName: both have no such number.
        GdeError: both are one run; or they share no world, or no measurement.
    """
    [found] = compare_all([Path(run_a), Path(run_b)], catalogue, episodes)
    return found


def compare_all(
    runs: Sequence[Path], catalogue: Catalogue | None = None, episodes: str = ""
) -> tuple[Compared, ...]:
    """Compare every two of several runs as pairs.

    p values are corrected over all comparisons together.

    Raises:
        GdeError: two of them share no world, or no measurement.
    """
    opened = _Runs(runs, catalogue)
    pairs = combinations(range(len(runs)), 2)
    comparisons = [opened.compared(i, j, episodes) for i, j in pairs]
    rows = corrected([row for one in comparisons for row in one.rows])

    # Each comparison gets its own rows back.
    remaining = iter(rows)
    probes = iter(with_outcomes([row for one in comparisons for row in one.probes]))
    found = []
    for one in comparisons:
        own_rows = tuple(islice(remaining, len(one.rows)))
        own_probes = tuple(islice(probes, len(one.probes)))
        found.append(replace(one, rows=own_rows, probes=own_probes))
    return tuple(found)


class _Runs:
    """Runs of which each is opened and read once, however many pairs it is in."""

    def __init__(self, runs: Sequence[Path], catalogue: Catalogue | None) -> None:
        self._catalogue = catalogue or Catalogue.default()
        self._opened = [Opened.of(run, self._catalogue) for run in runs]
        self._episodes: dict[tuple[int, str], Episodes] = {}

    def compared(self, i: int, j: int, episodes: str) -> Compared:
        """Two of the runs compared, without correction over other pairs."""
        opened_a, opened_b = self._opened[i], self._opened[j]
        if opened_a.folder.path.samefile(opened_b.folder.path):
            raise GdeError(
                f"{opened_a.side.run} and {opened_b.side.run} are the same run; choose two different runs"
            )
        shared = Shared.of(opened_a, opened_b)
        a, b = self._read(i, shared), self._read(j, shared)
        return _compared(a, b, shared, episodes)

    def _read(self, i: int, shared: Shared) -> Episodes:
        """The episodes of a run, with the facts of the shared metrics."""
        metrics = [(name, one.config) for name, (one, _) in shared.chosen.items()]
        key = i, repr(metrics)
        if key not in self._episodes:
            self._episodes[key] = Episodes.of(self._opened[i], shared, self._catalogue)
        return self._episodes[key]


def _compared(a: Episodes, b: Episodes, shared: Shared, episodes: str) -> Compared:
    run_a, run_b = a.opened.side.run, b.opened.side.run
    notes = [*shared.notes, *a.notes, *b.notes]
    for opened in (a.opened, b.opened):
        if opened.unfinished:
            notes.append(
                f"{opened.side.run}: {opened.unfinished}; longer episodes are missing first"
            )
        for sentence in mixtures(opened.side.models):
            notes.append(f"{opened.side.run}: {sentence.removesuffix('.')}")

    worlds = a.worlds & b.worlds
    tasks = a.tasks & b.tasks
    if not worlds:
        advice = "use the same environment, seed and world settings"
        raise GdeError(f"{run_a} and {run_b} share no world: {advice}")

    conditions = _conditions([a, b], worlds | tasks)
    swept = dict.fromkeys(name for labels in conditions.values() for name, _ in labels)
    values_a = a.measured(shared, worlds, tasks)
    values_b = b.measured(shared, worlds, tasks)
    _match_contenders(values_a, values_b, shared.meanings)
    clusters = {task: task for task in tasks}
    clusters |= {head.world: head.cluster for head in (*a.heads, *b.heads)}
    rows = _rows(shared.meanings, values_a, values_b, conditions, clusters)
    notes += few_worlds(rows)

    probed_a = a.probed(worlds)
    probed_b = b.probed(worlds)
    probes: tuple[ProbeRow, ...] = ()
    if probed_a and probed_b:
        probes = tuple(compare_probes(probed_a, probed_b))
        notes += in_one_run(probed_a, probed_b)
    return Compared(
        runs=(a.opened.side, b.opened.side),
        rows=rows,
        notes=tuple(notes),
        swept=tuple(swept),
        probes=probes,
        worlds=(
            differing_worlds(
                episodes, shared.meanings, values_a, values_b, (a.heads, b.heads)
            )
            if episodes
            else None
        ),
    )


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


def _conditions(runs: Sequence[Episodes], places: Set[str]) -> Conditions:
    """The condition of each of the worlds and tasks."""
    condition_of: dict[str, Condition] = {}
    order: dict[Condition, int] = {}
    for run in runs:
        planned: list[Condition] = []
        for each in run.opened.ready.conditions:
            condition = tuple(sorted(each.labels.items()))
            planned.append(condition)
            order.setdefault(condition, len(order))

        for head in run.heads:
            with decoding("episodes"):
                condition = planned[head.condition]
            # A world in several conditions belongs to none, so nothing is broken down.
            for place in places & {head.cluster, head.world}:
                if condition_of.setdefault(place, condition) != condition:
                    return {}

    n_conditions = len(set(condition_of.values()))
    if n_conditions < 2:
        return {}
    worlds = sorted(condition_of, key=lambda world: order[condition_of[world]])
    return {world: condition_of[world] for world in worlds}


def _rows(
    meanings: Measures,
    a: Mapping[Quantity, Values],
    b: Mapping[Quantity, Values],
    conditions: Conditions,
    clusters: Mapping[str, str],
) -> tuple[Row, ...]:
    kept = _comparable(a, b, meanings)
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
        row = _row(quantity, of_a, of_b, clusters)
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

    for quantity, earlier in same_tests(tested).items():
        # If the earlier one is not tested, neither is this one.
        if not rows[earlier].reason:
            reason = f"tested as {rows[earlier].title}"
            rows[quantity] = replace(
                rows[quantity], tested_as=earlier.name, reason=reason
            )
    return tuple(rows.values())


def _comparable(
    values_a: Mapping[Quantity, Values],
    values_b: Mapping[Quantity, Values],
    meanings: Measures,
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
        # The worlds in which both have a value, in one order.
        worlds = sorted(of_a.keys() & of_b.keys())
        if worlds:
            kept[quantity] = (
                {world: of_a[world] for world in worlds},
                {world: of_b[world] for world in worlds},
            )
    return kept


def _by_condition(quantities: Quantities, conditions: Conditions) -> Quantities:
    """Restrict the quantities to each condition that has a world of both runs."""
    found: Quantities = {}
    distinct = list(dict.fromkeys(conditions.values()))
    for quantity, (a, b) in quantities.items():
        for labels in distinct:
            of_a = {world: a[world] for world in a if conditions[world] == labels}
            if of_a:
                of_b = {world: b[world] for world in of_a}
                found[replace(quantity, restricted=labels)] = of_a, of_b
    return found


def _row(quantity: Quantity, a: Values, b: Values, clusters: Mapping[str, str]) -> Row:
    first = [*a.values()]
    second = [*b.values()]
    of_worlds = [clusters[world] for world in a]

    # The seed depends on the quantity alone, so that a row is the same whatever else is
    # compared.
    restrictions = [f"{key}={value}" for key, value in quantity.restricted]
    rng = generator(0, "compare", quantity.name, *restrictions)
    found = paired_difference(second, first, of_worlds, rng)
    return Row(
        name=quantity.name,
        where=quantity.where,
        unit=quantity.unit,
        n=len(a),
        clusters=len(set(of_worlds)),
        n_different=found.n_different,
        a=float(cluster_means(first, of_worlds).mean()),
        b=float(cluster_means(second, of_worlds).mean()),
        difference=found.estimate.value,
        interval=found.estimate.interval,
        p_permutation=found.permutation.p_value,
        p_wilcoxon=found.signed_rank.p_value,
        rank_biserial=found.rank_biserial.value,
        effect_paper=found.effect_paper.value,
        mde=found.mde.value,
        reason=found.permutation.reason,
    )
