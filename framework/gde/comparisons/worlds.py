"""The worlds in which one of two runs did better, with the episodes to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gde.data.episode_table import Head
from gde.data.grouping import grouped
from gde.data.measure import Measures
from gde.errors import UnknownName
from gde.numerics.by_world import Quantity


@dataclass(frozen=True, kw_only=True)
class WorldOfBoth:
    """A world in which two runs differ in a number."""

    world: str
    a: float
    b: float
    better: str
    """"a" or "b"."""
    episodes_a: tuple[str, ...]
    """Keys of its episodes in A; likewise the following."""
    episodes_b: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class WorldsOfBoth:
    """The worlds in which two runs differ in a number."""

    name: str
    title: str
    unit: str
    equal: int
    """Worlds with the same number in both."""
    worlds: tuple[WorldOfBoth, ...]
    """Those in which A is better come first; the largest difference first."""


def differing_worlds(
    name: str,
    meanings: Measures,
    a: Mapping[Quantity, Mapping[str, float]],
    b: Mapping[Quantity, Mapping[str, float]],
    heads: tuple[Sequence[Head], Sequence[Head]],
) -> WorldsOfBoth:
    """Find the shared worlds in which one of two runs did better.

    Args:
        name: of a number with a better direction.
        meanings: of all numbers.
        a: the numbers of A by world; likewise b.
        heads: the episodes of A and of B.

    Raises:
        UnknownName: both runs have no such number.
    """
    known = {}
    for quantity in a.keys() & b.keys():
        if meanings[quantity.name].better and not quantity.restricted:
            known[quantity.name] = quantity
    if name not in known:
        raise UnknownName("number of both runs with a better direction", name, known)
    of_a, of_b = a[known[name]], b[known[name]]
    measure = meanings[name]
    keys_a, keys_b = (_keys(each) for each in heads)
    sign = -1 if measure.better == "less" else 1
    found = []
    n_equal = 0
    for world in of_a.keys() & of_b.keys():
        value_a, value_b = of_a[world], of_b[world]
        if value_a == value_b:
            n_equal += 1
            continue
        found.append(
            WorldOfBoth(
                world=world,
                a=value_a,
                b=value_b,
                better="b" if sign * (value_b - value_a) > 0 else "a",
                episodes_a=keys_a[world],
                episodes_b=keys_b[world],
            )
        )
    found.sort(key=lambda one: (one.better, -abs(one.b - one.a), one.world))
    return WorldsOfBoth(
        name=name,
        title=measure.title,
        unit=measure.unit,
        equal=n_equal,
        worlds=tuple(found),
    )


def _keys(heads: Sequence[Head]) -> Mapping[str, tuple[str, ...]]:
    """The episodes of each world."""
    by_world = grouped(heads, lambda head: head.world)
    return {
        world: tuple(head.episode for head in own) for world, own in by_world.items()
    }
