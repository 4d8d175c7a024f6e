"""The reader of maps: what it finds of few worlds, how sure it is of it, and what it says
of activations that hold nothing.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import Likelihoods, ProbeDataset
from gde.stages.learning import code
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.fitting.reader import PENALTIES, ReaderWeights, fit_reader
from gde_plugins.probes.fitting.ridge import (
    TEMPERATURES,
    Components,
    RidgeFits,
    calibrated,
    rows_of_worlds,
)
from gde_plugins.probes.fitting.weights import z_scores
from gde_plugins.probes.maps.probe import CogmapProbe, CogmapReadout

Planted = Callable[[int, int], ProbeDataset]
Doubles = NDArray[np.float64]
CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)
THINGS = {"agent": AGENT, "goal": GOAL}
SIDE, WIDTH, WALLS = 7, 96, 0.3
PILLAR = (4, 4)
"""A cell that is a wall in every map, beside the outermost ones."""
POSSIBLE = (SIDE - 2) ** 2 - 1
"""Cells that may hold a thing."""
EMBEDDING = np.random.default_rng(0).normal(size=(4 * SIDE + SIDE**2, WIDTH))
PROBE = CogmapProbe(CogmapConfig(size=SIDE))


def drawn_maps(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(n, SIDE, SIDE) rooms with walls, an agent and a goal in random cells."""
    inner = [(i, j) for i in range(1, SIDE - 1) for j in range(1, SIDE - 1)]
    inner.remove(PILLAR)
    cells = np.full((n, SIDE, SIDE), WALL)
    for one in cells:
        for place in inner:
            one[place] = WALL if rng.random() < WALLS else EMPTY
        agent, goal = rng.choice(len(inner), 2, replace=False)
        one[inner[agent]], one[inner[goal]] = AGENT, GOAL
    return cells


def dataset(inputs: Doubles, cells: NDArray[np.int64], seed: int) -> ProbeDataset:
    """Each turn in a world of its own."""
    return ProbeDataset(
        inputs=inputs.astype(np.float32),
        labels=cells,
        groups=np.array([f"world{seed}-{row}" for row in range(len(cells))]),
        classes=CLASSES,
    )


def rooms(n: int, seed: int, noise: float = 0.3, walls: float = 0.0) -> ProbeDataset:
    """Activations that hold rows and columns of the things, and walls of this size, in
    the same directions for every seed.
    """
    rng = np.random.default_rng(seed)
    cells = drawn_maps(n, rng)
    features = np.zeros((n, len(EMBEDDING)))
    for row, one in enumerate(cells):
        sides = [*place_of(one, AGENT), *place_of(one, GOAL)]
        features[row, np.arange(4) * SIDE + sides] = 1
    features[:, 4 * SIDE :] = walls * (cells == WALL).reshape(n, -1)
    inputs = features @ EMBEDDING + rng.normal(scale=noise, size=(n, WIDTH))
    return dataset(inputs, cells, seed)


def of_noise(n: int, seed: int, width: int = WIDTH) -> ProbeDataset:
    """Activations that hold nothing of the maps."""
    rng = np.random.default_rng(seed)
    return dataset(rng.normal(size=(n, width)), drawn_maps(n, rng), seed)


def place_of(cells: NDArray[np.int64], thing: int) -> tuple[int, int]:
    row, column = np.argwhere(cells == thing)[0]
    return int(row), int(column)


def fitted(train: ProbeDataset) -> CogmapReadout:
    readout = PROBE.fit("places", train, np.random.default_rng(0))
    assert isinstance(readout, CogmapReadout)
    return readout


def weights_of(train: ProbeDataset) -> ReaderWeights:
    weights = fitted(train).weights
    assert isinstance(weights, ReaderWeights)
    return weights


def decoded_by(train: ProbeDataset, test: ProbeDataset) -> NDArray[np.float32]:
    return fitted(train).predict(test.inputs)


