"""The changes that causal tests make, and those that stand beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Message
from gde.data.place import RESIDUAL
from gde_plugins.probes.causes.cases import Case, Change
from gde_plugins.probes.causes.changes import (
    Trial,
    ablation,
    have_means,
    patching,
    steering,
    steering_by_means,
)
from gde_plugins.probes.causes.class_means import difference_of_means
from gde_plugins.probes.causes.counterfactuals import Counterfactual
from gde_plugins.probes.causes.interventions import subspace
from gde_plugins.probes.causes.layers import Layer
from gde_plugins.probes.fitting.places import PlaceWeights, incidence
from gde_plugins.probes.maps.probe import CogmapReadout

TOKENS, WIDTH, SIDE, N = 2, 8, 3, 4
CLASSES = ("empty", "agent", "goal", "wall")
DOSES = (0.5, 1.0, 2.0)
SEED = 1
"""One with which some margins of four trials are above 0 and some below."""
RNG = np.random.default_rng()
PLACES = ("mlp", "head:1")


@pytest.fixture(autouse=True)
def same_draws() -> None:
    """Every test draws the same, whichever ran before it in this process."""
    RNG.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


def drawn(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def layer(index: int) -> Layer:
    """With a probe of its own."""
    n_inputs, n_scores = TOKENS * WIDTH, 2 * SIDE * len(CLASSES)
    weights = PlaceWeights(
        places="bilinear",
        n_classes=len(CLASSES),
        mean=np.zeros(n_inputs, np.float32),
        scale=np.ones(n_inputs, np.float32),
        by_place=drawn(n_inputs, n_scores),
        bias=np.zeros(n_scores, np.float32),
    )
    prior = np.zeros((SIDE, SIDE, len(CLASSES)), np.float32)
    readout = CogmapReadout(
        weights=weights,
        trained=np.arange(len(CLASSES)),
        prior=prior,
    )
    return Layer(
        index=index,
        position="pre",
        readout=readout,
        weights=weights,
        among=drawn(40, TOKENS, WIDTH),
        places={"goal": np.array([divmod(i % SIDE**2, SIDE) for i in range(40)])},
    )


def trial(number: int, layers: list[Layer]) -> Trial:
    request = ChatRequest(
        messages=(Message(role="user", content=str(number)),), seed=number
    )
    counterfactual = Counterfactual(
        text="",
        best=frozenset({"UP"}),
        here=(0, number % SIDE),
        there=(2, 2 - number % SIDE),
    )
    case = Case(request=request, world=str(number), predicted=counterfactual.best)
    plain = {one.index: drawn(TOKENS, WIDTH) for one in layers}
    return Trial(
        case=case,
        counterfactual=counterfactual,
        counterfactual_request=replace(request, messages=()),
        plain=plain,
        patched={(one.index, RESIDUAL): drawn(TOKENS, WIDTH) for one in layers},
    )


def steered(*indices: int, by: Callable[..., Any] = steering) -> list[Change]:
    layers = [layer(index) for index in indices]
    trials = [trial(number, layers) for number in range(N)]
    found = by(layers, trials, "goal", CLASSES, DOSES, np.random.default_rng(1))
    return [change for change, _ in found]


def vectors(change: Change) -> np.ndarray:
    """(N, tokens, width) of what a change adds, all at its layer."""
    assert {made.layer for (made,) in change.interventions} == {change.layer}
    return np.array([made.vector for (made,) in change.interventions])


@pytest.mark.parametrize(
    ("indices", "farthest"), [((1, 3, 4), (4, 1, 1)), ((0, 5), (5, 0))]
)
def test_the_direction_of_each_layer_is_tried_at_the_one_farthest_from_it(
    indices: tuple[int, ...], farthest: tuple[int, ...]
) -> None:
    changes = steered(*indices)
    elsewhere = [one for one in changes if one.name == "steering goal at a wrong layer"]
    assert [one.layer for one in elsewhere] == [*farthest]
    for index, wrong in zip(indices, elsewhere, strict=True):
        (right,) = [
            one
            for one in changes
            if (one.layer, one.dose, one.control) == (index, 1.0, "")
        ]
        assert (wrong.control, wrong.dose) == (f"direction of layer {index}", 1.0)
        assert np.array_equal(vectors(wrong), vectors(right))


def test_with_one_layer_there_is_no_wrong_one() -> None:
    assert {one.name for one in steered(3)} == {"steering goal"}


@pytest.mark.parametrize("by", [steering, steering_by_means])
def test_a_random_direction_is_as_long_as_the_one_it_is_beside(
    by: Callable[..., Any],
) -> None:
    changes = steered(1, 3, by=by)
    for index in (1, 3):
        for dose in DOSES:
            lengths = [
                np.linalg.norm(vectors(one), axis=-1)
                for one in changes
                if (one.layer, one.dose) == (index, dose)
                and one.control in {"", "random direction"}
            ]
            assert len(lengths) == 2
            assert np.allclose(*lengths, rtol=1e-4)
        own, random = (
            of(changes, each, layer=index) for each in ("", "random direction")
        )
        assert not np.allclose(own, random, atol=0.1)


def of(
    changes: Sequence[Change], control: str, dose: float = 1.0, layer: int = 2
) -> np.ndarray:
    """Vectors of a layer's steering with a control."""
    wanted = (control, dose, layer)
    (one,) = [
        each for each in changes if (each.control, each.dose, each.layer) == wanted
    ]
    return vectors(one)


