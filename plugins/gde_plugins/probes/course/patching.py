"""The metric `patching`: what a changed token does to the answer, with the text fixed.

At one event and layer, a turn's activation is replaced by that of a donor: the same event
of another world whose answer has another move. The text stays word for word, so only the
activation can tell the model of the donor. Of all moves the model has answered with, the one
whose words are likeliest after the change is its answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.activations import CaptureRequest, Intervention, TokenSequence
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.episodes import finished, unmeasured
from gde.numerics.stats import cluster_share
from gde.parts.context import Context
from gde.parts.language_model import Retokenizer
from gde.seeding import derive, generator
from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.config import ReadingConfig
from gde_plugins.probes.course.config import PatchingConfig
from gde_plugins.probes.course.events import EVENTS, PREFIX
from gde_plugins.probes.course.sources import own
from gde_plugins.probes.course.turns import (
    NO_MODEL,
    CourseTurn,
    first_turns,
    read_model,
)

NAME = "patching.moved"
DONOR, SAME, PAIR, RANDOM = "donor", "same move", "another pair", "random direction"
Tail = tuple[int, ...]
"""The tokens of an answer after the last event."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A turn with its donors, by their rows among the turns."""

    turn: int
    donor: int
    """Of another move."""
    same: int
    """Of the turn's own move."""
    pair: int
    """Of another move than the turn's and the donor's."""


@dataclass(frozen=True)
class Patching:
    """Patch the token of each event, with the text fixed. Controls are made where a donor
    moves any answer.

    - "patching.unchanged": share of turns whose likeliest answer without a change is their
      own, which draws at a temperature.
    - "patching.moved": share of answers that become the donor's move, by event, layer and
      change. Of "another pair", the share that become the donor's though the activation is
      that of a turn with a third move; of a "random direction", though it is random and of
      the same length. Of the "same move", the share that change at all.
    """

    config: PatchingConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Patch at every event and layer, or say why nothing is."""
        if evidence.part:
            return ()
        episodes = finished(evidence)
        model = read_model(self.context, self.config.weights, episodes)
        if model is None:
            return [unmeasured(NAME, NO_MODEL)]
        # Only such a model tells the log-probabilities of tokens.
        if not isinstance(model, Retokenizer):
            return [unmeasured(NAME, f"{model.info.name} scores no tokens")]
        turns = [
            turn
            for turn in first_turns(episodes, self.config.patterns, model)
            if "after" in turn.found.tokens and turn.action is not None
        ]
        seed = derive(evidence.seed, "metric", "patching")
        tails = tails_of(turns)
        trials = trials_of(turns, self.config.pairs, generator(seed, "trials"))
        if not trials:
            return [unmeasured(NAME, "no answers with three moves at all events")]
        answers = Answers(model=model, turns=turns, tails=tails)
        found = [_unchanged(answers, trials, generator(seed, "unchanged"))]
        for layer in ReadingConfig(layer=self.config.layers).capture(model.info).layers:
            streams = own(model, turns, layer)
            for event in EVENTS:
                found += self._moved(
                    answers, trials, streams[event], layer, event, seed
                )
        return found

    def _moved(
        self,
        answers: "Answers",
        trials: Sequence[Trial],
        stream: Floats,
        layer: int,
        event: str,
        seed: int,
    ) -> Iterator[Measurement]:
        """The share of answers that each change moves at one event and layer."""
        rows = [[each.turn, each.donor, each.same, each.pair] for each in trials]
        tested = [
            trial
            for trial, of_trial in zip(trials, rows, strict=True)
            if np.isfinite(stream[of_trial]).all()
        ]
        worlds = [answers.turns[trial.turn].world for trial in tested]
        reason = "" if tested else "no pair of turns has the event"
        for change in (DONOR, SAME, PAIR, RANDOM):
            where: Labels = {"event": event, "layer": layer, "change": change}
            if reason:
                yield unmeasured(NAME, reason, where)
                continue
            hits = []
            for trial in tested:
                rng = generator(seed, "direction", layer, event, trial.turn)
                patch = Intervention(
                    layer=layer,
                    position=PREFIX + event,
                    kind="replace",
                    vector=_vector(change, trial, stream, rng),
                )
                move = answers.move(trial.turn, patch)
                own_move = answers.turns[trial.turn].action
                wanted = answers.turns[trial.donor].action
                hits.append(move != own_move if change == SAME else move == wanted)
            rng = generator(seed, "interval", layer, event, change)
            yield cluster_share(hits, worlds, rng).measurement(NAME, where)
            # Its controls take three times as long.
            if change == DONOR and not any(hits):
                reason = "the donor moves no answer"


def _unchanged(
    answers: "Answers", trials: Sequence[Trial], rng: np.random.Generator
) -> Measurement:
    """How often the likeliest answer without any change is the turn's own."""
    turns = [answers.turns[trial.turn] for trial in trials]
    hits = [
        answers.move(trial.turn) == turn.action
        for trial, turn in zip(trials, turns, strict=True)
    ]
    estimate = cluster_share(hits, [turn.world for turn in turns], rng)
    return estimate.measurement("patching.unchanged")


def _vector(
    change: str, trial: Trial, stream: Floats, rng: np.random.Generator
) -> Floats:
    """The activation that a change puts in the place of the turn's own."""
    rows = {DONOR: trial.donor, SAME: trial.same, PAIR: trial.pair}
    if change in rows:
        return np.asarray(stream[rows[change]])
    plain = stream[trial.turn]
    drawn = rng.normal(size=plain.shape)
    length = np.linalg.norm(stream[trial.donor] - plain) / np.linalg.norm(drawn)
    return np.asarray(plain + length * drawn, dtype=np.float32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """The moves that a model answers with when a token is changed."""

    model: Retokenizer
    turns: Sequence[CourseTurn]
    tails: Mapping[str, Tail]

    def move(self, row: int, *changes: Intervention) -> str:
        """The likeliest move of a turn under changes."""
        turn = self.turns[row]
        begun = turn.sequence.tokens[: turn.found.tokens["after"] + 1]
        sequences = [
            TokenSequence(
                tokens=begun + tail,
                positions=turn.sequence.positions,
                interventions=changes,
                scored=len(tail),
            )
            for tail in self.tails.values()
        ]
        nothing = CaptureRequest(layers=(), positions=())
        records = self.model.capture(sequences, nothing)
        scores = [sum(record.logprobs) for record in records]
        return [*self.tails][int(np.argmax(scores))]


def tails_of(turns: Sequence[CourseTurn]) -> dict[str, Tail]:
    """The first answer's tokens with each move, after the last event."""
    found: dict[str, Tail] = {}
    for turn in turns:
        if turn.action is not None:
            begin = turn.found.tokens["after"] + 1
            found.setdefault(turn.action, turn.sequence.tokens[begin:])
    return found


def trials_of(
    turns: Sequence[CourseTurn], number: int, rng: np.random.Generator
) -> list[Trial]:
    """At most so many turns, each with random donors."""
    moves = np.array([turn.action for turn in turns])
    trials: list[Trial] = []
    for row in rng.permutation(len(turns)).tolist():
        others = np.flatnonzero(moves != moves[row])
        same = np.flatnonzero(moves == moves[row])
        same = same[same != row]
        if len(others) and len(same) and len(trials) < number:
            donor = int(rng.choice(others))
            third = others[moves[others] != moves[donor]]
            if len(third):
                trials.append(
                    Trial(
                        turn=row,
                        donor=donor,
                        same=int(rng.choice(same)),
                        pair=int(rng.choice(third)),
                    )
                )
    return trials