def hits(
    decoded: NDArray[np.float32], test: ProbeDataset, thing: int
) -> NDArray[np.bool_]:
    """(N,) whether a thing's likeliest cell is the true one."""
    n = len(decoded)
    likeliest = decoded[..., thing].reshape(n, -1).argmax(axis=1)
    true = (test.labels == thing).reshape(n, -1).argmax(axis=1)
    return np.asarray(likeliest == true)


def bits(likelihoods: Likelihoods) -> float:
    """Mean over labels, of the fit alone."""
    return float(np.nanmean(-np.log2(likelihoods.fitted)))


def test_planted_rows_and_columns_are_found() -> None:
    test = rooms(60, 1)
    measured = PROBE.score(fitted(rooms(60, 0)), test, np.random.default_rng(0))
    found = {one.name: one for one in measured}
    for thing in THINGS:
        one = found[f"top1.{thing}"]
        assert one.value is not None and one.value > 0.95
        assert (one.n, one.clusters) == (60, 60)
        assert one.interval is not None and one.interval[0] > 0.8


def test_a_thing_is_found_in_a_cell_where_training_never_had_it() -> None:
    """Its row and its column were shown with others; a reader of single cells never
    finds it there.
    """
    cells = [(1, 1), (2, 5), (3, 2), (5, 3)]
    train, test = rooms(100, 0), rooms(400, 1)
    for thing in THINGS.values():
        was_there = np.array([place_of(one, thing) in cells for one in train.labels])
        is_there = np.array([place_of(one, thing) in cells for one in test.labels])
        without, there = train.take(~was_there), test.take(is_there)
        assert hits(decoded_by(without, there), there, thing).mean() > 0.9

        ridge = PROBE.fit("ridge", without, np.random.default_rng(0))
        assert not hits(ridge.predict(there.inputs), there, thing).any()


def test_each_thing_is_somewhere_once_and_never_where_all_training_maps_have_a_wall() -> (
    None
):
    train = rooms(60, 0)
    closed = (train.labels == WALL).all(axis=0)
    assert closed[PILLAR] and closed.sum() == SIDE**2 - POSSIBLE
    for noise in (0.3, 3.0):
        decoded = decoded_by(train, rooms(60, 1, noise))
        for thing in THINGS.values():
            of_cells = decoded[..., thing]
            assert of_cells.sum(axis=(1, 2)) == pytest.approx(1, abs=1e-5)
            assert not of_cells[:, closed].any()


def test_the_classes_of_a_cell_share_all_of_it() -> None:
    decoded = decoded_by(rooms(60, 0, walls=1.0), rooms(60, 1, walls=1.0))
    assert decoded.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert (decoded >= 0).all()
    # The others share what the things leave.
    others = decoded[..., [EMPTY, WALL, PAD]].sum(axis=-1)
    of_things = decoded[..., [AGENT, GOAL]].sum(axis=-1)
    assert others == pytest.approx(1 - of_things, abs=1e-5)


def test_where_two_things_are_likely_in_one_cell_nothing_else_is() -> None:
    """Each thing is read by itself, so that both may be likely in the same cell."""
    decoded = decoded_by(rooms(60, 0, 2.0), rooms(200, 1, 2.0))
    things = decoded[..., [*THINGS.values()]].sum(axis=-1)
    assert things.max() > 1
    assert decoded.sum(axis=-1) == pytest.approx(np.maximum(things, 1), abs=1e-3)


