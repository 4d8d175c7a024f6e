"""The factored network equals the ordinary one on materialised rows, in its outputs and
in its gradients.
"""

from dataclasses import replace
from functools import reduce
from math import prod

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from gde_plugins.probes.fitting import design, gradients, training
from gde_plugins.probes.fitting.gradients import Batch, loss_and_gradients
from gde_plugins.probes.fitting.training import (
    Examples,
    Settings,
    fit_network,
    sample_cells,
)
from gde_plugins.probes.fitting.weights import (
    CellWeights,
    cell_coordinates,
    z_scores,
)

N, D, CLASSES, SHAPE = 7, 6, 5, (4, 3)
CELLS = prod(SHAPE)
SETTINGS = Settings(
    hidden=16,
    whiten=False,
    epochs=2,
    batch=4,
    cells=None,
    learning_rate=1e-2,
    weight_decay=1e-3,
    device="cpu",
)


def network(hidden: int) -> CellWeights:
    return CellWeights.initial(D, 2, CLASSES, hidden, np.random.default_rng(1))


def activations() -> NDArray[np.float32]:
    return np.random.default_rng(2).normal(3, 2, (N, D)).astype(np.float32)


def rows(inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N * cells, D + 2) what the factored network never forms."""
    coordinates = np.tile(cell_coordinates(SHAPE), (len(inputs), 1))
    return np.concatenate([np.repeat(inputs, CELLS, axis=0), coordinates], axis=1)


@pytest.mark.parametrize("hidden", [0, 16])
def test_outputs_are_those_on_materialised_rows(hidden: int) -> None:
    w, inputs = network(hidden), activations()
    expected = rows(inputs) @ np.concatenate([w.activation, w.coordinate]) + w.bias
    if w.output is not None:
        expected = np.maximum(expected, 0) @ w.output.T + w.output_bias
    logits = w.outputs(inputs, SHAPE).reshape(-1, CLASSES)
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-5)


def test_z_scoring_is_applied_before_the_first_layer() -> None:
    inputs = activations()
    mean, scale = z_scores(inputs)
    w = network(16)
    scoring = CellWeights.from_arrays({**w.arrays(), "mean": mean, "scale": scale})
    np.testing.assert_allclose(
        scoring.probabilities(inputs, SHAPE),
        w.probabilities((inputs - mean) / scale, SHAPE),
        rtol=1e-5,
    )


@pytest.mark.parametrize("hidden", [0, 16])
@pytest.mark.parametrize("at_once", [1, 2**19])
def test_gradients_are_those_of_autograd_on_materialised_rows(
    hidden: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradients, "FLOATS_AT_ONCE", at_once)
    rng = np.random.default_rng(3)
    w, inputs = network(hidden), activations()
    named = {
        name: torch.tensor(array)
        for name, array in w.arrays().items()
        if name not in training.FIXED
    }
    cells = torch.from_numpy(
        np.array([rng.choice(CELLS, 5, replace=False) for _ in range(N)])
    )
    targets, importance = (
        torch.from_numpy(rng.integers(CLASSES, size=(N, 5))),
        torch.rand(N, 5),
    )
    coordinates = torch.from_numpy(cell_coordinates(SHAPE))
    loss, found = loss_and_gradients(
        named,
        Batch(
            inputs=torch.from_numpy(inputs),
            cells=cells,
            coordinates=coordinates,
            targets=targets,
            weights=importance,
        ),
    )

    leaves = {
        name: parameter.clone().requires_grad_() for name, parameter in named.items()
    }
    chosen = (
        torch.from_numpy(rows(inputs))
        .view(N, CELLS, -1)[torch.arange(N)[:, None], cells]
        .flatten(0, 1)
    )
    logits = (
        chosen @ torch.cat([leaves["activation"], leaves["coordinate"]])
        + leaves["bias"]
    )
    if hidden:
        logits = logits.relu() @ leaves["output"].t() + leaves["output_bias"]
    expected = (
        cross_entropy(logits, targets.flatten(), reduction="none")
        @ importance.flatten()
    )
    expected.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert found.keys() == leaves.keys()
    for name, leaf in leaves.items():
        torch.testing.assert_close(found[name], leaf.grad, rtol=1e-4, atol=1e-5)


def test_squared_error_has_its_gradient() -> None:
    w, rng = (
        CellWeights.initial(D, 0, 1, 16, np.random.default_rng(1)),
        np.random.default_rng(3),
    )
    named = {
        name: torch.tensor(array)
        for name, array in w.arrays().items()
        if name not in training.FIXED
    }
    inputs, targets = (
        torch.from_numpy(activations()),
        torch.from_numpy(rng.normal(size=(N, 1)).astype(np.float32)),
    )
    batch = Batch(
        inputs=inputs,
        cells=torch.zeros(N, 1, dtype=torch.long),
        coordinates=torch.zeros(1, 0),
        targets=targets,
        weights=torch.full((N, 1), 1 / N),
    )
    loss, found = loss_and_gradients(named, batch)
    leaves = {
        name: parameter.clone().requires_grad_() for name, parameter in named.items()
    }
    hidden = (inputs @ leaves["activation"] + leaves["bias"]).relu()
    expected = (
        (hidden @ leaves["output"].t() + leaves["output_bias"] - targets)
        .square()
        .mean()
    )
    expected.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    for name in ("activation", "bias", "output", "output_bias"):
        torch.testing.assert_close(found[name], leaves[name].grad, rtol=1e-4, atol=1e-5)


def test_whitening_is_folded_into_the_first_layer() -> None:
    inputs, rng = activations(), np.random.default_rng(4)
    targets = rng.integers(CLASSES, size=(N, CELLS))
    examples = Examples(
        inputs=inputs, shape=SHAPE, targets=targets, weights=np.ones(targets.shape)
    )
    settings = replace(SETTINGS, whiten=True, epochs=60)
    fitted, losses = fit_network(examples, CLASSES, settings, np.random.default_rng(5))
    assert fitted.activation.shape == (D, 16)
    probabilities = fitted.probabilities(inputs, SHAPE).reshape(N, CELLS, CLASSES)
    loss = -np.log(np.take_along_axis(probabilities, targets[..., None], axis=2)).mean()
    # Training has come to rest, so the network read on raw activations has the loss it
    # had on whitened ones.
    assert loss == pytest.approx((4 * losses[-2] + 3 * losses[-1]) / 7, rel=0.01)


def test_whitened_axes_are_uncorrelated_and_damped() -> None:
    rng = np.random.default_rng(6)
    scored = (rng.normal(size=(500, 4)) * [10, 1, 0.1, 0]).astype(np.float32)
    whitened, _ = design.whitened(scored)
    covariance = whitened.T @ whitened / len(scored)
    variance = np.linalg.svd(scored, compute_uv=False)[:3] ** 2 / len(
        scored
    )  # the fourth axis has none
    np.testing.assert_allclose(
        covariance, np.diag(variance / (variance + 1)), atol=1e-4
    )


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)])
def test_whitened_axes_are_those_of_a_singular_value_decomposition(
    shape: tuple[int, int],
) -> None:
    rng = np.random.default_rng(8)
    scored = (rng.normal(size=shape) * rng.uniform(0.1, 5, size=shape[1])).astype(
        np.float32
    )
    _, singular, axes = np.linalg.svd(scored, full_matrices=False)
    expected, (inputs, factors) = (
        axes.T / np.sqrt(singular**2 / len(scored) + 1),
        design.whitened(scored),
    )
    found = reduce(np.matmul, factors)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-4)
    np.testing.assert_allclose(scored @ found, inputs, atol=1e-4)
    inputs, factors = design.whitened(np.zeros(shape, dtype=np.float32))
    nothing = reduce(np.matmul, factors)
    assert (
        np.abs(inputs).max() < 1e-12
        and np.isfinite(nothing).all()
        and nothing.shape[0] == shape[1]
    )


def test_sampled_cells_weigh_what_all_cells_weigh() -> None:
    rng = np.random.default_rng(7)
    weights_of_cells = np.tile([20.0, 10.0, *[0.5] * 10], (20_000, 1))
    values = np.array([1.0, -2.0, *np.linspace(0, 3, 10)])
    taken, importance = sample_cells(weights_of_cells, 5, rng)
    assert taken.shape == (20_000, 5)
    assert (np.sort(taken, axis=1)[:, 1:] != np.sort(taken, axis=1)[:, :-1]).all()
    assert (np.sort(taken, axis=1)[:, :2] == [0, 1]).mean() > 0.99
    sums = (importance * values[taken]).sum(axis=1)
    error = sums.std() / np.sqrt(len(sums))
    assert abs(sums.mean() - weights_of_cells[0] @ values) < 4 * error


def test_all_cells_are_taken_in_order_where_there_are_no_more() -> None:
    some = np.random.default_rng(8).random((3, 4))
    taken, importance = sample_cells(some, 9, np.random.default_rng(9))
    assert (taken == np.arange(4)).all()
    assert importance is some


def test_coordinates_are_z_scored_rows_and_columns() -> None:
    coordinates = cell_coordinates((3, 2))
    np.testing.assert_allclose(coordinates.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(coordinates.std(axis=0), 1, rtol=1e-6)
    assert coordinates[1, 0] == coordinates[0, 0] < coordinates[2, 0]
    assert cell_coordinates(()).shape == (1, 0)


def test_a_constant_activation_has_scale_one() -> None:
    mean, scale = z_scores(np.full((5, 1), 0.1))
    assert mean[0] == pytest.approx(0.1)
    assert scale[0] == 1
