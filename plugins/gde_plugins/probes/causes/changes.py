"""The changes of a causal test: steering, patching and ablation, with controls."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from gde.data.activations import EMBEDDING
from gde.data.completion import ChatRequest
from gde.data.result import Measurement
from gde_plugins.probes.causes.cases import Case, Change, at_place
from gde_plugins.probes.causes.class_means import difference_of_means
from gde_plugins.probes.causes.counterfactuals import Counterfactual, Different
from gde_plugins.probes.causes.interventions import (
    Direction,
    ablate,
    cell_gradient,
    of_length,
    patch,
    random_direction,
    random_subspace,
    steer,
    subspace,
    towards,
)
from gde_plugins.probes.causes.layers import Layer
from gde_plugins.probes.fitting.places import incidence
from gde_plugins.probes.maps.policies import top


@dataclass(frozen=True, eq=False)
class Trial:
    """A replayed turn and its counterfactual."""

    case: Case
    counterfactual: Counterfactual
    counterfactual_request: ChatRequest
    plain: Mapping[int, Direction]
    """Maps a layer to the activations of the turn's prompt."""
    patched: Mapping[tuple[int, str], Direction]
    """Maps a layer and a place of it to the activations of the counterfactual prompt."""


def steering(
    layers: Sequence[Layer],
    trials: Sequence[Trial],
    thing: Different,
    classes: Sequence[str],
    doses: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[tuple[Change, Measurement | None]]:
    """Steer along the probe's direction from a thing's place to its counterfactual
    place, at every layer and dose.

    A dose of 1 swaps the scores of the two cells on average.

    Each layer's direction is also tried at the layer farthest from it. That one is no
    control to be exceeded: what is in the stream stays in it, so it may work there and
    be a cause.
    """
    name = f"steering {thing}"
    for layer in layers:
        directions = _steering_directions(layer, trials, layer.code(thing, classes))
        code = classes.index(thing)
        yield from _steered_beside(name, layer, trials, directions, code, doses, rng)

        if len(layers) > 1:
            farthest = max(layers, key=lambda each: abs(each.index - layer.index))
            elsewhere = f"{name} at a wrong layer"
            control = f"direction of layer {layer.index}"
            yield _steered(elsewhere, farthest, directions, 1.0, control), None


def have_means(
    layers: Sequence[Layer], trials: Sequence[Trial], thing: Different
) -> list[Trial]:
    """Return the trials that have a difference of means at every layer."""
    kept = []
    for trial in trials:
        differences = [_means(layer, trial, thing) for layer in layers]
        if all(difference is not None for difference in differences):
            kept.append(trial)
    return kept


def steering_by_means(
    layers: Sequence[Layer],
    trials: Sequence[Trial],
    thing: Different,
    classes: Sequence[str],
    doses: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[tuple[Change, Measurement | None]]:
    """Steer along the difference of means instead, at every layer and dose.

    A dose of 1 adds the whole difference. All trials must have one.
    """
    name = by_means(thing)
    for layer in layers:
        directions = []
        for trial in trials:
            direction = _means(layer, trial, thing)
            assert direction is not None
            directions.append(direction)
        code = classes.index(thing)
        yield from _steered_beside(name, layer, trials, directions, code, doses, rng)


def by_means(thing: Different) -> str:
    """Name the change of `steering_by_means`."""
    return f"steering {thing} by means"


def _means(layer: Layer, trial: Trial, thing: Different) -> Direction | None:
    """Return the difference of means from a thing's place to its counterfactual one."""
    counterfactual = trial.counterfactual
    return difference_of_means(
        layer.among, layer.places[thing], counterfactual.here, counterfactual.there
    )


def _steered_beside(
    name: str,
    layer: Layer,
    trials: Sequence[Trial],
    directions: Sequence[Direction],
    code: int,
    doses: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[tuple[Change, Measurement | None]]:
    """Steer along directions of the trials, and along controls of the same lengths.

    Each tested change comes with "decoded", the share of turns in which the probe then
    finds the thing at the counterfactual place.

    Controls: a random direction, and the direction of another trial's pair of places.
    """
    for dose in doses:
        change = _steered(name, layer, directions, dose)
        yield change, _decoded(change, layer, trials, directions, code)

    # Drawn once a layer, so that a dose is compared with the same dose of the same
    # random directions.
    randoms = [random_direction(each, rng) for each in directions]
    others = _of_other_pairs(trials, directions)
    for dose in doses:
        yield _steered(name, layer, randoms, dose, "random direction"), None
        if others:
            yield _steered(name, layer, others, dose, "another pair's direction"), None


def _of_other_pairs(
    trials: Sequence[Trial], directions: Sequence[Direction]
) -> list[Direction]:
    """Return the direction of each trial's next one with another pair of places.

    It gets the length of the trial's own. Where all pairs are the same there is none.
    """
    n = len(trials)
    pairs = []
    for trial in trials:
        pairs.append((trial.counterfactual.here, trial.counterfactual.there))

    others = []
    for i, own in enumerate(directions):
        following = [(i + step) % n for step in range(1, n)]
        different = [j for j in following if pairs[j] != pairs[i]]
        if not different:
            return []
        others.append(of_length(own, directions[different[0]]))
    return others


def _steered(
    name: str,
    layer: Layer,
    directions: Sequence[Direction],
    dose: float,
    control: str = "",
) -> Change:
    """Steer each trial along its direction."""
    return Change(
        name=name,
        layer=layer.index,
        dose=dose,
        control=control,
        interventions=tuple(steer(layer.where, each, dose) for each in directions),
    )


def _steering_directions(
    layer: Layer, trials: Sequence[Trial], code: int
) -> list[Direction]:
    """Return directions that swap the scores of a trial's cells on average at dose 1."""
    margins = []
    units = []
    for trial in trials:
        places = (trial.counterfactual.here, trial.counterfactual.there)
        cells = (layer.cell(places[0]), layer.cell(places[1]))
        margins.append(_margin(layer, trial, code, cells))
        units.append(towards(layer.weights, code, cells, layer.shape, layer.among))

    # A unit moves the margin by 1. To swap the scores, a margin becomes its own
    # negative.
    swap = np.float32(2 * np.abs(margins).mean())
    return [swap * unit for unit in units]


def _margin(layer: Layer, trial: Trial, code: int, cells: tuple[int, int]) -> float:
    """Return the score of the first cell minus that of the second."""
    first, second = cells
    weights = layer.weights
    of_first = cell_gradient(weights, code, first, layer.shape)
    of_second = cell_gradient(weights, code, second, layer.shape)
    centred = trial.plain[layer.index].reshape(-1) - weights.mean
    from_activations = centred @ (of_first - of_second)

    biases = weights.bias.reshape(-1, weights.n_classes)
    rows = incidence(weights.places, layer.shape)
    from_biases = (rows[first] - rows[second]) @ biases[:, code]
    return float(from_activations + from_biases)


def _decoded(
    change: Change,
    layer: Layer,
    trials: Sequence[Trial],
    directions: Sequence[Direction],
    code: int,
) -> Measurement:
    """Return the share of turns in which the probe finds the thing as steered."""
    n_trials = len(trials)
    steered = []
    for trial, direction in zip(trials, directions, strict=True):
        steered.append(trial.plain[layer.index] + change.dose * direction)
    activations = np.array(steered, dtype=np.float32)

    maps = layer.readout.predict(activations.reshape(n_trials, -1))
    wanted = [trial.counterfactual.there for trial in trials]
    found = (top(maps[..., code]) == wanted).all(axis=1)
    return Measurement(
        name="decoded", value=float(found.mean()), n=n_trials, where=change.where
    )


def patching(
    layers: Sequence[Layer],
    trials: Sequence[Trial],
    thing: Different,
    places: Sequence[str],
) -> Iterator[Change]:
    """Replace the turn's activations by its counterfactual's, at places of every layer.

    Control: those of another turn's counterfactual. The last change asks the
    counterfactual prompt itself, which shows the largest effect that patching can have.
    Its control asks the turn's own prompt, whose reasoning shows what is written
    without any change.
    """
    for layer, place in product(layers, places):
        name = at_place(f"patching {thing}", place)
        where = replace(layer.where, place=place)
        at = layer.index, place
        own = tuple(patch(where, trial.patched[at]) for trial in trials)
        yield Change(name=name, layer=layer.index, interventions=own)

        if len(trials) > 1:
            # Every turn gets its neighbour's activations, so none gets its own.
            others = (*own[1:], own[0])
            yield Change(
                name=name,
                layer=layer.index,
                control="another grid",
                interventions=others,
            )

    name = f"prompt with another {thing}"
    requests = tuple(trial.counterfactual_request for trial in trials)
    yield Change(name=name, layer=EMBEDDING, instead=requests)
    own_requests = tuple(trial.case.request for trial in trials)
    yield Change(name=name, layer=EMBEDDING, control="own prompt", instead=own_requests)


def ablation(
    layers: Sequence[Layer],
    n: int,
    thing: Different,
    classes: Sequence[str],
    rng: np.random.Generator,
) -> Iterator[Change]:
    """Remove what varies with the probe's scores of a thing, in `n` turns.

    The scores are those of the cells in which training prompts have it. Control: what
    varies with random scores, in as many dimensions.
    """
    name = f"ablation {thing}"
    for layer in layers:
        code = layer.code(thing, classes)
        cells = sorted(
            {layer.cell((row, column)) for row, column in layer.places[thing]}
        )
        axes = subspace(layer.weights, code, cells, layer.shape, layer.among)
        randoms = random_subspace(layer.weights, len(axes), layer.among, rng)
        mean = layer.among.mean(axis=0)

        # The subspace belongs to the probe, not to a turn, so all turns lose the same.
        ablated = ablate(layer.where, axes, mean)
        yield Change(name=name, layer=layer.index, interventions=(ablated,) * n)
        ablated_at_random = ablate(layer.where, randoms, mean)
        yield Change(
            name=name,
            layer=layer.index,
            control="random subspace",
            interventions=(ablated_at_random,) * n,
        )