def test_noise_is_hardly_worse_than_a_guess() -> None:
    """Of 60 worlds, on average over eight draws. The guess of a cell is among those
    that may hold a thing, that of a wall is how often the cell was one.
    """
    of_things = []
    of_walls = []
    for seed in range(8):
        train, test = of_noise(60, seed), of_noise(200, 100 + seed)
        readout = fitted(train)
        found = PROBE.likelihoods(readout, test)
        for thing in THINGS:
            assert found[thing].uniform == pytest.approx(1 / POSSIBLE)
            of_things.append(bits(found[thing]) - np.log2(POSSIBLE))
        inside = (slice(None), slice(1, -1), slice(1, -1))
        entropy = base_bits(train.labels[inside] == WALL, test.labels[inside] == WALL)
        of_walls.append(bits(found["wall"]) - entropy)

        # It is never sure of anything, also where it errs.
        for name, one in found.items():
            known = one.fitted[np.isfinite(one.fitted)]
            if name in THINGS:
                assert 1e-4 < known.min() < known.max() < 0.9
            assert np.isfinite(code(one, 60)[np.isfinite(one.fitted)]).all()
    assert -0.05 < np.mean(of_things) < 0.15
    assert max(of_things) < 0.7
    assert -0.05 < min(of_walls) < max(of_walls) < 0.05


def base_bits(trained: NDArray[np.bool_], true: NDArray[np.bool_]) -> float:
    """Mean bits of the truth for who knows how often each cell was so in training."""
    share = (trained.sum(axis=0) + 0.5) / (len(trained) + 1)
    return float(-np.log2(np.where(true, share, 1 - share)).mean())


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_activations_that_never_vary_leave_how_often_a_cell_was_of_a_class(
    value: float,
) -> None:
    """Warnings are errors here."""
    train = of_noise(60, 0)
    constant = replace(train, inputs=np.full_like(train.inputs, value))
    decoded = fitted(constant).predict(constant.inputs)
    assert (decoded == decoded[0]).all()
    found = decoded[0].astype(np.float64)

    # Half a turn more of each class that is no thing, of which there are two.
    empty, wall = ((train.labels == kind).sum(axis=0) for kind in (EMPTY, WALL))
    share = (wall + 0.5) / (empty + wall + 1)
    others = found[..., EMPTY] + found[..., WALL]
    assert found[..., WALL] / others == pytest.approx(share, rel=1e-4)
    assert others == pytest.approx(1 - found[..., [AGENT, GOAL]].sum(axis=-1))

    possible = (train.labels != WALL).any(axis=0)
    for thing in THINGS.values():
        of_cells = found[..., thing][possible]
        assert of_cells.sum() == pytest.approx(1)
        # Worth at least nine tenths of the cells, evenly.
        assert np.exp(-(of_cells * np.log(of_cells)).sum()) > 0.9 * POSSIBLE


@pytest.mark.parametrize("noise", [2.0, 3.0, 4.0])
def test_it_is_as_sure_of_a_cell_as_it_is_right(noise: float) -> None:
    """Where it errs in a part of the turns, in six draws."""
    right = []
    stated = []
    for seed in range(6):
        test = rooms(200, 100 + seed, noise)
        decoded = decoded_by(rooms(60, seed, noise), test)
        for thing in THINGS.values():
            right.append(hits(decoded, test, thing).mean())
            stated.append(decoded[..., thing].max(axis=(1, 2)).mean())
    assert 0.15 < np.mean(right) < 0.9
    assert abs(np.mean(stated) - np.mean(right)) < 0.05
    assert np.abs(np.subtract(stated, right)).max() < 0.15


@pytest.mark.parametrize("noise", [2.0, 4.0])
def test_it_is_as_sure_of_walls_as_it_is_right(noise: float) -> None:
    train, test = rooms(120, 0, noise, walls=1.0), rooms(300, 1, noise, walls=1.0)
    found = PROBE.likelihoods(fitted(train), test)["wall"].fitted
    of_truth = found[np.isfinite(found)]
    right, sure = of_truth > 0.5, np.maximum(of_truth, 1 - of_truth)
    assert 0.7 < right.mean() < 0.95
    assert abs(sure.mean() - right.mean()) < 0.1
    # It knows more than how often the cells are walls.
    walls = train.labels[:, 1:-1, 1:-1] == WALL, test.labels[:, 1:-1, 1:-1] == WALL
    assert -np.log2(of_truth).mean() < base_bits(*walls) - 0.05


