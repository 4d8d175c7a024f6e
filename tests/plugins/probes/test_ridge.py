"""Ridge regression of maps: that of scikit-learn, its penalty and temperature chosen on
training worlds left out.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from test_planted_maps import AGENT, CHANCE, CLASSES, EMPTY, GOAL, SIDE, planted, top1
from threadpoolctl import threadpool_limits

from gde.data.probe import ProbeDataset
from gde_plugins.probes.config import PENALTIES, CogmapConfig
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.fitting.ridge import fit_ridge
from gde_plugins.probes.maps.probe import CogmapProbe, CogmapReadout

CELLS, N_CLASSES = 3, 2


def drawn(
    n: int, width: int, seed: int = 0, noise: float = 1.0
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Activations, and classes of three cells that depend on the first three of
    them.
    """
    rng = np.random.default_rng(seed)
    inputs = (
        rng.normal(size=(n, width)) * rng.uniform(0.1, 5, size=width)
        + rng.normal(size=width)
    ).astype(np.float32)
    at_chance = noise * rng.normal(size=(n, CELLS))
    return inputs, (
        inputs[:, :CELLS] - inputs[:, :CELLS].mean(axis=0) + at_chance > 0
    ).astype(np.int64)


def worlds_of(n: int, turns: int = 3) -> NDArray[np.str_]:
    return np.array([f"world {row // turns}" for row in range(n)])


def scored(inputs: NDArray[np.float32], weights: PlaceWeights) -> NDArray[np.float64]:
    return ((inputs - weights.mean) / weights.scale).astype(np.float64)


def onehot(codes: NDArray[np.int64], n_classes: int = N_CLASSES) -> NDArray[np.float64]:
    return np.eye(n_classes)[codes].reshape(len(codes), -1)


@pytest.mark.parametrize("width", [8, 60], ids=["more turns", "more activations"])
@pytest.mark.parametrize("penalty", [1e-4, 1e-1, 1e3])
def test_it_is_scikit_learns_ridge_on_onehot_targets(
    width: int, penalty: float
) -> None:
    inputs, codes = drawn(30, width)
    weights = fit_ridge(inputs, codes, N_CLASSES, worlds_of(30), [penalty])
    expected = Ridge(alpha=penalty).fit(scored(inputs, weights), onehot(codes))
    temperature = np.linalg.norm(expected.coef_) / np.linalg.norm(weights.by_place)
    np.testing.assert_allclose(
        weights.by_place * temperature, expected.coef_.T, atol=1e-5
    )
    np.testing.assert_allclose(
        weights.bias * temperature, expected.intercept_, atol=1e-5
    )


@pytest.mark.parametrize("width", [8, 60], ids=["more turns", "more activations"])
def test_the_penalty_predicts_left_out_worlds_best(width: int) -> None:
    inputs, codes = drawn(30, width)
    worlds, penalties = worlds_of(30), (1e-2, 1.0, 1e2, 1e4)
    weights = fit_ridge(inputs, codes, N_CLASSES, worlds, penalties)
    outside = [
        left_out(penalty, scored(inputs, weights), codes, worlds)
        for penalty in penalties
    ]
    best = penalties[
        int(np.argmin([((each - onehot(codes)) ** 2).mean() for each in outside]))
    ]
    alone = fit_ridge(inputs, codes, N_CLASSES, worlds, [best])
    np.testing.assert_array_equal(weights.by_place, alone.by_place)
    assert best not in (penalties[0], penalties[-1])  # else little would be shown


N_PLACES, WITH_AGENT, LONE = 12, 3, 2


def faint_agent(
    n: int,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.intp]]:
    """Activations in which an agent's place stands faintly, and walls do not; the
    classes of the cells; that place.
    """
    rng = np.random.default_rng(0)
    places = rng.integers(N_PLACES, size=n)
    codes = rng.integers(2, size=(n, N_PLACES))
    codes[np.arange(n), places] = LONE
    inputs = 0.4 * np.eye(60)[places] @ rng.normal(size=(60, 60)) + rng.normal(
        size=(n, 60)
    )
    return inputs.astype(np.float32), codes, places


