"""The changes that causal tests make, and those that stand beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Message
from gde_plugins.probes.causes.cases import Case, Change
from gde_plugins.probes.causes.changes import (
    Trial,
    have_means,
    patching,
    steering,
    steering_by_means,
)
from gde_plugins.probes.causes.counterfactuals import Counterfactual
from gde_plugins.probes.causes.layers import Layer
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.maps.probe import CogmapReadout

TOKENS, WIDTH, SIDE, N = 2, 8, 3, 4
CLASSES = ("empty", "agent", "goal", "wall")
DOSES = (0.5, 1.0, 2.0)
RNG = np.random.default_rng(0)


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
        patched={one.index: drawn(TOKENS, WIDTH) for one in layers},
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
    *_, counterfactual, own = patching([one], trials, "goal")
    assert (own.name, own.control) == (counterfactual.name, "own prompt")
    assert own.instead == tuple(each.case.request for each in trials)
    assert not own.interventions
