"""Changes move an answer where the model keeps what decides it, and nowhere else."""

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
from gde_plugins.probes.causes.cases import Change
from gde_plugins.probes.causes.interventions import Where
from gde_plugins.probes.course import causes
from gde_plugins.probes.course.answers import tails_of
from gde_plugins.probes.course.causes import CourseCauses
from gde_plugins.probes.course.config import CourseCausesConfig
from gde_plugins.probes.course.event_changes import ablation, patching, steering
from gde_plugins.probes.course.events import EVENTS, PREFIX, Found
from gde_plugins.probes.course.trials import trials_of
from gde_plugins.probes.course.turns import CourseTurn

MOVES = "UDLR"
N, PROMPT = 48, 4
WIDTH = len(MOVES)
NOWHERE: Any = None
"""The text is fixed, so no turn is asked again."""


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
                trajectory=NOWHERE,
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
                    stream = change.applied(stream[None])[0]
            logprobs = ()
            if sequence.scored:
                said = MOVES.index(chr(sequence.tokens[-1]))
                logprobs = (0.0 if said == int(stream.argmax()) else -9.0,)
            records.append(ActivationRecord(values=values, logprobs=logprobs))
        return records


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Sequence[Measurement]:
    """What is measured of the model that keeps its move at one event."""
    context: Any = SimpleNamespace(model=lambda _: Keeping())
    monkeypatch.setattr(causes, "first_turns", lambda *_: iter(made()))
    config = CourseCausesConfig(weights="keeping", layers=(0, 1), pairs=12)
    return CourseCauses(config, context)(Evidence(trajectories=()))


def value(found: Sequence[Measurement], **where: str | int) -> Measurement:
    (one,) = [each for each in found if each.where == where]
    return one


def test_the_answer_moves_where_the_move_is_kept(found: Sequence[Measurement]) -> None:
    assert value(found).value == 1
    at = {"event": "move", "layer": 1, "text": "fixed"}
    assert value(found, **at, change="patch", control="none").value == 1
    assert value(found, **at, change="patch", control="same move").value == 0
    assert value(found, **at, change="patch", control="another pair").value == 0
    assert value(found, **at, change="steer", control="none").value == 1
    assert value(found, **at, change="steer", control="another pair").value == 0
    # Without what tells moves apart, all turns give the same answer.
    ablated = value(found, **at, change="ablate", control="none").value
    assert ablated is not None
    assert ablated > 0.5


@pytest.mark.parametrize(("event", "layer"), [("move", 0), ("after", 1), ("goal", 1)])
def test_it_moves_nowhere_else(
    found: Sequence[Measurement], event: str, layer: int
) -> None:
    at = {"event": event, "layer": layer, "text": "fixed"}
    for change in ("patch", "steer", "ablate"):
        assert value(found, **at, change=change, control="none").value == 0
    control = value(found, **at, change="patch", control="same move")
    assert control.reason == "the change moves no answer"


def test_tested_turns_make_no_direction() -> None:
    turns = made()
    moves = [turn.action for turn in turns]
    trials = trials_of(turns, 12, np.random.default_rng(0))
    stream = np.eye(WIDTH, dtype=np.float32)[[MOVES.index(str(move)) for move in moves]]
    spoilt = stream.copy()
    spoilt[[each.turn for each in trials]] += 9
    where = Where(layer=1)
    for change in (steering, ablation):
        clean, other = (
            change(where, trials, values[:, None], moves, np.random.default_rng(1))
            for values in (stream, spoilt)
        )
        assert clean[0].interventions == other[0].interventions


def test_controls_of_directions_leave_the_move() -> None:
    turns = made()
    moves = [turn.action for turn in turns]
    rng = np.random.default_rng(0)
    trials = trials_of(turns, 12, rng)
    kept = 5 * np.eye(WIDTH)[[MOVES.index(str(move)) for move in moves]]
    stream = np.concatenate([kept, rng.normal(size=(N, 40))], axis=1, dtype=np.float32)

    def moved(change: Change) -> list[str]:
        """The moves that the changed activations point to."""
        found = []
        for each, several in zip(trials, change.interventions, strict=True):
            after = stream[each.turn][None]
            for one in several:
                after = one.applied(after)
            found.append(MOVES[int(after[0, :WIDTH].argmax())])
        return found

    own = [moves[each.turn] for each in trials]
    donors = [moves[each.donor] for each in trials]
    where = Where(layer=1)
    steered = steering(where, trials, stream[:, None], moves, rng)
    by_control = {change.control: moved(change) for change in steered}
    assert by_control[""] == donors
    assert by_control["random direction"] == own
    patched = patching(where, trials, stream[:, None], rng)
    by_control = {change.control: moved(change) for change in patched}
    assert by_control[""] == donors
    assert by_control["same move"] == by_control["random direction"] == own
    ablated = ablation(where, trials, stream[:, None], moves, rng)
    by_control = {change.control: moved(change) for change in ablated}
    assert by_control[""] != own
    assert by_control["shuffled moves"] == own


def test_a_move_with_few_turns_has_no_mean() -> None:
    turns = made()[: 4 * len(MOVES)]
    moves = [turn.action for turn in turns]
    trials = trials_of(turns, 4, np.random.default_rng(0))
    stream = np.ones((len(turns), 1, WIDTH), dtype=np.float32)
    rng = np.random.default_rng(1)
    assert not steering(Where(layer=1), trials, stream, moves, rng)
    assert not ablation(Where(layer=1), trials, stream, moves, rng)


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
