"""From trajectories to activations, by replay of stored tokens.

Answers that were given under interventions are replayed under them, so that the
captured state is the one in which the model spoke. The model with random weights is
replayed under the same ones: a control is given what the model was given.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from gde.data.activations import (
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.place import RESIDUAL
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.stages.marking import Marking
from gde.store.activations import ActivationStore, Place, Row

TURNS = 64
"""Replayed at once."""
Sequences = Iterator[tuple[Row, TokenSequence]]
Records = Iterable[tuple[Row, ActivationRecord]]
Stored = Mapping[Place, set[Row]]
"""Layer and position to the turns whose activations there are stored."""
Replays = Callable[[str], Mapping[int, TokenSequence]]
"""Gives the tokens of a server's answers in an episode, by turn."""


def add(
    records: Records, source: str, places: Sequence[Place], store: ActivationStore
) -> int:
    """Store what is not stored yet of given activations; return the number of turns."""
    stored = {place: store.stored(source, *place) for place in places}
    return store.write(source, new(records, stored))


def merge(requests: Sequence[CaptureRequest]) -> CaptureRequest:
    """One request for everything that several ask for.

    Raises:
        GdeError: one asks for another place than the residual stream, which runs keep.
    """
    layers: set[int] = set()
    positions: set[str] = set()
    for request in requests:
        if request.place != RESIDUAL:
            raise GdeError(f"a probe reads {RESIDUAL} alone, got {request.place!r}")
        layers.update(request.layers)
        positions.update(request.positions)
    return CaptureRequest(
        layers=tuple(sorted(layers)), positions=tuple(sorted(positions))
    )


def sequences(
    trajectories: Iterable[Trajectory],
    name: str,
    replays: Replays | None = None,
    marking: Marking | None = None,
) -> Sequences:
    """The replayable tokens of every turn that this language model decided.

    Args:
        trajectories: of the run.
        name: of the language model.
        replays: gives the answers of an episode that have tokens only there.
        marking: finds further positions.
    """
    for trajectory in trajectories:
        episode = str(trajectory.key)
        replayed = replays(episode) if replays else {}
        for turn in trajectory.turns:
            completion = turn.decision.completion
            if completion is None or completion.model != name:
                continue
            if completion.prompt_tokens and completion.positions:
                sequence = TokenSequence(
                    tokens=completion.prompt_tokens + completion.tokens,
                    positions=completion.positions,
                    interventions=completion.interventions,
                )
            elif turn.index in replayed:
                sequence = replayed[turn.index]
            else:
                continue
            row = episode, turn.index
            if marking is not None:
                sequence = marking.marked(row, completion, sequence)
            yield row, sequence


def stored_in(store: ActivationStore, source: str, request: CaptureRequest) -> Stored:
    """The turns of a source that need no capture."""
    places = product(request.layers, request.positions)
    return {place: store.stored(source, *place) for place in places}


def rows_at(found: Sequences, positions: Sequence[str]) -> Mapping[str, list[Row]]:
    """The turns that have each position."""
    rows: dict[str, list[Row]] = {position: [] for position in positions}
    for row, sequence in found:
        for position in positions:
            if sequence.positions.get(position):
                rows[position].append(row)
    return rows


def lacking(found: Sequences, stored: Stored) -> Sequences:
    """The sequences with a wanted position whose activations are not stored."""
    for row, sequence in found:
        for (_, position), rows in stored.items():
            if position in sequence.positions and row not in rows:
                yield row, sequence
                break


def new(records: Records, stored: Stored) -> Records:
    """The records without what is stored: the index keeps naming the files of that."""
    for row, record in records:
        new = {
            place: values
            for place, values in record.values.items()
            if row not in stored[place]
        }
        yield row, ActivationRecord(values=new)
