"""A probe is never scored on a grid that it was trained on, end to end."""

from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.request.catalogue import Catalogue

PLAN = Plan(
    environment=Choice(
        name="grid",
        config={"size": 5, "density": 0.0, "transform": ["none", "reflect"]},
    ),
    agent=Choice(name="gpt-oss", config={"model": "walker"}),
    probes=(Choice(name="cogmap", config={"positions": ["pre"], "size": 5}),),
    metrics=(Choice(name="success"),),
    episodes=25,
    initialisations=1,
    learning=False,
)


@pytest.mark.extended
def test_no_first_observation_is_trained_and_tested_on(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    """A reflected grid is often the grid of another seed."""
    evaluate(PLAN, tmp_path / "run", catalogue)
    evidence = load_evidence(tmp_path / "run", catalogue)
    shown = {}
    clusters_with: dict[str, set[str]] = {}
    for one in evidence.trajectories:
        text = one.turns[0].observation.text
        shown[str(one.key)] = text
        clusters_with.setdefault(text, set()).add(one.world.cluster)
    assert any(len(each) > 1 for each in clusters_with.values())

    ours, *controls = evidence.probe_reports
    assert ours.fit.control == "none"
    # Maps are decoded in all held-out turns.
    held_out = {episode for episode, _ in ours.rows}
    tested = {shown[episode] for episode in held_out}
    trained = {shown[episode] for episode in shown.keys() - held_out}
    assert tested and trained
    assert not tested & trained

    # Alike worlds count as one.
    counted: dict[str, set[str]] = {}
    for (episode, _), world in zip(ours.rows, ours.worlds, strict=True):
        counted.setdefault(shown[episode], set()).add(world)
    assert all(len(each) == 1 for each in counted.values())

    # One turn of each world counts in each of two conditions.
    met = sorted({*zip(ours.worlds, map(condition_of, ours.rows), strict=True)})
    assert {condition for _, condition in met} == {"0", "1"}
    assert ours.n_test == len(met) < len(ours.rows)

    world_of = dict(zip(ours.rows, ours.worlds, strict=True))
    for report in controls:
        assert report.worlds == tuple(world_of[row] for row in report.rows)
        if report.fit.control == "untrained":
            # Random weights are read in the turns that count alone.
            read = zip(report.worlds, map(condition_of, report.rows), strict=True)
            assert sorted(read) == met
        else:
            assert report.rows == ours.rows


def condition_of(row: tuple[str, int]) -> str:
    return row[0].partition("/")[0]
