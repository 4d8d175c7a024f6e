"""Estimate a causal model from data, and the MEG in it with a bootstrap interval.

`python examples/causal_from_data.py` simulates 300 mice that go towards the
cheese 8 times out of 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles, Indices
from gde.numerics.stats import Interval
from gde_plugins.meg.causal import Diagram, DiagramMeg, chance, target_variables

RESAMPLES = 200
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A measurement in a diagram whose tables were estimated."""

    value: float
    """Nats: `plug_in` less its estimated bias, at least 0."""
    plug_in: float
    """In the diagram of the observed frequencies; biased upwards."""
    bias: float
    """Mean excess of resamples over the data."""
    interval: Interval
    """95 %, from resamples, with the bias subtracted twice."""
    n: int


def from_data(
    columns: Mapping[str, ArrayLike], parents: Mapping[str, Sequence[str]]
) -> Diagram:
    """A network whose tables are relative frequencies; uniform where the parents'
    values never occur together.

    Args:
        columns: by variable (N,) observed values, counted from 0; a variable has all
            values up to the largest.
        parents: of each variable in the graph; none for a variable that is not named.

    Raises:
        ValueError: columns of different lengths or of other than whole numbers, or a
        parent without a column.
    """
    data = _columns(columns)
    return _tabulated(
        data, parents, {name: int(each.max()) + 1 for name, each in data.items()}
    )


def estimate(
    columns: Mapping[str, ArrayLike],
    parents: Mapping[str, Sequence[str]],
    measure: Callable[[Diagram], DiagramMeg],
    rng: np.random.Generator,
) -> Estimated:
    """Measure in the diagram of the data, e.g. by `lambda found:
    target_variables(found, ["T"], ["D"])`.

    The data are resampled and measured again: resamples exceed the data by about as
    much as the data exceed the truth (Efron and Tibshirani 1993). Rows are taken to be
    independent.

    Raises:
        ValueError: as `from_data`, or fewer than two rows.
    """
    data = _columns(columns)
    sizes, n = (
        {name: int(each.max()) + 1 for name, each in data.items()},
        len(next(iter(data.values()))),
    )
    if n < 2:
        raise ValueError(f"wanted at least two rows, got {n}")
    plug_in = measure(_tabulated(data, parents, sizes)).value
    again = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        rows = rng.integers(n, size=n)
        again[i] = measure(
            _tabulated(
                {name: each[rows] for name, each in data.items()}, parents, sizes
            )
        ).value
    bias = float(again.mean()) - plug_in
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(again, [tail, 1 - tail]) - 2 * bias
    value = max(0.0, plug_in - bias)
    interval = max(0.0, min(float(low), value)), max(float(high), value)
    return Estimated(value=value, plug_in=plug_in, bias=bias, interval=interval, n=n)


def _columns(columns: Mapping[str, ArrayLike]) -> Mapping[str, Indices]:
    if not isinstance(columns, Mapping) or not columns:
        got = "no column" if isinstance(columns, Mapping) else type(columns).__name__
        raise ValueError(
            f"columns: wanted at least one variable with its values, by name, got {got}"
        )
    return {name: _column(name, values) for name, values in columns.items()}


def _column(name: str, values: ArrayLike) -> Indices:
    column = np.asarray(values)
    if (
        column.ndim != 1
        or column.dtype.kind not in "iu"
        or not len(column)
        or column.min() < 0
    ):
        raise ValueError(
            f"{name!r}: wanted (N,) whole numbers from 0, got {column.dtype} of shape {column.shape}"
        )
    return column.astype(np.intp)


def _tabulated(
    data: Mapping[str, Indices],
    parents: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
) -> Diagram:
    if len({len(each) for each in data.values()}) > 1:
        raise ValueError(
            f"wanted columns of one length, got {', '.join(f'{k}: {len(v)}' for k, v in data.items())}"
        )
    if not isinstance(parents, Mapping):
        raise ValueError(
            f"parents: wanted a list of parents by variable, got {type(parents).__name__}"
        )
    for name, each in parents.items():
        if missing := [one for one in (name, *each) if one not in data]:
            raise ValueError(
                f"parents of {name!r}: wanted variables with a column, got {missing[0]!r}"
            )
    return Diagram(
        *(
            chance(
                name,
                _table(data, name, parents.get(name, ()), sizes),
                parents.get(name, ()),
            )
            for name in data
        )
    )


def _table(
    data: Mapping[str, Indices],
    name: str,
    parents: Sequence[str],
    sizes: Mapping[str, int],
) -> Doubles:
    counts = np.zeros([sizes[each] for each in (*parents, name)])
    np.add.at(counts, tuple(data[each] for each in (*parents, name)), 1.0)
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.divide(
            counts, total, where=total > 0, out=np.full_like(counts, 1 / sizes[name])
        )
    )


def main() -> None:
    """Print the MEG of simulated mice towards the cheese."""
    rng = np.random.default_rng(0)
    cheese = rng.integers(2, size=300)
    goes = np.where(rng.random(300) < 0.8, cheese, 1 - cheese)
    columns = {"S": cheese, "D": goes, "T": (cheese == goes).astype(int)}
    parents = {"D": ["S"], "T": ["S", "D"]}
    found = estimate(
        columns, parents, lambda diagram: target_variables(diagram, ["T"], ["D"]), rng
    )
    print(
        f"{found.value:.2f} nats, 95 % interval {found.interval[0]:.2f} to {found.interval[1]:.2f}"
    )


if __name__ == "__main__":
    main()
