"""Patching moves an answer where the model keeps what decides it, and nowhere else."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.cell_map import KINDS, CellMap
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.testing.parts import PlantedModel
from gde_plugins.probes.course import patching
from gde_plugins.probes.course.config import PatchingConfig
from gde_plugins.probes.course.events import EVENTS, PREFIX, Found
from gde_plugins.probes.course.patching import Patching, tails_of, trials_of
from gde_plugins.probes.course.turns import CourseTurn

MOVES = "UDLR"
N, PROMPT = 24, 4
WIDTH = len(MOVES)


def made() -> list[CourseTurn]:
    """Turns of which each answers with its own move, after a token for each event."""
    tokens = {event: PROMPT - 1 + i for i, event in enumerate(EVENTS)}
    found = Found(tokens=tokens)
    codes = np.zeros((2, 2), dtype=int)
    turns = []
    for i in range(N):
        move = MOVES[i % len(MOVES)]
        text = f"p{i:02}:" + "x" * (len(EVENTS) - 1) + move
        turns.append(
            CourseTurn(
                world=str(i),
                sequence=TokenSequence(
                    tokens=tuple(map(ord, text)), positions=found.positions
                ),
                n_prompt=PROMPT,
                found=found,
                map=CellMap(kinds=KINDS, codes=codes, things=()),
                optimal=(move,),
                action=move,
            )
        )
    return turns


class Keeping(PlantedModel):
    """Answers with the move that its activation at one event points to."""

    kept_at = "move"

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        records = []
        for sequence in sequences:
            number = int("".join(map(chr, sequence.tokens[1:3])))
            own = np.eye(WIDTH, dtype=np.float32)[number % len(MOVES)][None]
            values = {
                (layer, position): own
                for layer in request.layers
                for position in request.positions
            }
            stream = own[0]
            for change in sequence.interventions:
                if change.position == f"{PREFIX}{self.kept_at}" and change.layer == 1:
                    stream = change.vector
            logprobs = ()
            if sequence.scored:
                said = MOVES.index(chr(sequence.tokens[-1]))
                logprobs = (0.0 if said == int(stream.argmax()) else -9.0,)
            records.append(ActivationRecord(values=values, logprobs=logprobs))
        return records


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Sequence[Measurement]:
    """What patching measures of the model that keeps its move at one event."""
    context: Any = SimpleNamespace(model=lambda _: Keeping())
    monkeypatch.setattr(patching, "first_turns", lambda *_: iter(made()))
    metric = Patching(
        PatchingConfig(weights="keeping", layers=(0, 1), pairs=12), context
    )
    return metric(Evidence(trajectories=()))


def value(found: Sequence[Measurement], **where: str | int) -> Measurement:
    (one,) = [each for each in found if each.where == where]
    return one


def test_the_answer_moves_where_the_move_is_kept(found: Sequence[Measurement]) -> None:
    assert value(found).value == 1
    at = {"event": "move", "layer": 1}
    assert value(found, **at, change="donor").value == 1
    assert value(found, **at, change="same move").value == 0
    assert value(found, **at, change="another pair").value == 0


@pytest.mark.parametrize(("event", "layer"), [("move", 0), ("after", 1), ("goal", 1)])
def test_it_moves_nowhere_else(
    found: Sequence[Measurement], event: str, layer: int
) -> None:
    assert value(found, event=event, layer=layer, change="donor").value == 0
    control = value(found, event=event, layer=layer, change="same move")
    assert control.reason == "the donor moves no answer"


def test_donors_have_the_moves_that_their_controls_need() -> None:
    turns = made()
    trials = trials_of(turns, 12, np.random.default_rng(0))
    assert len({trial.turn for trial in trials}) == 12
    for trial in trials:
        own, donor, same, pair = (
            turns[row].action
            for row in (trial.turn, trial.donor, trial.same, trial.pair)
        )
        assert own == same
        assert trial.same != trial.turn
        assert len({own, donor, pair}) == 3


def test_each_move_has_the_words_of_an_answer() -> None:
    tails = tails_of(made())
    assert {move: chr(tail[0]) for move, tail in tails.items()} == {
        move: move for move in MOVES
    }