def test_what_is_in_one_cell_is_named_best_whatever_else_there_is_to_predict() -> None:
    """The squared error of all wants a large penalty."""
    n, n_new = 90, 300
    inputs, codes, places = faint_agent(n + n_new)

    def right(*penalties: float) -> float:
        weights = fit_ridge(inputs[:n], codes[:n], WITH_AGENT, worlds_of(n), penalties)
        scores = scored(inputs[n:], weights) @ weights.by_place + weights.bias
        return float(
            (
                scores.reshape(n_new, N_PLACES, -1)[..., LONE].argmax(axis=1)
                == places[n:]
            ).mean()
        )

    each = {penalty: right(penalty) for penalty in PENALTIES}
    assert right(*PENALTIES) >= max(each.values()) - 0.05
    assert min(each.values()) < max(each.values()) - 0.05


@pytest.mark.parametrize("penalty", [1e3, 1e-6], ids=["much too large", "too small"])
def test_a_large_penalty_does_not_keep_the_scores_of_what_is_in_one_cell_small(
    penalty: float,
) -> None:
    """They are stretched by the slope of the targets on left-out predictions; too large
    ones stay as they are.
    """
    inputs, codes, _ = faint_agent(90)
    weights = fit_ridge(inputs, codes, WITH_AGENT, worlds_of(90), [penalty])
    fitted = (
        Ridge(alpha=penalty)
        .fit(scored(inputs, weights), onehot(codes, WITH_AGENT))
        .coef_.T
    )
    outside = left_out(
        penalty, scored(inputs, weights), codes, worlds_of(90), WITH_AGENT
    )
    level = onehot(codes, WITH_AGENT).mean(axis=0)
    of_agent = np.s_[:, LONE::WITH_AGENT]
    centred, targets = (
        (outside - level)[of_agent],
        (onehot(codes, WITH_AGENT) - level)[of_agent],
    )
    slope = (centred * targets).sum() / (centred**2).sum()
    ratio = weights.by_place / fitted
    others = np.median(ratio[:, 0::WITH_AGENT])
    np.testing.assert_allclose(ratio[of_agent] / others, max(1, slope), rtol=1e-3)
    assert slope > 2 if penalty == 1e3 else slope < 0.5


def left_out(
    penalty: float,
    inputs: NDArray[np.float64],
    codes: NDArray[np.int64],
    worlds: NDArray[np.str_],
    n_classes: int = N_CLASSES,
) -> NDArray[np.float64]:
    """Predictions of each world by a fit to the others, made one by one."""
    targets = onehot(codes, n_classes)
    found = cross_val_predict(
        Ridge(alpha=penalty), inputs, targets, groups=worlds, cv=LeaveOneGroupOut()
    )
    return np.asarray(found)


@pytest.mark.parametrize("penalty", [1e-3, 10.0])
def test_the_temperature_has_the_least_log_loss_on_left_out_worlds(
    penalty: float,
) -> None:
    inputs, codes = drawn(60, 80)
    worlds = worlds_of(60)
    weights = fit_ridge(inputs, codes, N_CLASSES, worlds, [penalty])
    fitted = Ridge(alpha=penalty).fit(scored(inputs, weights), onehot(codes))
    temperature = float(np.linalg.norm(fitted.coef_) / np.linalg.norm(weights.by_place))
    scores = left_out(penalty, scored(inputs, weights), codes, worlds).reshape(
        60, CELLS, N_CLASSES
    )

    def loss(warmth: float) -> float:
        return float(
            -np.log(
                np.take_along_axis(softmax(scores / warmth, -1), codes[..., None], -1)
            ).mean()
        )

    assert loss(temperature) < min(loss(temperature * 1.1), loss(temperature / 1.1))


def test_it_is_the_same_however_many_threads_there_are() -> None:
    inputs, codes = drawn(200, 300)
    made = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            made.append(fit_ridge(inputs, codes, N_CLASSES, worlds_of(200), PENALTIES))
    assert made[0].by_place.tobytes() == made[1].by_place.tobytes()
    assert made[0].bias.tobytes() == made[1].bias.tobytes()


