"""The check of probes (`gde.parts.probe`)."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from gde.data.activations import EMBEDDING, TokenSequence
from gde.data.arrays import Floats
from gde.data.completion import Completion, ModelInfo, Tokenization
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.parts.probe import (
    PredictsLabels,
    Probe,
    Readout,
    ScoresTurns,
    input_form,
    is_concurrent,
    marks_of,
    orders_of,
    reads_one_turn,
)
from gde.seeding import generator
from gde.testing.measurements import check_measurements
from gde.testing.promises import (
    calling,
    close,
    promise,
    promise_equal,
    promise_protocol,
    unknown,
)
from gde.testing.samples import sample_evidence

MODEL = ModelInfo(name="sample", n_layers=4, width=8)
TOKENS = 3
"""Most tokens of a turn in the made-up activations of `MODEL`."""
ROUNDING = 1e-6
"""How far rounding may take a probability above 1."""
THREADS = 2
"""Threads in which a concurrent probe is fitted."""


def check_probe(
    make: Callable[[], Probe],
    trajectories: Sequence[Trajectory] = (),
) -> None:
    """Fit and score every variant on made-up activations: every promise of `Probe`.

    Args:
        make: gives the probe; a configuration that fits quickly is enough.
        trajectories: episodes that the probe can label; by default in a corridor.

    Raises:
        AssertionError: a promise is broken.
    """
    trajectories = trajectories or sample_evidence().trajectories
    probe = make()
    promise_protocol(probe, Probe)
    promise(
        len(set(probe.variants)) == len(probe.variants) > 0,
        f"a probe must name one or more distinct variants, got {probe.variants}",
    )
    for read in (input_form, is_concurrent, reads_one_turn, orders_of):
        calling(partial(read, probe), "what a probe tells of itself must be known")

    _check_request(probe)
    _check_marks(probe)
    dataset = _dataset(probe, trajectories)
    for variant in probe.variants:
        _check_variant(probe, variant, dataset)
    if is_concurrent(probe):
        _check_threads(probe, dataset)


def _check_request(probe: Probe) -> None:
    request = probe.capture(MODEL)
    promise_equal(
        request,
        probe.capture(MODEL),
        "capture must give the same request for the same model",
    )
    promise(
        request.layers and {*request.layers} <= {*range(EMBEDDING, MODEL.n_layers)},
        f"capture must request layers 0 to {MODEL.n_layers - 1}, got {request.layers}",
    )
    promise(request.positions, "capture must request at least one position")


def _check_marks(probe: Probe) -> None:
    marks = marks_of(probe)
    if marks is None:
        return
    answer = Completion(
        text="RIGHT",
        reasoning=None,
        finish="stop",
        prompt_tokens=(1, 2),
        tokens=tuple(map(ord, "RIGHT")),
        positions={"pre": (0, 1)},
    )
    sequence = TokenSequence(
        tokens=answer.prompt_tokens + answer.tokens, positions=answer.positions
    )
    marked = marks(answer, sequence, _letters)
    promise_equal(
        marked,
        marks(answer, sequence, _letters),
        "marks must find the same in the same answer",
    )
    unasked = sorted(marked.keys() - {*probe.capture(MODEL).positions})
    promise(not unasked, f"marks must find positions that capture requests: {unasked}")
    promise(
        all(marked.values()), "marks must say why a position has no tokens, got nothing"
    )
    places = [
        place for each in marked.values() if not isinstance(each, str) for place in each
    ]
    promise(
        {*places} <= {*range(len(sequence.tokens))},
        f"marks must give indices into {len(sequence.tokens)} tokens, got {places}",
    )


def _letters(text: str) -> Tokenization:
    """A text in tokens of one letter."""
    spans = tuple((i, i + 1) for i in range(len(text)))
    return Tokenization(ids=tuple(map(ord, text)), spans=spans)


def _labels(probe: Probe, trajectory: Trajectory) -> ProbeLabels:
    try:
        labels = probe.labels(trajectory)
    except Exception as error:
        raise AssertionError(unknown("labels", trajectory, error)) from error
    values = labels.values
    promise_equal(
        len(values), len(trajectory.turns), "labels must have one entry for each turn"
    )
    promise(not np.isinf(values).any(), "labels must not be infinite")
    promise(
        np.array_equal(values, probe.labels(trajectory).values, equal_nan=True),
        "labels must be the same in a second call",
    )
    known = values[~np.isnan(values)]
    promise(
        not labels.classes or np.isin(known, range(len(labels.classes))).all(),
        f"labels must be indices of their classes {', '.join(labels.classes)}, got {np.unique(values)}",
    )
    return labels


def _dataset(probe: Probe, trajectories: Sequence[Trajectory]) -> ProbeDataset:
    """The labels of the trajectories with made-up activations."""
    labelled = [_labels(probe, trajectory) for trajectory in trajectories]
    shapes = {each.values.shape[1:] for each in labelled}
    promise(
        len(shapes) == 1,
        f"labels must have one trailing shape for all trajectories, got {sorted(shapes)}",
    )
    classes = {each.classes for each in labelled}
    promise(
        len(classes) == 1,
        f"labels must have the same classes for all trajectories, got {sorted(classes)}",
    )

    groups: list[str] = []
    for trajectory in trajectories:
        groups += [trajectory.world.cluster] * len(trajectory.turns)
    dataset = ProbeDataset(
        inputs=_inputs(probe, len(groups)),
        labels=np.concatenate([each.values for each in labelled]),
        groups=np.array(groups),
        classes=classes.pop(),
    )
    # A probe must not change its data.
    dataset.inputs.flags.writeable = False
    dataset.labels.flags.writeable = False
    return dataset


def _inputs(probe: Probe, n: int) -> Floats:
    """Made-up activations in the form of the probe's inputs.

    As tokens, turns have 1 to `TOKENS` of them.
    """
    drawn = generator(0, "activations").normal(size=(n, TOKENS, MODEL.width))
    values = drawn.astype(np.float32)
    if input_form(probe) == "concatenated":
        return values.reshape(n, -1)
    lengths = 1 + np.arange(n) % TOKENS
    values[np.arange(TOKENS) >= lengths[:, None]] = np.nan
    return values


def _check_variant(probe: Probe, variant: str, dataset: ProbeDataset) -> None:
    readout = probe.fit(variant, dataset, generator(0, "fit"))
    promise_protocol(readout, Readout)
    predicted = _check_predictions(readout, variant, dataset)
    arrays = readout.arrays()
    for name, values in arrays.items():
        promise_equal(
            values.dtype,
            np.dtype(np.float32),
            f"{variant}: array {name!r} must be float32",
        )

    again = probe.fit(variant, dataset, generator(0, "fit"))
    promise(
        np.array_equal(predicted, again.predict(dataset.inputs)),
        f"{variant}: fit must be a function of the data and the generator",
    )
    loaded = calling(
        lambda: probe.load(variant, arrays),
        f"{variant}: load must make a readout of stored arrays",
    )
    promise(
        np.array_equal(predicted, loaded.predict(dataset.inputs)),
        f"{variant}: a loaded readout must predict the same as the fitted one",
    )

    scores = probe.score(readout, dataset, generator(0, "score"))
    promise(scores, f"{variant}: score must give a measurement, or one with a reason")
    check_measurements(scores)
    repeated = probe.score(readout, dataset, generator(0, "score"))
    promise_equal(
        list(scores),
        list(repeated),
        f"{variant}: score must be a function of readout, data and generator",
    )

    if isinstance(probe, ScoresTurns):
        _check_turn_scores(probe, variant, predicted, dataset, scores)
    if isinstance(probe, PredictsLabels):
        _check_likelihoods(probe, variant, readout, dataset)
        _check_guess(probe, variant, readout, dataset)

    # A single world must be enough for a score, or for a reason.
    single_world = dataset.take(dataset.groups == dataset.groups[0])
    check_measurements(probe.score(readout, single_world, generator(0, "score")))


def _check_turn_scores(
    probe: ScoresTurns,
    variant: str,
    predicted: Floats,
    dataset: ProbeDataset,
    measured: Sequence[Measurement],
) -> None:
    values = {one.name: one.value for one in measured if not one.where}
    for name, scores in probe.turn_scores(predicted, dataset).items():
        promise_equal(
            scores.shape,
            (len(dataset.groups),),
            f"{variant}: turn_scores must give a score for each turn, {name!r}",
        )
        value = values.get(name)
        promise(
            value is not None and np.isclose(np.nanmean(scores), value, rtol=1e-4),
            f"{variant}: the measurement {name!r} must be the mean of its turn_scores",
        )


def _check_likelihoods(
    probe: PredictsLabels, variant: str, readout: Readout, dataset: ProbeDataset
) -> None:
    found = probe.likelihoods(readout, dataset)
    promise(found, f"{variant}: likelihoods must be of something")
    for name, labels in found.items():
        promise(
            labels.fitted.ndim == 2
            and labels.fitted.shape == labels.uniform.shape
            and len(labels.fitted) == len(dataset.groups),
            f"{variant}: likelihoods must be (turns, labels) of the same shape, {name!r}",
        )
        fitted = labels.fitted[np.isfinite(labels.fitted)]
        promise(
            ((fitted >= 0) & (fitted <= 1 + ROUNDING)).all(),
            f"{variant}: likelihoods must be probabilities, {name!r}",
        )
        promise(
            ((labels.uniform > 0) & (labels.uniform <= 1)).all(),
            f"{variant}: uniform likelihoods must be above 0 and at most 1, {name!r}",
        )


def _check_guess(
    probe: PredictsLabels, variant: str, readout: Readout, dataset: ProbeDataset
) -> None:
    """Fit the probe to every other turn too."""
    assert isinstance(probe, Probe)
    half = dataset.take(np.arange(0, len(dataset.groups), 2))
    other = probe.fit(variant, half, generator(0, "fit"))
    of_other = probe.likelihoods(other, dataset)
    for name, labels in probe.likelihoods(readout, dataset).items():
        promise(
            name not in of_other or close(of_other[name].uniform, labels.uniform),
            f"{variant}: uniform likelihoods must not depend on the fit, {name!r}",
        )


def _check_threads(probe: Probe, dataset: ProbeDataset) -> None:
    def fit(variant: str) -> Floats:
        readout = probe.fit(variant, dataset, generator(0, "fit"))
        return readout.predict(dataset.inputs)

    variants = probe.variants * THREADS
    alone = [fit(variant) for variant in variants]
    with ThreadPoolExecutor(THREADS) as threads:
        at_once = list(threads.map(fit, variants))
    promise(
        all(map(np.array_equal, alone, at_once)),
        "a probe must learn the same in several threads at once, or `concurrent` be False",
    )


def _check_predictions(readout: Readout, variant: str, dataset: ProbeDataset) -> Floats:
    predicted = readout.predict(dataset.inputs)
    promise_equal(
        len(predicted),
        len(dataset.inputs),
        f"{variant}: predict must give one row for each input row",
    )
    promise_equal(
        predicted.dtype, np.dtype(np.float32), f"{variant}: predictions must be float32"
    )
    promise(np.isfinite(predicted).all(), f"{variant}: predictions must be finite")
    (alone,) = readout.predict(dataset.inputs[:1])
    promise(
        close(alone, predicted[0]),
        f"{variant}: the prediction of a row must not depend on other rows",
    )
    if dataset.inputs.ndim == 3:
        further = np.pad(
            dataset.inputs, ((0, 0), (0, 2), (0, 0)), constant_values=np.nan
        )
        promise(
            close(readout.predict(further), predicted),
            f"{variant}: padding must not change a prediction",
        )
    return predicted
