"""The controls of a probe: what it is fitted to in place of the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gde.data.arrays import Floats, Indices
from gde.data.grouping import grouped
from gde.data.probe import ProbeDataset, ProbeReport
from gde.numerics.controls import over_initialisations

EXCHANGES = 5
"""Fits to labels that are exchanged between worlds."""


def nothing(dataset: ProbeDataset) -> Floats:
    """(N, D) zeros, as many as there are activations."""
    shape = (len(dataset.inputs), dataset.inputs.shape[-1])
    return np.zeros(shape, dtype=np.float32)


def one_hot(conditions: Indices) -> Floats:
    """(N, C) an input for each condition, by which even a linear probe reads any
    function of the swept values.
    """
    return np.eye(conditions.max() + 1, dtype=np.float32)[conditions]


def exchanged(train: ProbeDataset, rng: np.random.Generator) -> ProbeDataset:
    """The training data with each world's labels in place of another's.

    Labels of one world are alike. They are exchanged together, so that a fit to them is
    as unsure as one to true labels, but in another order: a turn's number tells nothing
    of them. Turns without a label stay without one.
    """
    labels = train.labels.copy()
    of_turns = labels.reshape(len(labels), -1)
    labelled = np.flatnonzero(~np.isnan(of_turns).any(axis=1))
    worlds = grouped(labelled.tolist(), lambda row: str(train.groups[row]))
    others = rng.permutation(list(worlds))
    for own, other in zip(worlds.values(), others, strict=True):
        theirs = rng.permutation(worlds[str(other)])
        for i, row in enumerate(own):
            labels[row] = train.labels[theirs[i % len(theirs)]]
    return replace(train, labels=labels)


def told(dataset: ProbeDataset, known: Floats) -> ProbeDataset:
    """The dataset with what is known of each turn (N, K) in place of activations."""
    if dataset.inputs.ndim == 2:
        return replace(dataset, inputs=known)

    # The number of tokens is known without any activations.
    n_tokens = dataset.inputs.shape[1]
    tokens = np.repeat(known[:, None], n_tokens, axis=1)
    tokens[np.isnan(dataset.inputs[:, :, 0])] = np.nan
    return replace(dataset, inputs=tokens)


def averaged(reports: Sequence[ProbeReport]) -> ProbeReport:
    """The report of several draws: their mean numbers, and what each of them decoded
    and scored.
    """
    first = reports[0]
    if len(reports) == 1:
        return first
    measurements = over_initialisations([each.measurements for each in reports])
    coded = [each.coded for each in reports]
    codes = _joined([each.scores for each in coded])
    return replace(
        first,
        measurements=tuple(measurements),
        further=tuple(each.decoded for each in reports[1:]),
        scores=_joined([each.scores for each in reports]),
        coded=replace(first.coded, scores=codes),
    )


def _joined(
    several: Sequence[Mapping[str, Floats]],
) -> Mapping[str, Floats]:
    """(K, N) scores of K draws, by the names that all of them have."""
    shared = {}
    for name in several[0]:
        if all(name in each for each in several):
            shared[name] = np.concatenate([each[name] for each in several])
    return shared
