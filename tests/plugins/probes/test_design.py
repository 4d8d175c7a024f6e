"""Fits to the same activations share one design, and learn what each would learn by
itself, to the bit.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any
from weakref import ref

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg import eigh as scipy_eigh
from threadpoolctl import threadpool_limits

from gde.data.activations import CaptureRequest
from gde.data.probe import ProbeDataset
from gde.stages.probing import list_fits
from gde_plugins.probes.config import CogmapConfig, DistanceConfig
from gde_plugins.probes.distance.probe import DistanceProbe
from gde_plugins.probes.fitting import design
from gde_plugins.probes.fitting.design import Design, LatestDesign
from gde_plugins.probes.fitting.eigen import eigh
from gde_plugins.probes.maps.probe import CogmapProbe

Planted = Callable[[int, int], ProbeDataset]
CONFIG = CogmapConfig(
    size=7, hidden=16, epochs=2, variants=("mlp", "linear", "bilinear", "cellwise")
)


@pytest.fixture
def whitened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shape of all that is whitened."""
    shapes: list[tuple[int, ...]] = []
    of = design.whitened

    def counting(
        scored: NDArray[np.float32],
    ) -> tuple[NDArray[np.float32], design.Axes]:
        shapes.append(scored.shape)
        return of(scored)

    monkeypatch.setattr(design, "whitened", counting)
    return shapes


def learned(
    probe: Callable[[], CogmapProbe | DistanceProbe], datasets: list[ProbeDataset]
) -> Iterator[dict[str, Any]]:
    for data in datasets:
        for variant in probe().variants:
            readout = probe().fit(
                variant,
                data.take(np.arange(len(data.inputs))),
                np.random.default_rng(1),
            )
            yield {
                name: (array.shape, array.tobytes())
                for name, array in readout.arrays().items()
            }


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("n", [20, 90])
def test_maps_are_the_same_to_the_bit(
    n: int, whiten: bool, planted: Planted, whitened: list[tuple[int, ...]]
) -> None:
    data, config = planted(n, 1), replace(CONFIG, whiten=whiten)
    datasets = [
        data,
        replace(data, labels=np.random.default_rng(2).permutation(data.labels)),
    ]
    alone = [*learned(lambda: CogmapProbe(config), datasets)]
    assert len(whitened) == 8 * whiten
    shared = CogmapProbe(config)
    assert [*learned(lambda: shared, datasets)] == alone
    assert len(whitened) == 9 * whiten
    assert len({str(each) for each in alone}) == 8


def test_distances_are_the_same_to_the_bit(
    planted: Planted, whitened: list[tuple[int, ...]]
) -> None:
    rng, data = np.random.default_rng(3), planted(30, 1)
    datasets = [replace(data, labels=rng.uniform(1, 9, size=(30, 3))) for _ in range(2)]
    config = DistanceConfig(hidden=16, epochs=2)
    alone, shared = (
        [*learned(lambda: DistanceProbe(config), datasets)],
        DistanceProbe(config),
    )
    assert len(whitened) == 2
    assert [*learned(lambda: shared, datasets)] == alone
    assert len(whitened) == 3


def test_a_sweep_whitens_the_activations_of_a_place_once(
    planted: Planted, whitened: list[tuple[int, ...]]
) -> None:
    probe = CogmapProbe(replace(CONFIG, variants=("bilinear", "cellwise")))
    sources: dict[tuple[int, str, str], ProbeDataset] = {}
    for fit in list_fits(
        "cogmap", probe, CaptureRequest(layers=(0, 1, 2), positions=("pre", "post"))
    ):
        source = (
            fit.layer,
            fit.position,
            "none" if fit.control == "shuffled" else fit.control,
        )
        data = sources.setdefault(source, planted(12, len(sources)))
        probe.fit(fit.variant, data.take(np.arange(12)), np.random.default_rng(0))
    assert len(whitened) == len(sources) == 2 * 4 + 4 * 2


def activations() -> NDArray[np.float32]:
    values = np.random.default_rng(4).normal(size=(12, 6)).astype(np.float32)
    values[0, 0] = 0.0
    return values


def test_equal_activations_have_one_design() -> None:
    prepare = LatestDesign()
    first = prepare(activations(), True)
    assert prepare(activations(), True) is first
    assert prepare(np.asfortranarray(activations()), True) is first


