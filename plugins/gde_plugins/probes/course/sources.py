"""What readers of a course are given: activations of the model and of its controls.

A token holds mostly itself, in random weights too. So each reader has three controls: the
same tokens in random weights; the cells that the text has named by then, one-hot; and the
model's own activations at the same text after the prompt of another world.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gde.data.activations import CaptureRequest, TokenSequence
from gde.parts.language_model import WhiteBox
from gde.seeding import derive
from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.course.events import EVENTS, PREFIX
from gde_plugins.probes.course.turns import CourseTurn

MODEL, TEXT, FOREIGN, RANDOM = "model", "text", "foreign prompt", "random weights"
ITEM = re.compile(r"\d+|[^\W\d]+")
"""A number or a word of what is said."""
ByEvent = Mapping[str, Floats]
"""Event to (N, D) inputs of a reader; NaN in turns without the event."""


def activations(
    model: WhiteBox, sequences: Sequence[TokenSequence], layer: int
) -> ByEvent:
    """The residual stream at the output of a layer, at every event."""
    positions = tuple(PREFIX + event for event in EVENTS)
    request = CaptureRequest(layers=(layer,), positions=positions)
    records = model.capture(sequences, request)
    found = {}
    for event, position in zip(EVENTS, positions, strict=True):
        rows = [record.values.get((layer, position)) for record in records]
        width = next((row.shape[1] for row in rows if row is not None), 1)
        missing = np.full((1, width), np.nan, dtype=np.float32)
        found[event] = np.concatenate([missing if row is None else row for row in rows])
    return found


def own(model: WhiteBox, turns: Sequence[CourseTurn], layer: int) -> ByEvent:
    """The model's activations in its own turns."""
    return activations(model, [turn.sequence for turn in turns], layer)


def foreign(
    model: WhiteBox,
    turns: Sequence[CourseTurn],
    layer: int,
    rng: np.random.Generator,
) -> ByEvent:
    """The model's activations at the same texts, each after another world's prompt."""
    order = rng.permutation(len(turns))
    # A cycle through all turns gives none its own prompt.
    other = dict(zip(order.tolist(), np.roll(order, 1).tolist(), strict=True))
    sequences = [turn.after_prompt(turns[other[i]]) for i, turn in enumerate(turns)]
    return activations(model, sequences, layer)


def random_weights(
    model: WhiteBox, turns: Sequence[CourseTurn], layer: int, number: int, seed: int
) -> Iterator[ByEvent]:
    """The activations of so many random initialisations, one after the other."""
    for draw in range(number):
        untrained = model.untrained(derive(seed, "untrained", draw))
        try:
            yield own(untrained, turns, layer)
        finally:
            untrained.close()


def said(turns: Sequence[CourseTurn]) -> ByEvent:
    """What the text has said by each event: numbers and words of every mention, one-hot
    by mention and place in it.
    """
    found: dict[str, Floats] = {}
    for event in EVENTS:
        items = [_items(turn, event) for turn in turns]
        columns = {item: i for i, item in enumerate(sorted(set().union(*items)))}
        # Nothing said is one input that never varies.
        inputs = np.zeros((len(turns), max(1, len(columns))), dtype=np.float32)
        for row, own_items in enumerate(items):
            inputs[row, [columns[item] for item in own_items]] = 1
        missing = [event not in turn.found.tokens for turn in turns]
        inputs[missing] = np.nan
        found[event] = inputs
    return found


def _items(turn: CourseTurn, event: str) -> set[tuple[str, int, str]]:
    """The items that a turn's text has said by an event, in the order of its tokens."""
    tokens = turn.found.tokens
    return {
        (mention, place, item.lower())
        for mention, words in turn.found.said.items()
        if event in tokens and tokens[mention] <= tokens[event]
        for place, item in enumerate(ITEM.findall(words))
    }
