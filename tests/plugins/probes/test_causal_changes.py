"""The changes that causal tests make, and those that stand beside them."""

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Message
from gde_plugins.probes.causes.changes import Layer, Trial, steering
from gde_plugins.probes.causes.counterfactuals import Counterfactual
from gde_plugins.probes.causes.effects import Case, Change
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
        counterfactual_request=request,
        plain=plain,
        patched={},
    )


def steered(*indices: int) -> list[Change]:
    layers = [layer(index) for index in indices]
    trials = [trial(number, layers) for number in range(N)]
    found = steering(layers, trials, "goal", CLASSES, DOSES, np.random.default_rng(1))
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


def test_a_random_direction_is_as_long_as_the_one_it_is_beside() -> None:
    changes = steered(1, 3)
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