@pytest.mark.parametrize("sizes", [[1] * 12, [3] * 4, [1, 2, 1, 4, 1, 3]], ids=str)
@pytest.mark.parametrize("width", [4, 40], ids=["more turns", "more activations"])
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 1e4])
def test_left_out_predictions_are_those_of_fits_without_the_world(
    sizes: list[int], width: int, penalty: float
) -> None:
    rng = np.random.default_rng(0)
    worlds = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(str)
    inputs = rng.normal(size=(12, width)) * rng.uniform(0.1, 5, size=width) + 3
    targets = rng.normal(size=(12, 2, 3))
    found = RidgeFits(Components.of(inputs), targets).left_out(
        penalty, rows_of_worlds(worlds)
    )

    expected = np.empty_like(targets)
    for world in np.unique(worlds):
        own = worlds == world
        others = Ridge(alpha=penalty).fit(inputs[~own], targets[~own].reshape(-1, 6))
        expected[own] = others.predict(inputs[own]).reshape(-1, 2, 3)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_what_a_fit_without_targets_leaves_out_has_no_predictions() -> None:
    fits = RidgeFits(
        Components.of(np.random.default_rng(0).normal(size=(5, 3))), np.zeros((5, 0, 2))
    )
    rows = rows_of_worlds(np.array([*"aabbc"]))
    assert fits.left_out(1.0, rows).shape == (5, 0, 2)
    assert fits.weights(1.0).shape == (3, 0, 2)


@pytest.mark.parametrize("low", [-5.0, 700.0])
def test_the_temperature_is_that_of_the_least_log_loss(low: float) -> None:
    """Against a grid. Scores of any size overflow nothing."""
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(50, 2))
    scores = low + 0.5 * np.eye(4)[codes] + rng.normal(scale=0.4, size=(50, 2, 4))
    temperature, loss = calibrated(scores, codes)

    def expected(warmth: float) -> float:
        logs = log_softmax(scores / warmth, axis=-1)
        return float(-np.take_along_axis(logs, codes[..., None], -1).mean())

    grid = np.geomspace(*TEMPERATURES, 400)
    losses = [expected(warmth) for warmth in grid]
    assert loss == pytest.approx(expected(temperature))
    assert loss == pytest.approx(min(losses), abs=1e-4)
    assert temperature == pytest.approx(grid[np.argmin(losses)], rel=0.05)


def scored(train: ProbeDataset, weights: ReaderWeights) -> Doubles:
    """(N, D) activations as the reader sees them."""
    return ((train.inputs - weights.mean) / weights.scale).astype(np.float64)


def penalties_of(inputs: Doubles) -> list[float]:
    lengths = np.linalg.svd(inputs - inputs.mean(axis=0), compute_uv=False)
    return [float(each * (lengths**2).mean()) for each in PENALTIES]


def left_out(
    penalty: float, inputs: Doubles, targets: Doubles, worlds: NDArray[np.str_]
) -> Doubles:
    """Predictions of each world by a fit to the others, made one by one."""
    found = cross_val_predict(
        Ridge(alpha=penalty), inputs, targets, groups=worlds, cv=LeaveOneGroupOut()
    )
    return np.asarray(found)


def best_side(
    inputs: Doubles,
    places: NDArray[np.int64],
    side: int,
    among: slice,
    worlds: NDArray[np.str_],
) -> tuple[Doubles, Doubles]:
    """The weights (D, side) and the bias (side,) of one row or column out of so many, of
    the penalty and the temperature with the least log loss in left-out worlds, where
    only some may be chosen.
    """
    targets = np.eye(side)[places]
    tried = []
    for penalty in penalties_of(inputs):
        predicted = left_out(penalty, inputs, targets, worlds)[:, among]
        temperature, loss = calibrated(predicted, places - (among.start or 0))
        # Of equally good penalties the largest.
        tried.append((loss, -penalty, temperature))
    _, negative, temperature = min(tried)
    ridge = Ridge(alpha=-negative).fit(inputs, targets)
    return ridge.coef_.T / temperature, ridge.intercept_ / temperature