@pytest.mark.parametrize(
    "other",
    [
        lambda values: np.where(values == 0, np.float32(-0.0), values),
        lambda values: np.nextafter(values, np.float32(9)),
        lambda values: values.astype(np.float64),
        lambda values: values.reshape(6, 12),
        lambda values: values[::-1],
        lambda values: values[:-1],
    ],
    ids=["sign", "last bit", "type", "shape", "order", "rows"],
)
def test_other_activations_have_a_design_of_their_own(
    other: Callable[[NDArray[Any]], NDArray[Any]],
) -> None:
    prepare = LatestDesign()
    first, values = prepare(activations(), True), other(activations())
    found, expected = prepare(values, True), Design.of(values, True)
    assert found is not first
    np.testing.assert_array_equal(found.inputs, expected.inputs)


def test_z_scores_are_not_taken_for_whitened_inputs() -> None:
    prepare = LatestDesign()
    assert prepare(activations(), True).axes
    assert not prepare(activations(), False).axes


def test_one_design_is_held_and_none_while_the_next_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare = LatestDesign()
    first = ref(prepare(activations(), True).inputs)
    assert first() is not None
    alive: list[bool] = []
    scores = design.z_scores
    monkeypatch.setattr(
        design,
        "z_scores",
        lambda inputs: (alive.append(first() is not None), scores(inputs))[1],
    )
    prepare(activations() + 1, True)
    assert alive == [False]


def test_a_failure_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = LatestDesign()
    first = prepare(activations(), True)
    with monkeypatch.context() as broken:
        broken.setattr(design, "z_scores", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            prepare(activations() + 1, True)
    again = prepare(activations(), True)
    assert again is not first
    np.testing.assert_array_equal(again.inputs, first.inputs)


def test_a_design_cannot_be_changed() -> None:
    for few in (False, True):
        made = Design.of(activations().T if few else activations(), True)
        assert len(made.axes) == 1 + few
        for array in (made.mean, made.scale, *made.axes, made.inputs):
            assert not array.flags.writeable


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)], ids=["few turns", "many turns"])
def test_weights_of_inputs_are_weights_of_scores(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(9)
    captured = (rng.normal(size=shape) * rng.uniform(0.1, 5, size=shape[1])).astype(
        np.float32
    )
    made, weights = (
        Design.of(captured, True),
        rng.normal(size=(29, 3)).astype(np.float32),
    )
    weights = np.vstack(
        [weights, np.zeros((made.inputs.shape[1] - 29, 3), dtype=np.float32)]
    )
    scored = (captured - made.mean) / made.scale
    np.testing.assert_allclose(
        scored @ made.on_scores(weights), made.inputs @ weights, atol=2e-4
    )


def test_a_design_is_the_same_however_many_threads_there_are() -> None:
    captured = np.random.default_rng(0).normal(size=(300, 500)).astype(np.float32)
    made = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            made.append(Design.of(captured, True))
    assert made[0].inputs.tobytes() == made[1].inputs.tobytes()


def test_threads_that_fit_at_once_hold_a_design_each(
    whitened: list[tuple[int, ...]],
) -> None:
    prepare, meeting = LatestDesign(), Barrier(2)
    expected = [
        Design.of(activations() + shift, True).inputs.tobytes() for shift in range(2)
    ]

    def prepared(shift: int) -> list[Design]:
        made = []
        for _ in range(3):
            meeting.wait(30)
            made.append(prepare(activations() + shift, True))
        return made

    with ThreadPoolExecutor(2) as threads:
        made = [*threads.map(prepared, range(2))]
    assert [{each.inputs.tobytes() for each in of_thread} for of_thread in made] == [
        {each} for each in expected
    ]
    assert len(whitened) == 2 + 2


@pytest.mark.parametrize("n", [1, 2, 7, 150])
def test_eigenvectors_are_those_of_scipy_to_the_bit(n: int) -> None:
    scored = np.random.default_rng(n).normal(size=(n, 90)).astype(np.float32)
    for products in (
        scored @ scored.T,
        np.asfortranarray(scored @ scored.T),
        np.zeros((n, n), np.float32),
    ):
        for ours, theirs in zip(
            eigh(products), scipy_eigh(products, driver="evd"), strict=True
        ):
            assert ours.dtype == theirs.dtype == np.float32
            np.testing.assert_array_equal(ours.view(np.int32), theirs.view(np.int32))


def test_what_lapack_refuses_is_an_error() -> None:
    with pytest.raises(LinAlgError, match="no eigenvalue decomposition"):
        eigh(np.zeros((0, 0), dtype=np.float32))
