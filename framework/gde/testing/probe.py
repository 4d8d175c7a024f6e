"""The check of probes (`gde.parts.probe`)."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import EMBEDDING
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.trajectory import Trajectory
from gde.parts.probe import Probe, Readout, input_form, is_concurrent
from gde.seeding import generator
from gde.testing.measurements import check_measurements
from gde.testing.promises import (
    calling,
    promise,
    promise_equal,
    promise_protocol,
    unknown,
)
from gde.testing.samples import sample_evidence

MODEL = ModelInfo(name="sample", n_layers=4, width=8)
TOKENS = 3
"""Most tokens of a turn in the made-up activations of `MODEL`."""
THREADS = 2
"""Threads in which a concurrent probe is fitted."""


def check_probe(
    make: Callable[[], Probe],
    trajectories: Sequence[Trajectory] = (),
    model: ModelInfo = MODEL,
) -> None:
    """Fit and score every variant on made-up activations, and check every promise of
    `Probe` and `Readout`.

    Args:
        make: gives the probe; a configuration that fits quickly is enough.
        trajectories: episodes that the probe can label; by default episodes in a
        corridor. model: a model whose activations the probe may read.

    Raises:
        AssertionError: a promise is broken.
    """
    trajectories = trajectories or sample_evidence().trajectories
    probe = make()
    promise_protocol(probe, Probe)
    distinct = len(set(probe.variants)) == len(probe.variants) > 0
    promise(
        distinct,
        f"a probe must name one or more distinct variants, got {probe.variants}",
    )
    calling(lambda: input_form(probe), "`inputs` must be a form of inputs")
    concurrent = calling(
        lambda: is_concurrent(probe), "`concurrent` must be True or False"
    )

    _check_request(probe, model)
    dataset = _dataset(probe, trajectories)
    for variant in probe.variants:
        _check_variant(probe, variant, dataset)
    if concurrent:
        _check_at_once(probe, dataset)


def _check_request(probe: Probe, model: ModelInfo) -> None:
    request = probe.capture(model)
    promise_equal(
        request,
        probe.capture(model),
        "capture must give the same request for the same model",
    )
    there = all(
        layer == EMBEDDING or 0 <= layer < model.n_layers for layer in request.layers
    )
    promise(
        there and request.layers,
        f"capture must ask for layers 0 to {model.n_layers - 1}, got {request.layers}",
    )
    promise(request.positions, "capture must ask for at least one position")


def _labelled(probe: Probe, trajectory: Trajectory) -> ProbeLabels:
    try:
        return probe.labels(trajectory)
    except Exception as error:
        raise AssertionError(unknown("labels", trajectory, error)) from error


def _dataset(probe: Probe, trajectories: Sequence[Trajectory]) -> ProbeDataset:
    """The labels of the trajectories with made-up activations."""
    labelled = [_labelled(probe, trajectory) for trajectory in trajectories]
    labels = [one.values for one in labelled]
    for trajectory, values in zip(trajectories, labels, strict=True):
        promise_equal(
            len(values), len(trajectory.turns), "labels must have one entry a turn"
        )
        again = probe.labels(trajectory).values
        promise(
            np.array_equal(values, again),
            "labels must be the same when asked for again",
        )
        promise(np.isfinite(values).all(), "labels must be finite")

    shapes = {values.shape[1:] for values in labels}
    promise(
        len(shapes) == 1,
        f"labels must have one trailing shape for all trajectories, got {sorted(shapes)}",
    )
    classes = {one.classes for one in labelled}
    promise(
        len(classes) == 1,
        f"labels must have the same classes for all trajectories, got {sorted(classes)}",
    )
    _check_classes(labelled)

    groups: list[str] = []
    for trajectory in trajectories:
        groups += [trajectory.world.cluster] * len(trajectory.turns)
    dataset = ProbeDataset(
        inputs=_inputs(probe, len(groups)),
        labels=np.concatenate([*labels]),
        groups=np.array(groups),
        classes=classes.pop(),
    )
    # A probe must not change its data.
    dataset.inputs.flags.writeable = False
    dataset.labels.flags.writeable = False
    return dataset


def _inputs(probe: Probe, n: int) -> NDArray[np.float32]:
    """Made-up activations in the probe's form of inputs: as tokens, 1 to `TOKENS` for
    each turn.
    """
    values = (
        generator(0, "activations")
        .normal(size=(n, TOKENS, MODEL.width))
        .astype(np.float32)
    )
    if input_form(probe) == "concatenated":
        return values.reshape(n, -1)
    lengths = 1 + np.arange(n) % TOKENS
    values[np.arange(TOKENS) >= lengths[:, None]] = np.nan
    return values


def _check_classes(labelled: Sequence[ProbeLabels]) -> None:
    for one in labelled:
        known = not one.classes or np.isin(one.values, range(len(one.classes))).all()
        promise(
            known,
            f"labels must be indices of their classes {', '.join(one.classes)}, got {np.unique(one.values)}",
        )


def _check_variant(probe: Probe, variant: str, dataset: ProbeDataset) -> None:
    readout = probe.fit(variant, dataset, generator(0, "fit"))
    again = probe.fit(variant, dataset, generator(0, "fit"))
    promise_protocol(readout, Readout)
    _check_predictions(readout, variant, dataset)
    _check_arrays(readout, again, variant)
    same = np.array_equal(
        readout.predict(dataset.inputs), again.predict(dataset.inputs)
    )
    promise(same, f"{variant}: fit must be a function of the data and the generator")
    _check_loaded(probe, readout, variant, dataset)

    scores = probe.score(readout, dataset, generator(0, "score"))
    promise(scores, f"{variant}: score must give a measurement, or one with a reason")
    check_measurements(scores)
    repeated = probe.score(readout, dataset, generator(0, "score"))
    promise_equal(
        list(scores),
        list(repeated),
        f"{variant}: score must be a function of readout, data and generator",
    )

    # A single world must be enough for a score, or for a reason.
    single_world = dataset.take(dataset.groups == dataset.groups[0])
    check_measurements(
        probe.score(readout, replace(single_world), generator(0, "score"))
    )


def _check_at_once(probe: Probe, dataset: ProbeDataset) -> None:
    def fit(variant: str) -> Mapping[str, NDArray[np.float32]]:
        return probe.fit(variant, dataset, generator(0, "fit")).arrays()

    variants = probe.variants * THREADS
    alone = [fit(variant) for variant in variants]
    with ThreadPoolExecutor(THREADS) as threads:
        at_once = list(threads.map(fit, variants))
    for variant, first, second in zip(variants, alone, at_once, strict=True):
        same = all(
            np.array_equal(values, second[name]) for name, values in first.items()
        )
        promise(
            same,
            f"{variant}: several threads at once must learn what one learns, or `concurrent` be False",
        )


def _check_predictions(readout: Readout, variant: str, dataset: ProbeDataset) -> None:
    predicted = readout.predict(dataset.inputs)
    promise_equal(
        len(predicted),
        len(dataset.inputs),
        f"{variant}: predict must give one row an input row",
    )
    promise_equal(
        predicted.dtype, np.dtype(np.float32), f"{variant}: predictions must be float32"
    )
    promise(np.isfinite(predicted).all(), f"{variant}: predictions must be finite")
    (alone,) = readout.predict(dataset.inputs[:1])
    promise(
        _close(alone, predicted[0]),
        f"{variant}: the prediction of a row must not depend on other rows",
    )
    if dataset.inputs.ndim == 3:
        further = np.pad(
            dataset.inputs, ((0, 0), (0, 2), (0, 0)), constant_values=np.nan
        )
        promise(
            _close(readout.predict(further), predicted),
            f"{variant}: padding must play no part in a prediction",
        )


def _check_arrays(readout: Readout, again: Readout, variant: str) -> None:
    first = readout.arrays()
    second = again.arrays()
    promise(first, f"{variant}: arrays must give what was learned")
    for name, values in first.items():
        promise_equal(
            values.dtype,
            np.dtype(np.float32),
            f"{variant}: array {name!r} must be float32",
        )
        same = np.array_equal(values, second[name])
        promise(
            same, f"{variant}: the same data and generator must learn the same {name!r}"
        )


def _check_loaded(
    probe: Probe, readout: Readout, variant: str, dataset: ProbeDataset
) -> None:
    stored = {name: values.copy() for name, values in readout.arrays().items()}
    loaded = calling(
        lambda: probe.load(variant, stored),
        f"{variant}: load must make a readout of stored arrays",
    )
    promise_protocol(loaded, Readout)
    same = np.array_equal(
        loaded.predict(dataset.inputs), readout.predict(dataset.inputs)
    )
    promise(
        same,
        f"{variant}: a readout that is loaded must predict what it predicted when it was fitted",
    )


def _close(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    return bool(np.allclose(first, second, rtol=1e-3, atol=1e-4))