def assert_alike(ours: NDArray[np.float32], theirs: Doubles) -> None:
    """But for the temperature, which is found to one per cent."""
    scale = float((ours * theirs).sum() / (theirs**2).sum())
    assert scale == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(
        ours, scale * theirs, rtol=0, atol=2e-3 * np.abs(theirs).max()
    )


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_rows_and_columns_are_those_of_the_best_ridge_at_the_best_temperature(
    noise: float,
) -> None:
    """The outermost ones, in which nothing may be, do not count for the temperature."""
    train = rooms(30, 0, noise)
    weights = weights_of(train)
    assert weights.things.tolist() == [AGENT, GOAL]
    inputs = scored(train, weights)
    for i, thing in enumerate(THINGS.values()):
        places = np.array([place_of(one, thing) for one in train.labels])
        for side in (0, 1):
            inner = slice(1, SIDE - 1)
            best = best_side(inputs, places[:, side], SIDE, inner, train.groups)
            assert_alike(weights.by_side[:, i, side], best[0])
            assert_alike(weights.side_bias[i, side], best[1])


@pytest.mark.parametrize("noise", [1.0, 3.0])
def test_walls_have_the_slope_and_the_penalty_of_the_least_log_loss(
    noise: float,
) -> None:
    """Against a grid of slopes at each penalty, over the cells without things."""
    train = rooms(30, 0, noise, walls=1.0)
    weights = weights_of(train)
    assert weights.others.tolist() == [EMPTY, WALL]
    inputs = scored(train, weights)
    cells = train.labels.reshape(len(train.labels), -1)
    is_other = np.stack([cells == EMPTY, cells == WALL], axis=-1)
    counts = is_other.sum(axis=0) + 0.5
    base = np.log(counts / counts.sum(axis=-1, keepdims=True))
    free = is_other.any(axis=-1)

    targets = is_other.reshape(len(cells), -1).astype(np.float64)
    tried = []
    for penalty in penalties_of(inputs):
        predicted = left_out(penalty, inputs, targets, train.groups)
        deviations = (predicted - targets.mean(axis=0)).reshape(is_other.shape)
        for slope in np.arange(0, 20, 0.05):
            logs = log_softmax(base + slope * deviations, axis=-1)
            # Cells that are always walls are known, whatever is predicted.
            varies = is_other.any(axis=0).sum(axis=-1) > 1
            loss = -(logs * is_other)[:, varies].sum() / free[:, varies].sum()
            tried.append((loss, -penalty, slope))
    _, penalty, slope = min(tried)
    assert 1 < slope < 19
    ridge = Ridge(alpha=-penalty).fit(inputs, targets)
    expected = slope * ridge.coef_.T.reshape(weights.by_cell.shape)
    scale = float((weights.by_cell * expected).sum() / (expected**2).sum())
    # Slopes of the grid are .05 apart.
    assert scale == pytest.approx(1, abs=0.04)
    np.testing.assert_allclose(
        weights.by_cell, scale * expected, rtol=0, atol=2e-3 * np.abs(expected).max()
    )
    # At the mean activations, the log odds are those of the base rates.
    at_mean = np.tensordot(inputs.mean(axis=0), weights.by_cell, axes=1)
    np.testing.assert_allclose(weights.cell_bias + at_mean, base, atol=1e-4)


def test_what_is_known_of_a_world_from_another_turn_of_it_is_worth_nothing() -> None:
    """All turns of a world are the same, and worlds have nothing in common."""
    turns = np.repeat(np.arange(20), 4)
    few = of_noise(20, 0).take(turns)
    for train in (few, replace(few, groups=np.arange(len(turns)).astype(str))):
        readout = fitted(train)
        decoded = readout.predict(few.inputs)
        sure = [decoded[..., each].max() for each in THINGS.values()]
        of_walls = bits(PROBE.likelihoods(readout, few)["wall"])
        if train is few:
            assert max(sure) < 0.6
            # No more than how often a cell is a wall.
            assert of_walls > 0.7
        else:
            # As if turns were worlds, other turns of a world tell all of it.
            assert min(sure) > 0.9
            assert of_walls < 0.1


