"""The estimator keeps scikit-learn's conventions and finds what is planted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cogmap_classifier import CogmapClassifier
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde_plugins.probes.fitting.training import class_weights

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

SMALL: dict[str, Any] = {"hidden": 64, "epochs": 40, "batch": 16, "random_state": 0}


NOT_APPLICABLE = {
    "check_supervised_y_2d": "labels of shape (N, 1) are grids of one cell, no mistake to warn of"
}
ESTIMATORS = [
    CogmapClassifier(hidden=32),
    CogmapClassifier(hidden=0, epochs=40, learning_rate=0.1),
]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    ESTIMATORS, expected_failed_checks=lambda _: NOT_APPLICABLE
)
def test_scikit_learn_conventions(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_labels_and_probabilities_have_the_shape_of_the_grid(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    data = planted(6, 1)
    fitted = CogmapClassifier(**SMALL).fit(data.inputs, data.labels)
    assert fitted.classes_.tolist() == [EMPTY, AGENT, GOAL, WALL, PAD]
    assert fitted.predict(data.inputs).shape == (6, 7, 7)
    probabilities = fitted.predict_proba(data.inputs)
    assert probabilities.shape == (6, 7, 7, 5)
    np.testing.assert_allclose(probabilities.sum(axis=-1), 1, rtol=1e-5)
    assert (
        fitted.score(data.inputs, data.labels)
        == (fitted.predict(data.inputs) == data.labels).mean()
    )


def test_the_same_seed_fits_the_same_network(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    data = planted(20, 1)
    first, again, other = (
        clone(CogmapClassifier(**SMALL))
        .set_params(random_state=seed)
        .fit(data.inputs, data.labels)
        for seed in (3, 3, 4)
    )
    assert first.loss_curve_ == again.loss_curve_
    assert (first.weights_.activation == again.weights_.activation).all()
    assert first.loss_curve_ != other.loss_curve_


def test_only_the_mlp_places_agent_and_goal(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    train, test = planted(300, 1), planted(100, 2)
    mlp = CogmapClassifier(**SMALL).fit(train.inputs, train.labels)
    linear = CogmapClassifier(**{**SMALL, "hidden": 0}).fit(train.inputs, train.labels)
    blind = CogmapClassifier(**SMALL).fit(np.zeros_like(train.inputs), train.labels)
    for code in (AGENT, GOAL):
        assert found(mlp, test, code) > 0.7
        # Logits that are linear in row and column are highest in a corner, the same for
        # every turn.
        assert found(linear, test, code) < 0.1
        assert found(blind, test, code) < 0.2


def test_shuffled_labels_teach_nothing(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    train, test = planted(300, 1), planted(100, 2)
    shuffled = np.random.default_rng(0).permutation(train.labels)
    fitted = CogmapClassifier(**SMALL).fit(train.inputs, shuffled)
    assert found(fitted, test, AGENT) < 0.2


def test_whitening_finds_what_hides_in_axes_of_little_variance(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    train, test = planted(500, 1), planted(100, 2)
    loud = np.random.default_rng(0).normal(size=(3, train.inputs.shape[1]))
    few = {**SMALL, "epochs": 25}

    def drowned(data: ProbeDataset) -> ProbeDataset:
        noise = (
            np.random.default_rng(len(data.inputs)).normal(
                scale=10, size=(len(data.inputs), 3)
            )
            @ loud
        )
        return replace(data, inputs=(data.inputs + noise).astype(np.float32))

    train, test = drowned(train), drowned(test)
    whitened, plain = (
        CogmapClassifier(**few, whiten=whiten) for whiten in (True, False)
    )
    assert found(whitened.fit(train.inputs, train.labels), test, AGENT) > 0.4
    assert found(plain.fit(train.inputs, train.labels), test, AGENT) < 0.3


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_handful_of_turns_is_enough_to_fit(
    planted: Callable[[int, int], ProbeDataset], n: int
) -> None:
    data = planted(n, 1)
    probabilities = (
        CogmapClassifier(**SMALL)
        .fit(data.inputs, data.labels)
        .predict_proba(data.inputs)
    )
    assert np.isfinite(probabilities).all()


def test_a_single_class_is_certain() -> None:
    fitted = CogmapClassifier(**SMALL).fit(np.ones((3, 4)), np.full((3, 2, 2), 7))
    assert (fitted.predict(np.zeros((2, 4))) == 7).all()
    assert (fitted.predict_proba(np.zeros((2, 4))) == 1).all()


def test_balanced_classes_weigh_the_same() -> None:
    codes = np.array([[0, 0, 0], [1, 0, 2]])
    weights = class_weights(codes, 3)
    assert weights.mean() == pytest.approx(1)
    assert [weights[codes == code].sum() for code in range(3)] == pytest.approx(
        [2, 2, 2]
    )


def found(fitted: CogmapClassifier, test: ProbeDataset, code: int) -> float:
    """The share of turns in which the likeliest cell of a class is the true one."""
    likeliest = (
        fitted.predict_proba(test.inputs)[..., code]
        .reshape(len(test.inputs), -1)
        .argmax(axis=1)
    )
    truth = (test.labels == code).reshape(len(test.inputs), -1).argmax(axis=1)
    return float((likeliest == truth).mean())
