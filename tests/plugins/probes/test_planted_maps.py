"""A map that is planted linearly, or only non-linearly, at a known noise: who finds it,
and who must not.

Rows and columns of agent and goal are planted as one-hot vectors of six places, through
one random matrix, beside normal noise. Non-linearly, each vector is multiplied by a
sign of its own, drawn anew for every turn and nowhere told: its mean is zero for every
place, so that no linear read-out can tell places apart, and its squares tell them all.
"""

from dataclasses import replace

import numpy as np
import pytest

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde_plugins.probes.config import CogmapConfig, MapVariant
from gde_plugins.probes.maps.probe import CogmapProbe

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)
SIDE, WIDTH, NOISE = 6, 64, 0.1
CHANCE = 1 / SIDE**2


def planted(n: int, seed: int, linear: bool, noise: float = NOISE) -> ProbeDataset:
    """Open rooms of 6x6 without walls."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.choice(SIDE**2, 2, replace=False) for _ in range(n)])
    cells = np.full((n, SIDE, SIDE), EMPTY)
    onehot = np.zeros((n, 4, SIDE))
    for kind, code in enumerate((AGENT, GOAL)):
        row, column = np.divmod(ends[:, kind], SIDE)
        cells[np.arange(n), row, column] = code
        onehot[np.arange(n), 2 * kind, row] = onehot[
            np.arange(n), 2 * kind + 1, column
        ] = 1
    signs = np.ones((n, 4, 1)) if linear else rng.choice([-1, 1], size=(n, 4, 1))
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0][
        : 4 * SIDE
    ]
    inputs = (onehot * signs).reshape(n, -1) @ basis + rng.normal(
        scale=noise, size=(n, WIDTH)
    )
    groups = np.array([f"world{seed}-{row}" for row in range(n)])
    return ProbeDataset(
        inputs=inputs.astype(np.float32), labels=cells, groups=groups, classes=CLASSES
    )


def top1(
    variant: MapVariant, train: ProbeDataset, test: ProbeDataset
) -> dict[str, float]:
    config = CogmapConfig(
        size=SIDE,
        variants=(variant,),
        hidden=128,
        epochs=40 if variant == "mlp" else 20,
        cells=None,
    )
    probe = CogmapProbe(config)
    readout = probe.fit(variant, train, np.random.default_rng(0))
    found = {
        one.name: one.value
        for one in probe.score(readout, test, np.random.default_rng(0))
    }
    return {name: found[f"top1.{name}"] or 0.0 for name in ("agent", "goal")}


@pytest.mark.parametrize(
    ("variant", "least"),
    [("places", 0.99), ("bilinear", 0.9), ("mlp", 0.3), ("ridge", 0.8)],
)
def test_what_is_planted_linearly_is_found(variant: MapVariant, least: float) -> None:
    """By the MLP, which must learn from as many turns what a product of row and column
    is, in part.
    """
    found = top1(variant, planted(700, 1, linear=True), planted(150, 2, linear=True))
    assert min(found.values()) > least


@pytest.mark.extended
def test_what_is_planted_non_linearly_is_found_by_the_mlp_alone() -> None:
    train, test = planted(1500, 1, linear=False), planted(150, 2, linear=False)
    assert min(top1("mlp", train, test).values()) > 0.3
    for variant in ("places", "bilinear", "cellwise", "ridge"):
        assert max(top1(variant, train, test).values()) < CHANCE + 0.1  # type: ignore[arg-type]


def test_of_few_turns_the_reader_makes_most() -> None:
    """Thirty show every row and column, and most cells never."""
    train, test = planted(30, 1, linear=True), planted(150, 2, linear=True)
    variants: tuple[MapVariant, ...] = ("places", "bilinear", "cellwise", "ridge")
    found = {each: min(top1(each, train, test).values()) for each in variants}
    assert found["places"] > 0.9
    assert found["bilinear"] < 0.8
    assert max(found["cellwise"], found["ridge"]) < 0.4


@pytest.mark.parametrize("variant", ["places", "bilinear"])
def test_more_noise_leaves_less_and_controls_stay_at_chance(
    variant: MapVariant,
) -> None:
    train, test = planted(700, 1, linear=True), planted(150, 2, linear=True)
    noisy = top1(
        variant, planted(700, 1, True, noise=0.5), planted(150, 2, True, noise=0.5)
    )
    assert CHANCE + 0.1 < min(noisy.values()) < 0.9
    order = np.random.default_rng(3).permutation(len(train.labels))
    shuffled = replace(train, labels=train.labels[order])
    blind = replace(train, inputs=np.zeros_like(train.inputs))
    for control, held_out in (
        (shuffled, test),
        (blind, replace(test, inputs=np.zeros_like(test.inputs))),
    ):
        assert max(top1(variant, control, held_out).values()) < CHANCE + 0.1