def test_a_thing_is_fitted_as_if_it_were_alone() -> None:
    train = rooms(40, 0, noise=1.0)
    alone = replace(train, labels=np.where(train.labels == GOAL, EMPTY, train.labels))
    both, one = weights_of(train), weights_of(alone)
    assert both.things.tolist() == [AGENT, GOAL]
    # The goal is no class of the second fit, whose wall is its third.
    assert (one.things.tolist(), one.others.tolist()) == ([AGENT], [EMPTY, 2])
    np.testing.assert_allclose(both.by_side[:, 0], one.by_side[:, 0], atol=1e-6)
    np.testing.assert_allclose(both.side_bias[0], one.side_bias[0], atol=1e-5)


def test_activations_of_another_scale_and_origin_are_read_alike() -> None:
    train, test = rooms(30, 0, 1.0, walls=1.0), rooms(20, 1, 1.0, walls=1.0)
    usual = decoded_by(train, test)
    moved = decoded_by(
        replace(train, inputs=5 + 3 * train.inputs),
        replace(test, inputs=5 + 3 * test.inputs),
    )
    np.testing.assert_allclose(moved, usual, atol=1e-3)


def test_a_stored_readout_predicts_the_same() -> None:
    readout = fitted(rooms(30, 0, walls=1.0))
    arrays = readout.arrays()
    assert {each.dtype for each in arrays.values()} == {np.dtype(np.float32)}
    assert all(np.isfinite(each).all() for each in arrays.values())
    again = PROBE.load("places", arrays)
    inputs = rooms(10, 1).inputs
    assert np.array_equal(again.predict(inputs), readout.predict(inputs))


def test_two_worlds_will_do_and_one_is_refused() -> None:
    data = rooms(2, 0)
    decoded = decoded_by(data, rooms(5, 1))
    assert np.isfinite(decoded).all()
    one = replace(data, groups=np.array(["same", "same"]))
    with pytest.raises(
        ValueError, match="left-out worlds: wanted 2 to train on, got 1"
    ):
        fitted(one)


@pytest.mark.parametrize(
    "change", [(GOAL, EMPTY), (EMPTY, GOAL)], ids=["absent once", "twice once"]
)
def test_what_is_not_on_every_training_map_once_is_no_thing(
    change: tuple[int, int],
) -> None:
    """It is decoded in each cell by itself, as walls are."""
    train, test = rooms(60, 0), rooms(60, 1)
    was, becomes = change
    labels = train.labels.copy()
    labels[(0, *place_of(labels[0], was))] = becomes
    readout = fitted(replace(train, labels=labels))
    weights = readout.weights
    assert isinstance(weights, ReaderWeights)
    assert weights.things.tolist() == [AGENT]
    assert weights.others.tolist() == [EMPTY, GOAL, WALL]

    decoded = readout.predict(test.inputs)
    assert hits(decoded, test, AGENT).mean() > 0.95
    of_agent, of_goal = (decoded[..., each].sum(axis=(1, 2)) for each in (AGENT, GOAL))
    assert of_agent == pytest.approx(1, abs=1e-5)
    assert of_goal.std() > 0.01
    assert decoded.sum(axis=-1) == pytest.approx(1, abs=1e-5)


def test_where_nothing_is_on_every_map_once_there_are_no_things() -> None:
    train, test = rooms(60, 0), rooms(60, 1)
    labels = train.labels.copy()
    for thing in THINGS.values():
        labels[(0, *place_of(labels[0], thing))] = EMPTY
    readout = fitted(replace(train, labels=labels))
    decoded = readout.predict(test.inputs)
    assert decoded.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    # Which cells had an agent in training, cells alone tell.
    assert decoded[..., AGENT].max() < 1
    again = PROBE.load("places", readout.arrays())
    assert np.array_equal(again.predict(test.inputs), decoded)