@pytest.mark.parametrize("by", [steering, steering_by_means])
@pytest.mark.parametrize("dose", DOSES)
def test_another_pairs_direction_is_that_of_a_turn_with_another_pair_as_long_as_the_own(
    by: Callable[..., Any], dose: float
) -> None:
    changes = steered(2, by=by)
    own, others = (of(changes, each, dose) for each in ("", "another pair's direction"))
    # Turn 0 has the pair of turn 3, so the next of turn 3 is turn 1.
    for number, next_one in ((0, 1), (1, 2), (2, 3), (3, 1)):
        direction = others[number].ravel() / np.linalg.norm(own[number])
        expected = own[next_one].ravel() / np.linalg.norm(own[next_one])
        assert np.allclose(direction, expected, atol=1e-5)
        assert not np.allclose(others[number], own[number], atol=1e-2)


def test_where_all_pairs_are_the_same_there_is_no_other_direction() -> None:
    one = layer(2)
    trials = [trial(0, [one]), trial(SIDE, [one])]
    found = steering([one], trials, "goal", CLASSES, (1.0,), np.random.default_rng(1))
    assert {change.control for change, _ in found} == {"", "random direction"}


def test_the_difference_of_means_is_what_a_place_adds_to_the_activations() -> None:
    rows, columns = drawn(SIDE, TOKENS, WIDTH), drawn(SIDE, TOKENS, WIDTH)
    places = np.array([divmod(i % SIDE**2, SIDE) for i in range(SIDE**2 * 4)])
    among = rows[places[:, 0]] + columns[places[:, 1]] + 1
    one = replace(layer(2), among=among, places={"goal": places})
    trials = [trial(number, [one]) for number in range(N)]
    found = steering_by_means(
        [one], trials, "goal", CLASSES, (1.0,), np.random.default_rng(1)
    )
    directions = of([change for change, _ in found], "")
    for each, direction in zip(trials, directions, strict=True):
        here, there = each.counterfactual.here, each.counterfactual.there
        added = rows[there[0]] + columns[there[1]] - rows[here[0]] - columns[here[1]]
        assert np.allclose(direction, added, atol=1e-4)


def test_turns_whose_row_or_column_has_few_prompts_have_no_difference_of_means() -> (
    None
):
    one = layer(2)
    places = one.places["goal"].copy()
    places[places[:, 1] == 0, 1] = 1
    scarce = replace(one, places={"goal": places})
    trials = [trial(number, [one]) for number in range(N)]
    assert have_means([one], trials, "goal") == trials
    # The others go from column 0 or to it.
    assert have_means([one, scarce], trials, "goal") == [trials[1]]


def test_the_control_of_the_counterfactual_prompt_is_the_own_prompt() -> None:
    one = layer(2)
    trials = [trial(number, [one]) for number in range(N)]
    *_, counterfactual, own = patching([one], trials, "goal", [RESIDUAL])
    assert (own.name, own.control) == (counterfactual.name, "own prompt")
    assert own.instead == tuple(each.case.request for each in trials)
    assert not own.interventions


