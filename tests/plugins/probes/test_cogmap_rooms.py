"""The map of another world than a grid: rooms with a door, balls and keys, decoded from
activations that hold it.
"""

from typing import Any

import numpy as np
import pytest

from gde.data.cell_map import CellMap
from gde.data.observation import State, World
from gde.data.probe import ProbeDataset
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.testing.episodes import Move, episode_of
from gde_plugins.pages.figures.pictures import decoded_picture, true_picture
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.maps.probe import CogmapProbe, CogmapReadout

SIZE, WIDTH = 7, 128
CONFIG = CogmapConfig(size=SIZE, hidden=64, epochs=40, batch=16)
KINDS = ["empty", "agent", "wall", "door", "ball", "key"]
ROOMS: dict[str, Any] = {
    "rows": ["#######", "#__#__#", "#__#__#", "#__#__#", "#######"],
    "kinds": KINDS,
    "things": {
        "agent": {"kind": "agent"},
        "door": {"kind": "door"},
        "ball": {"kind": "ball"},
        "key 1": {"kind": "key"},
        "key 2": {"kind": "key"},
    },
}
FREE = [(row, column) for row in (1, 2, 3) for column in (1, 2, 4, 5)]


def rooms(seed: int) -> Trajectory:
    """One turn in two rooms with a door between them, a ball, and one key or two."""
    rng = np.random.default_rng(seed)
    agent, ball, first, second = (
        FREE[index] for index in rng.choice(len(FREE), 4, replace=False)
    )
    now = {
        "agent": {"place": list(agent), "direction": [0, 1]},
        "ball": [*ball],
        "key 1": [*first],
        "key 2": [*second] if rng.random() < 0.5 else None,
        "door": {"place": [int(rng.integers(1, 4)), 3], "note": "red, locked"},
    }
    move = Move(action="go", state=State(facts=now))
    return episode_of(
        [move], world=World(id=str(seed), facts=ROOMS), index=seed, seed=seed
    )


def planted(seeds: range) -> ProbeDataset:
    """Activations that hold every cell's kind, linearly and noisily, and the probe's
    own labels.
    """
    labels = [CogmapProbe(CONFIG).labels(rooms(seed)) for seed in seeds]
    cells = np.concatenate([one.values for one in labels])
    rng = np.random.default_rng(seeds.start)
    inside = np.eye(len(KINDS) + 1)[cells[:, :5]].reshape(len(cells), -1)
    embedding = np.random.default_rng(0).normal(size=(inside.shape[1], WIDTH)) / 4
    inputs = (
        inside @ embedding + rng.normal(scale=0.05, size=(len(cells), WIDTH))
    ).astype(np.float32)
    groups = np.array([str(seed) for seed in seeds])
    return ProbeDataset(
        inputs=inputs, labels=cells, groups=groups, classes=labels[0].classes
    )


@pytest.fixture(scope="module")
def fitted() -> CogmapReadout:
    readout = CogmapProbe(CONFIG).fit(
        "mlp", planted(range(300)), np.random.default_rng(0)
    )
    assert isinstance(readout, CogmapReadout)
    return readout


def test_classes_are_the_kinds_of_the_record_and_padding() -> None:
    labels = CogmapProbe(CONFIG).labels(rooms(1))
    assert labels.classes == (*KINDS, "pad")
    (cells,) = labels.values
    assert (cells[5:] == labels.classes.index("pad")).all()
    assert cells[tuple(rooms(1).turns[0].state.facts["ball"])] == KINDS.index("ball")  # type: ignore[union-attr,arg-type]


def test_what_is_planted_is_found_by_the_names_of_the_kinds(
    fitted: CogmapReadout,
) -> None:
    test = planted(range(1000, 1080))
    found = {
        each.name: each.value
        for each in CogmapProbe(CONFIG).score(fitted, test, np.random.default_rng(0))
    }
    assert {f"recall.{kind}" for kind in test.classes} < found.keys()
    assert {name for name in found if name.startswith("distance.")} == {
        f"distance.{x}" for x in ("agent", "door", "ball")
    }
    for kind in ("agent", "door", "ball"):
        assert (found[f"distance.{kind}"] or 0) < 1
    assert (found["recall.wall"] or 0) > 0.75
    assert (found["recall.pad"] or 0) > 0.9


def test_truth_and_decoded_map_are_drawn_alike(fitted: CogmapReadout) -> None:
    trajectory, test = rooms(1000), planted(range(1000, 1001))
    state = trajectory.turns[0].state
    assert state is not None
    shown = CellMap.from_record(trajectory.world, state)
    truth, decoded = (
        true_picture(shown, [], None),
        decoded_picture(fitted.predict(test.inputs)[0], shown),
    )
    assert 'viewBox="0 0 7 5"' in truth
    assert 'viewBox="0 0 7 5"' in decoded
    assert "door (red, locked) at" in truth
    assert "(red, locked)" in truth
    assert "door likeliest at" in decoded


def test_a_readout_knows_its_classes_again(fitted: CogmapReadout) -> None:
    inputs = planted(range(3)).inputs
    again = CogmapReadout.from_arrays("mlp", fitted.arrays())
    assert again.predict(inputs).shape == (3, SIZE, SIZE, len(KINDS) + 1)
    assert (again.predict(inputs) == fitted.predict(inputs)).all()


def test_wrong_facts_are_named_with_their_episode() -> None:
    trajectory = rooms(5)
    trajectory.turns[0].state.facts["ball"] = [9, 9]  # type: ignore[union-attr,index]
    with pytest.raises(
        GdeError,
        match=r"cogmap: turn 0 of episode 0/5/0: 'ball': wanted a place on a map of 5x7",
    ):
        CogmapProbe(CONFIG).labels(trajectory)
