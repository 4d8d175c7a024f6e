"""Parts of a capture: made here or in workers, with one model of random weights at a
time, and put into order.
"""

from typing import Any

import numpy as np
import pytest

from gde import ActivationRecord, CaptureRequest, How, Plan, TokenSequence
from gde.before.preparing import prepare
from gde.errors import GdeError
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.versions import versions
from gde.stages import elsewhere
from gde.stages.capture_parts import (
    Capture,
    Captured,
    CaptureElsewhere,
    Part,
    in_order,
)
from gde.stages.context import Resources
from gde.stages.elsewhere import Elsewhere
from gde.testing.parts import PlantedModel

REQUEST = CaptureRequest(layers=(0,), positions=("pre",))
TURN = (("0/0/0", 0), TokenSequence(tokens=(1, 2), positions={"pre": (1,)}))


class Noted(PlantedModel):
    """Notes what random weights are made of it, and closed."""

    def __init__(self, notes: list[str], *given: Any) -> None:
        super().__init__(*given)
        self.notes = notes

    def untrained(self, seed: int) -> "Noted":
        if seed < 0:
            raise ValueError("no such seed")
        self.notes.append(f"made {seed}")
        return Noted(self.notes, self.script, self.n_layers, self.width, seed)

    def close(self) -> None:
        self.notes.append(f"closed {self.untrained_seed}")


class One:
    """Stands for the models of a run."""

    def __init__(self, model: PlantedModel) -> None:
        self.model = model

    def white_box(self, name: str) -> PlantedModel:
        assert name == "m"
        return self.model


def part(number: int, seed: int | None) -> Part:
    return Part.of(number, f"source {seed}", seed, [TURN])


def values(captured: Captured) -> np.ndarray:
    ((row, record),) = captured.records
    assert row == TURN[0]
    assert isinstance(record, ActivationRecord)
    return record.values[0, "pre"]


def test_random_weights_stay_for_the_next_part_and_leave_for_others() -> None:
    notes: list[str] = []
    models: Any = One(Noted(notes))
    capture = Capture(models, "m", REQUEST)
    seeds = (None, 4, 4, 5)
    made = [values(capture(part(i, seed))) for i, seed in enumerate(seeds)]
    assert notes == ["made 4", "closed 4", "made 5"]
    capture.close()
    capture.close()
    assert notes == ["made 4", "closed 4", "made 5", "closed 5"]
    np.testing.assert_array_equal(made[1], made[2])
    for one, other in ((0, 1), (1, 3)):
        assert not np.array_equal(made[one], made[other])


def test_a_control_that_cannot_be_made_is_a_reason() -> None:
    models: Any = One(Noted([]))
    found = Capture(models, "m", REQUEST)(part(3, -1))
    assert (found.number, found.source, found.records) == (3, "source -1", ())
    assert found.reason == "no model with random weights: ValueError: no such seed"


def job(**change: Any) -> CaptureElsewhere:
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    plan = Plan(environment="corridor", agent="asking", probes=["moves"], episodes=1)
    ready = prepare(plan, catalogue, How())
    name = ready.agent_model
    given: dict[str, Any] = {
        "identity": {},
        "versions": versions((ready.models[name],)),
        "token": str(change),
    }
    where = Elsewhere(ready=ready, name=name, **{**given, **change})
    return CaptureElsewhere(where=where, request=REQUEST)


def test_elsewhere_the_same_is_captured() -> None:
    models: Any = One(PlantedModel())
    for seed in (None, 7):
        here = values(Capture(models, "m", REQUEST)(part(0, seed)))
        np.testing.assert_array_equal(values(job()(part(0, seed))), here)


def test_elsewhere_models_stay_for_the_next_part_and_leave_for_another_capture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Resources] = []
    closed: list[Resources] = []

    class Counted(Resources):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

        def close(self) -> None:
            super().close()
            closed.append(self)

    monkeypatch.setattr(elsewhere, "Resources", Counted)
    first, second = job(token="first"), job(token="second")
    for number in range(2):
        first(part(number, 7))
    assert (len(made), closed) == (1, [])
    second(part(0, 7))
    assert (len(made), closed) == (2, made[:1])


def test_elsewhere_another_model_or_software_is_refused() -> None:
    with pytest.raises(GdeError, match="has changed since it answered in this run"):
        job(identity={"weights": "others"})(part(0, None))
    others = dict.fromkeys(job().where.versions, "another")
    with pytest.raises(GdeError, match="install the same there"):
        job(versions=others)(part(0, None))


def test_parts_are_given_in_their_order() -> None:
    made = [Captured(number=i, source="") for i in (2, 0, 1, 4, 3)]
    assert [each.number for each in in_order(made)] == [0, 1, 2, 3, 4]
