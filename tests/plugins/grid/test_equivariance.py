"""A preference among equally good moves is seen on transformed grids, and none is seen
where there is none.
"""

from collections.abc import Mapping
from pathlib import Path

from gde import Choice, Plan, evaluate
from gde.data.result import Measurement

Found = Mapping[tuple[object, ...], Measurement]


def measured(folder: Path, ties: str, transforms: list[str]) -> Found:
    """By name and by what it is restricted to, in open rooms full of ties."""
    plan = Plan(
        environment=Choice(
            name="grid", config={"transform": transforms, "density": 0.0}
        ),
        agent=Choice(name="optimal", config={"ties": ties}),
        metrics=(Choice(name="equivariance"), Choice(name="accuracy")),
        episodes=40,
    )
    return {
        (one.name, *one.where.values()): one
        for one in evaluate(plan, folder / ties).measurements
    }


def test_an_agent_that_prefers_one_of_two_best_moves_is_seen(tmp_path: Path) -> None:
    found = measured(tmp_path, "first", ["none", "reflect", "transpose", "swap"])
    assert found["accuracy",].value == 1
    assert (found["equivariance.p", "transpose"].value or 0) < 0.01
    assert (found["equivariance.distance", "transpose"].value or 0) > 0.3
    # "first" is up before left: a reflection leaves that alone, but turns what is left
    # of ties into right.
    shift = found["equivariance.shift", "transpose", "UP"]
    assert shift.interval is not None and shift.interval[0] > 0
    assert "other" not in found["equivariance.distance", "swap"].name
    assert found["equivariance.distance", "swap"].value is None


def test_an_agent_without_preference_is_not(tmp_path: Path) -> None:
    found = measured(tmp_path, "random", ["none", "reflect", "rotate90"])
    for kind in ("reflect", "rotate90"):
        assert (found["equivariance.p", kind].value or 0) > 0.01
        assert (found["equivariance.distance", kind].value or 1) < 0.5


def test_a_run_without_transforms_has_nothing_to_compare(tmp_path: Path) -> None:
    found = measured(tmp_path, "first", ["none"])
    assert not [name for name, *_ in found if str(name).startswith("equivariance")]