def test_as_many_activations_as_worlds_overflow_nothing() -> None:
    """With hardly a penalty, predictions of left-out worlds are hundreds there, and
    warnings are errors here.
    """
    for seed in range(6):
        fitted(of_noise(60, seed, width=59))


def test_maps_of_several_sizes(planted: Planted) -> None:
    """Rooms of 5x5 and 7x7 padded to 7x7, and worlds of two turns."""
    train, test = planted(120, 0), planted(80, 1)
    readout = fitted(train)
    decoded = readout.predict(test.inputs)
    is_small = test.labels[:, 6, 6] == PAD
    assert 20 < is_small.sum() < 60
    outside = np.ones((SIDE, SIDE), bool)
    outside[1:4, 1:4] = False
    for name, thing in THINGS.items():
        assert hits(decoded, test, thing).mean() > 0.9
        assert decoded[..., thing].sum(axis=(1, 2)) == pytest.approx(1, abs=1e-5)
        # In a small room a thing is seldom thought to be where large ones go on.
        assert decoded[is_small][:, outside, thing].sum(axis=1).mean() < 0.1
        found = PROBE.likelihoods(readout, test)[name]
        guess = np.where(is_small, 1 / 9, 1 / 25)
        assert found.uniform[:, 0] == pytest.approx(guess)
        assert bits(found) < 1
    padded = test.labels == PAD
    assert decoded[..., PAD][padded].mean() > 0.9
    assert decoded[..., PAD][~padded].mean() < 0.1


def test_a_wall_class_may_have_any_place_among_the_classes() -> None:
    """Of hand-made codes, 0 is the wall, which fills the upper row and one more cell, and
    2 is on every map once. Two rows and three columns may be chosen.
    """
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=(40, 9))
    codes[:, [0, 1, 2, 4]] = 0
    where = rng.choice([3, 5, 6, 7, 8], size=40)
    codes[np.arange(40), where] = 2
    inputs = np.eye(9)[where] + rng.normal(scale=0.3, size=(40, 9))
    inputs = inputs.astype(np.float32)
    worlds = np.arange(40).astype(str)
    weights = fit_reader(inputs, codes, [0], 3, worlds)
    assert (weights.things.tolist(), weights.others.tolist()) == ([2], [0, 1])
    assert weights.is_open.tolist() == [0, 0, 0, 1, 0, 1, 1, 1, 1]
    seen = (inputs - weights.mean) / weights.scale
    for side, among in enumerate([slice(1, 3), slice(0, 3)]):
        places = np.array(np.divmod(where, 3))[side]
        best = best_side(seen.astype(np.float64), places, 3, among, worlds)
        assert_alike(weights.by_side[:, 0, side], best[0])
        assert_alike(weights.side_bias[0, side], best[1])


def test_a_wall_is_no_thing_where_every_map_has_one() -> None:
    rng = np.random.default_rng(0)
    codes = np.ones((40, 9), dtype=np.int64)
    wall, agent = np.array([rng.choice(9, 2, replace=False) for _ in range(40)]).T
    codes[np.arange(40), wall], codes[np.arange(40), agent] = 0, 2
    inputs = np.eye(9)[agent].astype(np.float32)
    weights = fit_reader(inputs, codes, [0], 3, np.arange(40).astype(str))
    assert (weights.things.tolist(), weights.others.tolist()) == ([2], [0, 1])


def test_standard_scores_are_those_of_training() -> None:
    train = rooms(30, 0)
    weights = weights_of(train)
    mean, scale = z_scores(train.inputs)
    assert np.array_equal(weights.mean, mean)
    assert np.array_equal(weights.scale, scale)