def test_a_pair_is_another_where_either_place_is() -> None:
    one = layer(2)
    first, second = trial(0, [one]), trial(1, [one])
    moved = replace(second.counterfactual, there=first.counterfactual.there)
    trials = [first, replace(second, counterfactual=moved)]
    found = steering([one], trials, "goal", CLASSES, (1.0,), np.random.default_rng(1))
    assert "another pair's direction" in {change.control for change, _ in found}


def scored(one: Layer, activations: np.ndarray) -> np.ndarray:
    """(cells,) scores of the goal, from activations (tokens, width)."""
    weights = one.weights
    inputs = (activations.reshape(-1) - weights.mean) / weights.scale
    scores = inputs @ weights.by_place + weights.bias
    by_place = scores.reshape(-1, len(CLASSES))
    logits = incidence(weights.places, one.shape) @ by_place
    return np.asarray(logits[:, CLASSES.index("goal")])


def test_a_dose_of_one_takes_twice_the_mean_margin_from_the_own_place_to_the_other() -> (
    None
):
    """So that the scores of the two cells are swapped on average."""
    one = layer(2)
    n_inputs = TOKENS * WIDTH
    weights = replace(
        one.weights,
        mean=drawn(n_inputs) * 3,
        scale=RNG.uniform(0.5, 2, n_inputs).astype(np.float32),
        bias=drawn(*one.weights.bias.shape) * 3,
    )
    one = replace(one, weights=weights)
    trials = [trial(number, [one]) for number in range(N)]

    def margin(each: Trial, added: np.ndarray | float = 0.0) -> float:
        scores = scored(one, each.plain[2] + added)
        here, there = each.counterfactual.here, each.counterfactual.there
        return float(scores[one.cell(here)] - scores[one.cell(there)])

    found = steering([one], trials, "goal", CLASSES, (1.0,), np.random.default_rng(1))
    directions = of([change for change, _ in found], "")
    margins = [margin(each) for each in trials]
    # Some probes read the thing at the wrong one of the two places.
    assert min(margins) < 0 < max(margins)
    for each, direction, before in zip(trials, directions, margins, strict=True):
        expected = before - 2 * np.abs(margins).mean()
        assert margin(each, direction) == pytest.approx(expected, abs=0.01)


def test_decoded_is_the_share_found_at_the_counterfactual_place_with_the_dose() -> None:
    """Every cell has an activation of its own, which is its score of the goal."""
    n_inputs, n_cells = TOKENS * WIDTH, SIDE**2
    by_place = np.zeros((n_inputs, n_cells, len(CLASSES)), np.float32)
    for cell in range(n_cells):
        by_place[cell, cell, CLASSES.index("goal")] = 1
    weights = PlaceWeights(
        places="cellwise",
        n_classes=len(CLASSES),
        mean=np.zeros(n_inputs, np.float32),
        scale=np.ones(n_inputs, np.float32),
        by_place=by_place.reshape(n_inputs, -1),
        bias=np.zeros(n_cells * len(CLASSES), np.float32),
    )
    one = layer(2)
    readout = replace(one.readout, weights=weights)
    # Activations vary alike and independently.
    among = np.concatenate([np.eye(n_inputs), -np.eye(n_inputs)]).astype(np.float32)
    among = among.reshape(-1, TOKENS, WIDTH)
    one = replace(one, weights=weights, readout=readout, among=among)

    trials = []
    # The first moves within a row, the second within a column.
    for here, there in (((0, 0), (0, 2)), ((0, 0), (2, 0))):
        plain = np.zeros(n_inputs, np.float32)
        plain[one.cell(here)] = 4
        own = trial(0, [one])
        pair = replace(own.counterfactual, here=here, there=there)
        shown = {2: plain.reshape(TOKENS, WIDTH)}
        trials.append(replace(own, counterfactual=pair, plain=shown))
    found = steering(
        [one], trials, "goal", CLASSES, (0.25, 1.0), np.random.default_rng(1)
    )
    decoded = [number.value for _, number in found if number is not None]
    assert decoded == [0, 1]