def test_it_finds_what_stands_small_where_a_probe_that_stops_early_does_not() -> None:
    """Beside some hundred times larger activations that go with nothing, in every
    input.
    """
    beside = np.random.default_rng(4).normal(size=(8, 64))

    def among(data: ProbeDataset) -> ProbeDataset:
        large = (
            np.random.default_rng(len(data.inputs)).normal(
                scale=100, size=(len(data.inputs), 8)
            )
            @ beside
        )
        return replace(data, inputs=(data.inputs + large).astype(np.float32))

    train, test = (
        among(planted(n, seed, linear=True, noise=0.01))
        for n, seed in ((500, 1), (150, 2))
    )
    assert min(top1("ridge", train, test).values()) > 0.7
    assert max(top1("bilinear", train, test).values()) < CHANCE + 0.1


def test_controls_stay_at_chance_and_calibrated() -> None:
    train, test = planted(200, 1, linear=True), planted(100, 2, linear=True)
    order = np.random.default_rng(3).permutation(len(train.labels))
    shuffled = replace(train, labels=train.labels[order])
    blind = replace(train, inputs=np.zeros_like(train.inputs))
    for control, held_out in (
        (shuffled, test),
        (blind, replace(test, inputs=np.zeros_like(test.inputs))),
    ):
        assert max(top1("ridge", control, held_out).values()) < CHANCE + 0.1
        empty = fit(control).predict(held_out.inputs)[..., EMPTY]
        assert empty.mean() == pytest.approx((test.labels == EMPTY).mean(), abs=0.03)


def fit(train: ProbeDataset) -> CogmapReadout:
    readout = CogmapProbe(CogmapConfig(size=SIDE, variants=("ridge",))).fit(
        "ridge", train, np.random.default_rng(0)
    )
    assert isinstance(readout, CogmapReadout)
    return readout


def test_constant_activations_give_how_often_cells_were_of_a_class() -> None:
    train = planted(400, 1, linear=True)
    decoded = fit(replace(train, inputs=np.full_like(train.inputs, 7))).predict(
        train.inputs[:1]
    )
    likeliest = np.stack(
        [(train.labels == code).mean(axis=0) for code in range(len(CLASSES))], axis=-1
    )
    assert (
        np.argsort(decoded[0, ..., AGENT], axis=None)
        == np.argsort(likeliest[..., AGENT], axis=None)
    )[-1]
    assert (decoded[0].argmax(axis=-1) == likeliest.argmax(axis=-1)).all()


def test_a_class_absent_from_training_has_probability_zero() -> None:
    train = planted(100, 1, linear=True)
    goalless = replace(
        train, labels=np.where(train.labels == GOAL, EMPTY, train.labels)
    )
    decoded = fit(goalless).predict(train.inputs)
    assert not decoded[..., GOAL].any()
    np.testing.assert_allclose(decoded.sum(axis=-1), 1, atol=1e-5)


def test_two_worlds_will_do_and_one_is_refused() -> None:
    inputs, codes = drawn(10, 4)
    assert np.isfinite(
        fit_ridge(inputs, codes, N_CLASSES, worlds_of(10, turns=5), PENALTIES).by_place
    ).all()
    with pytest.raises(
        ValueError, match="left-out worlds: wanted 2 to train on, got 1"
    ):
        fit_ridge(inputs, codes, N_CLASSES, worlds_of(10, turns=10), PENALTIES)


def test_cells_that_never_differ_have_no_weights() -> None:
    """So that no ablation takes away what goes with rounding."""
    inputs, codes = drawn(30, 60)
    codes[:, 1] = 1
    weights = fit_ridge(
        inputs, codes, N_CLASSES, worlds_of(30), [1e-4]
    ).by_place.reshape(60, CELLS, N_CLASSES)
    assert not weights[:, 1].any()
    assert weights[:, [0, 2]].all()
