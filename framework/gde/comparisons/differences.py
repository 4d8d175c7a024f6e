"""The rows of a comparison of two runs, corrected for multiple tests."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.comparisons.worlds import WorldsOfBoth
from gde.data.grouping import collected
from gde.data.json import Labels
from gde.data.measure import Better
from gde.data.model_use import ModelUse
from gde.data.result import FEW_WORLDS, Measurement, Subject
from gde.data.verdict import Verdict, outcome_of
from gde.numerics.by_world import Quantity
from gde.numerics.stats import (
    MINIMUM_CLUSTERS,
    Interval,
    adjusted,
    benjamini_hochberg,
    holm,
)

COST = "a cost, not tested"
DECIMALS = 9
"""To which numbers of a world are the same."""
Values = Mapping[str, float]
"""World to what was measured in it."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement in both runs."""

    name: str
    title: str = ""
    better: Better = ""
    """The better direction; empty where neither is better."""
    where: Labels
    """What the measurement is restricted to."""
    unit: str
    n: int
    """Worlds where both runs have the measurement."""
    clusters: int
    """Clusters of these worlds."""
    n_different: int
    """Clusters of worlds in which the runs differ."""
    a: float
    b: float
    difference: float
    """b - a, the mean over clusters of worlds."""
    interval: Interval | None
    """95 %; None with fewer than six clusters, and where the difference is the same in
    all.
    """
    p_permutation: float | None
    p_wilcoxon: float | None
    rank_biserial: float | None
    effect_paper: float | None
    """As in Arghal et al. (2026), table 3."""
    mde: float | None
    """Smallest difference found with a power of 80 %."""
    p: float | None = None
    """Corrected after Holm (1979) over the rows of a family, of Wilcoxon's test."""
    q: float | None = None
    """The same, corrected after Benjamini and Hochberg (1995)."""
    reason: str
    """Why there are no p values; empty otherwise."""
    tested_as: str = ""
    """The name of the row that has the same test: in every world the two go up by as
    much, or one goes down by as much as the other goes up. It counts once.
    """

    @property
    def family(self) -> tuple[str, ...]:
        """The family of a row: whole-world rows share one, each breakdown has its own."""
        return (self.name, *self.where) if self.where else ()

    def verdict(self, control: str) -> Verdict:
        """B against A, which is called so."""
        untested = self.reason.removeprefix("not measured: ")
        return Verdict(
            control=control,
            difference=self.difference,
            interval=self.interval,
            p=self.p,
            detectable=self.mde,
            outcome=outcome_of(self.difference, self.p, self.better),
            worlds=self.n,
            reason=untested if self.p is None else "",
        )


@dataclass(frozen=True, kw_only=True)
class ProbeRow:
    """One headline of a probe in both runs."""

    name: str
    title: str
    better: Better
    """The better direction; empty where neither is better."""
    a: Measurement
    """As in the result of A, with its verdict against the strongest control."""
    b: Measurement
    between: Verdict | None
    """B against A, paired over the worlds that both held out or, for a code length,
    that both coded. None where turns have no scores.
    """


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two runs."""

    run: str
    """Its folder."""
    subject: Subject
    models: tuple[ModelUse, ...] = ()
    """The language models that answered in it."""
    verdicts: tuple[Measurement, ...] = ()
    """The verdicts of its metrics; none before it has a result."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the comparison of two runs found."""

    runs: tuple[Side, ...]
    """A and B."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    """What a reader must know about how the runs were made comparable."""
    swept: tuple[str, ...] = ()
    """The settings in whose conditions they were compared; empty for none."""
    probes: tuple[ProbeRow, ...] = ()
    """The headlines of probes; the first fit of each probe is its main one."""
    worlds: WorldsOfBoth | None = None
    """The worlds in which they differ in one number, where it was asked for."""


def corrected(rows: Sequence[Row]) -> list[Row]:
    """Give the rows with p values corrected over their families.

    No test counts twice.
    """
    families = collected((row.family, i) for i, row in enumerate(rows))

    found = list(rows)
    for members in families.values():
        raw = [None if rows[i].reason else rows[i].p_wilcoxon for i in members]
        p_values = adjusted(raw, holm)
        q_values = adjusted(raw, benjamini_hochberg)
        for i, p, q in zip(members, p_values, q_values, strict=True):
            found[i] = replace(rows[i], p=p, q=q)
    return found


def same_tests(
    values: Mapping[Quantity, tuple[Values, Values]],
) -> dict[Quantity, Quantity]:
    """Map a quantity to an earlier one whose test is the same.

    The share of episodes that ended at the horizon and the share that reached the goal
    are an example.

    Args:
        values: of whole worlds, in both runs. Tests look at the differences in each
            world alone, which `length` and `efficiency.regret` may have in common
            without being equal.
    """
    first: dict[Hashable, Quantity] = {}
    found: dict[Quantity, Quantity] = {}
    for quantity, (a, b) in values.items():
        changes = np.array([b[world] - a[world] for world in a])

        # Adding 0 turns -0 into 0, which has other bytes.
        changes = np.round(changes, DECIMALS) + 0.0
        if not np.any(changes):
            # Nothing is tested.
            continue

        # Two-sided tests do not see the sign, so the first change is made positive.
        first_change = changes[np.flatnonzero(changes)[0]]
        unsigned = changes * np.sign(first_change) + 0.0
        place = (tuple(a), unsigned.tobytes())
        other = first.setdefault(place, quantity)
        if other is not quantity:
            found[quantity] = other
    return found


def few_worlds(rows: Sequence[Row]) -> list[str]:
    """Warn of rows over too few independent worlds to say much."""
    whole = [row for row in rows if not row.where]
    few = [row for row in whole if row.clusters < FEW_WORLDS]
    if not few:
        return []

    # Of worlds that are variations of one another, only one counts.
    counted = _range([row.n for row in few], "world")
    clusters = [row.clusters for row in few]
    if any(row.clusters < row.n for row in few):
        counted = f"{counted} in {_range(clusters, 'cluster')}"
    which = "compared"
    if len(few) < len(whole):
        which = f"{len(few)} of {len(whole)} rows compared"
    notes = [
        f"{which} over {counted}, fewer than {FEW_WORLDS}: too few for a conclusion"
    ]
    if min(clusters) < MINIMUM_CLUSTERS:
        notes.append(f"no interval from fewer than {MINIMUM_CLUSTERS} clusters")
    return notes


def _range(numbers: Sequence[int], noun: str) -> str:
    """The smallest and the largest number, e.g. "2 to 9 worlds"."""
    least = min(numbers)
    most = max(numbers)
    text = f"{most} {noun}" if most == 1 else f"{most} {noun}s"
    return text if least == most else f"{least} to {text}"
