"""Abilities that a part has of the one that it stands around."""

from inspect import getattr_static

from recipe_world import Recipe

from gde.parts.lending import lend
from gde.parts.snapshots import Replayed


class Inner:
    def told(self) -> str:
        return "inner"

    def own(self) -> str:
        return "inner"

    @property
    def costly(self) -> str:
        raise AssertionError("no property is run")


class Outer:
    def __init__(self, inner: object) -> None:
        lend(self, inner)

    def own(self) -> str:
        return "outer"


def test_methods_of_the_one_within_are_had_beside_ones_own() -> None:
    twice = Outer(Outer(Inner()))
    assert twice.told() == "inner"  # type: ignore[attr-defined]
    assert twice.own() == "outer"
    assert not hasattr(twice, "costly")


def test_abilities_are_where_later_pythons_look_for_them() -> None:
    """From Python 3.12 on, `isinstance` with a protocol looks an ability up so."""
    assert callable(getattr_static(Replayed(Recipe()), "optimum"))
