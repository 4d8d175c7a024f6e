"""Of a trained model and its controls, one is in memory at a time."""

import gc
import weakref
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch
from held import held
from transformers import AutoConfig

from gde.data.activations import CaptureRequest, TokenSequence
from gde_plugins.language_models.loading import Untrained
from gde_plugins.language_models.one_in_memory import OneInMemory
from gde_plugins.language_models.transformers_model import TransformersModel

ASKED = [TokenSequence(tokens=(9, 10, 11), positions={"pre": (0, 1, 2)})]


class Weights:
    """Something that can be watched, and refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_held_is_gone_before_anything_else_is_made() -> None:
    memory = OneInMemory[Weights](lambda held: held)
    alive: list[int] = []
    made: list[weakref.ref[Weights]] = []

    def make() -> Weights:
        alive.append(sum(each() is not None for each in made))
        weights = Weights()
        made.append(weakref.ref(weights))
        return weights

    def other() -> Weights:
        return make()

    for maker in (make, make, other, make):
        with memory.holding(maker):
            pass
    assert alive == [0, 0, 0]
    memory.release(other)
    assert made[-1]() is not None
    memory.release(make)
    assert made[-1]() is None


def test_a_maker_that_fails_is_asked_again() -> None:
    memory = OneInMemory[str](lambda held: held)
    asked = []

    def make() -> str:
        asked.append(0)
        if len(asked) == 1:
            raise MemoryError("full")
        return "made"

    with pytest.raises(MemoryError), memory.holding(make):
        pass
    with memory.holding(make) as held:
        assert held == "made"


class Reader:
    """What holds weights, and is in no circle."""

    def __init__(self, weights: object) -> None:
        self.weights = weights


class Plain:
    """Weights in no circle."""


@pytest.mark.parametrize(("weights", "passes"), [(Plain, 0), (Weights, 1)])
def test_the_collector_goes_through_memory_only_for_circles(
    weights: type, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    collect = gc.collect
    monkeypatch.setattr(gc, "collect", lambda: counted.append(collect()))
    memory = OneInMemory[Reader](lambda held: held.weights)

    def make() -> Reader:
        return Reader(weights())

    with memory.holding(make) as held:
        alive = weakref.ref(held.weights)
    del held
    memory.release(make)
    assert alive() is None
    assert len(counted) == passes


def test_nobody_waits_to_release_what_is_in_use() -> None:
    memory = OneInMemory[Weights](lambda held: held)
    with memory.holding(Weights) as held:
        waiting = Thread(target=memory.release, args=(Weights,), daemon=True)
        waiting.start()
        waiting.join(10)
        assert not waiting.is_alive()
        assert memory._held is held


def values(model: TransformersModel) -> np.ndarray:
    (record,) = model.capture(ASKED, CaptureRequest(layers=(2,)))
    return record.values[2, "pre"]


def test_a_control_takes_the_place_of_the_trained_model(llama_folder: Path) -> None:
    trained = TransformersModel.load(llama_folder, device="cpu", dtype="float32")
    before = values(trained)
    weights = weakref.ref(held(trained).original)
    control = trained.untrained(1)
    drawn = values(control)
    assert weights() is None

    weights = weakref.ref(held(control).original)
    np.testing.assert_array_equal(values(trained), before)
    assert weights() is None
    np.testing.assert_array_equal(values(control), drawn)
    assert not np.allclose(drawn, before)

    weights = weakref.ref(held(control).original)
    control.close()
    assert weights() is None
    trained.close()


def test_random_weights_are_made_on_their_device(llama_folder: Path) -> None:
    untrained = Untrained(
        config=AutoConfig.from_pretrained(llama_folder),
        dtype=torch.bfloat16,
        devices={"": torch.device("meta")},
        seed=0,
    )
    places = {(each.device.type, each.dtype) for each in untrained.make().parameters()}
    assert places == {("meta", torch.bfloat16)}
