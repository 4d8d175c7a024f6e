"""Interior walls that are planted linearly, or only non-linearly, at a known noise: who
finds them, and who must not.

Every interior cell is a wall or free by a coin of its own, so that nothing but the
activations tells. Linearly, each coin is +1 or -1 along a direction of its own, beside
normal noise. Non-linearly, all coins of a turn are multiplied by one more coin, the
key, which stands along a direction of its own, too: a wall is where the two agree,
which no linear read-out of both can say (exclusive or).
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde_plugins.probes.config import CogmapConfig, MapVariant
from gde_plugins.probes.maps.probe import CogmapProbe

CLASSES = decoded_classes(KINDS)
EMPTY, WALL = CLASSES.index("empty"), CLASSES.index("wall")
SIDE, WIDE, NOISE = 5, 9, 0.3
BESIDE = 14
"""Directions in which there is nothing but noise."""
CHANCE, AROUND = 0.5, 0.05
"""Four standard errors of a control's AUC in 150 maps of 9x9 are 0.05: what a probe
makes of shuffled labels goes with each of the 49 coins a little, up or down.
"""
LINEAR: tuple[MapVariant, ...] = ("places", "ridge", "cellwise", "bilinear", "linear")


def planted(
    n: int, seed: int, how: str, noise: float = NOISE, side: int = SIDE
) -> ProbeDataset:
    """Rooms of as many worlds."""
    rng, within = np.random.default_rng(seed), side - 2
    coins, key = (rng.choice([-1, 1], size=(n, many)) for many in (within**2, 1))
    cells = np.full((n, side, side), WALL)
    cells[:, 1:-1, 1:-1] = np.where(coins > 0, WALL, EMPTY).reshape(n, within, within)
    shown = {"linearly": coins, "by a key": coins * key, "nowhere": 0 * coins}[how]
    width = within**2 + 1 + BESIDE
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(width, width)))[0][
        :-BESIDE
    ]
    inputs = np.hstack([shown, key]) @ basis + rng.normal(scale=noise, size=(n, width))
    groups = np.array([f"world{seed}-{row}" for row in range(n)])
    return ProbeDataset(
        inputs=inputs.astype(np.float32), labels=cells, groups=groups, classes=CLASSES
    )


def walls(
    variant: MapVariant, train: ProbeDataset, *tests: ProbeDataset
) -> list[tuple[float, float]]:
    """AUC and recall of interior walls in each test."""
    size, epochs = train.labels.shape[1], 40 if variant == "mlp" else 20
    probe = CogmapProbe(
        CogmapConfig(
            size=size, variants=(variant,), hidden=128, epochs=epochs, cells=None
        )
    )
    readout = probe.fit(variant, train, np.random.default_rng(0))
    scored = [probe.score(readout, test, np.random.default_rng(0)) for test in tests]
    numbers = [{one.name: one.value for one in found} for found in scored]
    return [
        (each["auc.wall"] or 0.0, each["recall.interior.wall"] or 0.0)
        for each in numbers
    ]


def shuffled(dataset: ProbeDataset) -> ProbeDataset:
    """Turns with each other's maps."""
    order = np.random.default_rng(3).permutation(len(dataset.labels))
    return replace(dataset, labels=dataset.labels[order])


@pytest.mark.parametrize(
    ("variant", "n"),
    [("places", 300), ("ridge", 300), ("cellwise", 300), ("mlp", 1000)],
)
def test_walls_that_are_planted_linearly_are_found(variant: MapVariant, n: int) -> None:
    ((auc, recall),) = walls(
        variant, planted(n, 1, "linearly"), planted(150, 2, "linearly")
    )
    assert auc > 0.97 and recall > 0.7


def test_a_row_and_a_column_tell_of_a_cell_in_part_and_the_published_linear_probe_of_none() -> (
    None
):
    """Nine coins are more than a score for each row and one for each column can say;
    `linear` has the same slope in every map, so that it ranks no cell above another for
    what the activations hold.
    """
    train, test = planted(300, 1, "linearly"), planted(150, 2, "linearly")
    ((bilinear, _),), ((linear, _),) = (
        walls(variant, train, test) for variant in ("bilinear", "linear")
    )
    assert 0.75 < bilinear < 0.95
    assert abs(linear - CHANCE) < AROUND


@pytest.mark.extended
def test_walls_that_are_planted_non_linearly_are_found_by_the_mlp_alone() -> None:
    train, test = planted(1200, 1, "by a key"), planted(150, 2, "by a key")
    ((auc, _),) = walls("mlp", train, test)
    assert auc > 0.8
    for variant in LINEAR:  # what is said of one map is the contrary of what is said of its like with the other key
        ((auc, _),) = walls(variant, train, test)
        assert abs(auc - CHANCE) < 0.1, variant


@pytest.mark.parametrize("variant", ["places", "ridge"])
@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_ridge_finds_what_the_noise_leaves_and_no_more(
    noise: float, variant: MapVariant
) -> None:
    """Two coins differ by 2, beside a noise of sqrt(2) times its scale: no AUC is above
    Phi(sqrt(2) / scale).
    """
    best = norm.cdf(np.sqrt(2) / noise)
    ((auc, _),) = walls(
        variant, planted(600, 1, "linearly", noise), planted(150, 2, "linearly", noise)
    )
    assert best - 0.06 < auc < best + 0.03


@pytest.mark.parametrize("variant", ["places", "ridge", "cellwise", "mlp"])
def test_controls_stay_at_chance(variant: MapVariant) -> None:
    train, test = (
        planted(300, 1, "linearly", side=WIDE),
        planted(150, 2, "linearly", side=WIDE),
    )
    controls = {
        "shuffled": (shuffled(train), test),
        "no_activations": [
            replace(each, inputs=np.zeros_like(each.inputs)) for each in (train, test)
        ],
        "untrained": [
            replace(
                each, inputs=planted(len(each.inputs), 3, "nowhere", side=WIDE).inputs
            )
            for each in (train, test)
        ],
    }
    for name, (fitted, held_out) in controls.items():
        ((auc, _),) = walls(variant, fitted, held_out)
        assert abs(auc - CHANCE) < AROUND, name
