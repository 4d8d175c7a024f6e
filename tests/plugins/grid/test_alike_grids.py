"""Grids that are shown alike are of one cluster of a split, whatever their seeds."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.stages.alike_worlds import joined_clusters


def played(config: Mapping[str, Json], episodes: int, folder: Path) -> Evidence:
    plan = Plan(
        environment=Choice(name="grid", config=config),
        agent=Choice(name="optimal"),
        metrics=(Choice(name="success"),),
        episodes=episodes,
    )
    evaluate(plan, folder)
    return load_evidence(folder)


def parted(evidence: Evidence, clusters: Mapping[str, str]) -> int:
    """The number of first observations that worlds of several clusters share."""
    found = defaultdict(set)
    for one in evidence.trajectories:
        found[one.turns[0].observation.text].add(clusters[str(one.key)])
    return sum(len(each) > 1 for each in found.values())


@pytest.mark.parametrize(
    "config",
    [
        {"size": 5, "density": 0.0, "transform": ["none", "reflect"]},
        {"size": 5, "density": 0.5, "transform": ["none", "rotate90", "swap"]},
        {"size": 5, "density": 0.5, "view_radius": 1},
    ],
)
def test_alike_grids_of_several_seeds_are_one_cluster(
    config: Mapping[str, Json], tmp_path: Path
) -> None:
    evidence = played(config, 40, tmp_path / "run")
    own = {str(one.key): one.world.cluster for one in evidence.trajectories}
    assert parted(evidence, own) > 0
    joined = joined_clusters(evidence.trajectories)
    assert parted(evidence, joined) == 0
    # What is not alike stays apart.
    assert len(set(joined.values())) > 5


@pytest.mark.parametrize("density", [0.0, 0.5])
def test_equal_grids_of_several_seeds_are_one_world(
    density: float, tmp_path: Path
) -> None:
    evidence = played({"size": 5, "density": density}, 40, tmp_path / "run")
    own = {str(one.key): one.world.cluster for one in evidence.trajectories}
    assert len(set(own.values())) < 40
    assert parted(evidence, own) == 0
    assert joined_clusters(evidence.trajectories) == own


def test_equal_walls_are_not_alike(tmp_path: Path) -> None:
    """An open room has the same walls for every seed, but agent and goal elsewhere."""
    evidence = played({"size": 7, "density": 0.0}, 12, tmp_path / "run")
    assert len({str(one.world.facts["rows"]) for one in evidence.trajectories}) == 1
    assert len(set(joined_clusters(evidence.trajectories).values())) > 6
