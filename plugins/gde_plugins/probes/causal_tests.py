"""The changes that a causal test of one thing makes: steering, patching and ablation, each with its controls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import EMBEDDING
from gde.data.completion import ChatRequest
from gde.data.result import Measurement
from gde_plugins.probes.causes import Case, Change
from gde_plugins.probes.cogmap import CogmapReadout
from gde_plugins.probes.interventions import (
    Direction,
    Where,
    ablate,
    cell_gradient,
    patch,
    random_direction,
    steer,
    subspace,
    towards,
)
from gde_plugins.probes.map_policies import top
from gde_plugins.probes.places import PlaceWeights, incidence
from gde_plugins.probes.twins import Different, Twin


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One layer at which a map can be read."""

    index: int
    mark: str
    readout: CogmapReadout
    weights: PlaceWeights
    """Of the readout: linear in the activations, place by place."""
    among: NDArray[np.float32]
    """(N, tokens, width) activations of many prompts of the run."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.readout.size, self.readout.size

    @property
    def where(self) -> Where:
        return Where(layer=self.index, mark=self.mark)

    def code(self, thing: str, classes: Sequence[str]) -> int:
        """Of the class among those trained on."""
        return [*self.readout.trained].index(classes.index(thing))

    def cell(self, place: tuple[int, int]) -> int:
        return place[0] * self.readout.size + place[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A turn that is asked again, and its twin."""

    case: Case
    twin: Twin
    twin_request: ChatRequest
    plain: Mapping[int, Direction]
    """Layer to the activations that its prompt leaves."""
    patched: Mapping[int, Direction]
    """The same of its twin's prompt."""


def steering(
    layers: Sequence[Layer],
    trials: Sequence[Trial],
    thing: Different,
    classes: Sequence[str],
    doses: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[tuple[Change, Measurement | None]]:
    """Along the probe's direction from where the thing is to where it is in the twin, at every layer and dose, and how
    often the probe then finds it there. A dose of 1 swaps the scores of the two cells on average.

    Control: as far in a random direction. Beside it, the direction of each layer at the one that is farthest from it;
    what works there too is no less a cause, for what is in the stream stays in it, so it is no control to be exceeded.
    """
    name = f"steering {thing}"
    for layer in layers:
        code = layer.code(thing, classes)
        cells = [(layer.cell(one.twin.here), layer.cell(one.twin.there)) for one in trials]
        swap = 2 * np.abs([_margin(layer, one, code, pair) for one, pair in zip(trials, cells, strict=True)]).mean()
        made = [np.float32(swap) * towards(layer.weights, code, pair, layer.shape, layer.among) for pair in cells]
        for dose in doses:
            ways = tuple(steer(layer.where, each, dose) for each in made)
            change = Change(name=name, layer=layer.index, dose=dose, interventions=ways)
            yield change, _decoded(change, layer, trials, made, dose, classes.index(thing))
        randoms = [random_direction(each, rng) for each in made]
        for dose in doses:
            ways = tuple(steer(layer.where, each, dose) for each in randoms)
            control = "random direction"
            yield Change(name=name, layer=layer.index, dose=dose, control=control, interventions=ways), None
        if len(layers) > 1:
            other = max(layers, key=lambda each: abs(each.index - layer.index))
            ways = tuple(steer(other.where, each, 1.0) for each in made)
            control = f"direction of layer {layer.index}"
            elsewhere = Change(name=f"{name} at a wrong layer", layer=other.index, control=control, interventions=ways)
            yield elsewhere, None


def patching(layers: Sequence[Layer], trials: Sequence[Trial], thing: Different) -> Iterator[Change]:
    """The twin's activations in the place of the turn's own; those of another turn's twin as a control; and the twin's
    whole prompt, for how much there is to be moved."""
    name = f"patching {thing}"
    for layer in layers:
        own = tuple(patch(layer.where, one.patched[layer.index]) for one in trials)
        yield Change(name=name, layer=layer.index, interventions=own)
        if len(trials) > 1:
            others = (*own[1:], own[0])
            yield Change(name=name, layer=layer.index, control="another grid", interventions=others)
    yield Change(
        name=f"prompt with another {thing}", layer=EMBEDDING, instead=tuple(one.twin_request for one in trials)
    )


def ablation(
    layers: Sequence[Layer], n: int, thing: Different, classes: Sequence[str], rng: np.random.Generator
) -> Iterator[Change]:
    """All that goes with where the probe finds the thing taken away, in `n` turns; a random subspace of as many
    dimensions as a control."""
    name = f"ablation {thing}"
    for layer in layers:
        axes = subspace(layer.weights, layer.code(thing, classes), layer.shape, layer.among)
        for control, directions in (("", axes), ("random subspace", [random_direction(each, rng) for each in axes])):
            ways = (ablate(layer.where, directions),) * n
            yield Change(name=name, layer=layer.index, control=control, interventions=ways)


def _margin(layer: Layer, trial: Trial, code: int, cells: tuple[int, int]) -> float:
    """By how much the score of the first cell is above that of the second."""
    first, second = (cell_gradient(layer.weights, code, cell, layer.shape) for cell in cells)
    centred = trial.plain[layer.index].reshape(-1) - layer.weights.mean
    places = layer.weights.bias.reshape(-1, layer.weights.n_classes)[:, code]
    rows = incidence(layer.weights.places, layer.shape)
    bias = (rows[cells[0]] - rows[cells[1]]) @ places
    return float(centred @ (first - second) + bias)


def _decoded(
    change: Change, layer: Layer, trials: Sequence[Trial], made: Sequence[Direction], dose: float, code: int
) -> Measurement:
    """The share of turns in which the probe finds the thing where it was steered to."""
    inputs = [one.plain[layer.index] + dose * each for one, each in zip(trials, made, strict=True)]
    maps = layer.readout.predict(np.array(inputs, dtype=np.float32).reshape(len(trials), -1))
    found = [tuple(place) == one.twin.there for place, one in zip(top(maps[..., code]).tolist(), trials, strict=True)]
    return Measurement(name="decoded", value=float(np.mean(found)), unit="share", n=len(trials), where=change.where)