def test_patching_brings_the_own_counterfactual_and_its_control_that_of_another() -> (
    None
):
    one = layer(2)
    trials = [trial(number, [one]) for number in range(N)]
    own, control, *_ = patching([one], trials, "goal", [RESIDUAL])
    brought = [each.patched[2, RESIDUAL] for each in trials]
    assert np.array_equal(vectors(own), brought)
    assert control.control == "another grid"
    assert np.array_equal(vectors(control), [*brought[1:], brought[0]])


def test_patching_at_a_head_replaces_that_head_alone() -> None:
    layers = [layer(2), layer(4)]
    trials = []
    for number in range(N):
        patched = {
            (one.index, place): drawn(TOKENS, 3) for one in layers for place in PLACES
        }
        trials.append(replace(trial(number, layers), patched=patched))
    *changes, _, _ = patching(layers, trials, "goal", PLACES)
    assert [(change.name, change.layer, change.control) for change in changes] == [
        (f"patching goal at {place}", one.index, control)
        for one in layers
        for place in PLACES
        for control in ("", "another grid")
    ]
    for change in changes:
        place = change.name.removeprefix("patching goal at ")
        brought = [each.patched[change.layer, place] for each in trials]
        if change.control:
            brought = [*brought[1:], brought[0]]
        assert np.array_equal(vectors(change), brought)
        assert {made.place for (made,) in change.interventions} == {place}


def test_a_random_subspace_has_as_many_dimensions_and_is_another() -> None:
    # One token, of which a few dimensions alone vary.
    among = drawn(40, 1, TOKENS * WIDTH)
    among[..., 12:] *= 0.01
    one = replace(layer(2), among=among)
    own, control = ablation([one], N, "goal", CLASSES, np.random.default_rng(1))
    assert (own.control, control.control) == ("", "random subspace")
    spans = []
    for change in (own, control):
        assert len(set(map(id, change.interventions))) == 1
        *removed, added = change.interventions[0]
        assert [made.kind for made in removed] == ["project_out"] * len(removed)
        spans.append(np.array([made.vector[0] for made in removed]))
        # The mean stays where it was.
        mean = among.mean(axis=0)
        for made in change.interventions[0]:
            mean = made.applied(mean)
        assert np.allclose(mean, among.mean(axis=0), atol=1e-5)
        assert added.kind == "add"
    first, second = spans
    assert first.shape == second.shape
    # Of all sums of a row's and a column's score; the goal is in each cell.
    assert len(first) == 2 * SIDE - 1
    # Nothing that varies with a score of the goal is left.
    goal = one.code("goal", CLASSES)
    of_goal = subspace(one.weights, goal, range(SIDE**2), one.shape, among)
    left = [axis[0] - first.T @ first @ axis[0] for axis in of_goal]
    assert np.allclose(left, 0, atol=1e-4)
    beyond = second - second @ first.T @ first
    assert np.linalg.norm(beyond, axis=1).max() > 0.5
    # Random directions would hardly be in the dimensions that vary.
    shares = [float((span[:, :12] ** 2).sum() / (span**2).sum()) for span in spans]
    assert min(shares) > 0.9


def test_cells_in_which_no_prompt_has_the_thing_are_not_ablated() -> None:
    one = replace(layer(2), among=drawn(40, 1, TOKENS * WIDTH))
    corner = {"goal": np.array([(0, i % 2) for i in range(40)])}
    few = replace(one, places=corner)
    (ablated, _) = ablation([few], N, "goal", CLASSES, np.random.default_rng(1))
    assert len(ablated.interventions[0]) == 2 + 1


def test_a_row_that_both_places_share_needs_no_prompts() -> None:
    places = np.array([(0, i % 2) for i in range(10)])
    among = drawn(10, TOKENS, WIDTH)
    columns = [among[places[:, 1] == i].mean(axis=0) for i in (0, 1)]
    # No prompt has the thing in row 1. Five in either column are enough.
    found = difference_of_means(among, places, (1, 0), (1, 1))
    assert found is not None
    assert np.allclose(found, columns[1] - columns[0], atol=1e-6)
    # Four are not.
    assert difference_of_means(among[1:], places[1:], (1, 0), (1, 1)) is None
    # Equal means give no direction.
    assert difference_of_means(among * 0, places, (1, 0), (1, 1)) is None
