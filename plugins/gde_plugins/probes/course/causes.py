"""The metric `course-causes`: what a changed token does to the answer and the text.

At one event and layer, the activation of a turn's token is changed. The text stays word for
word, so that only the activation can tell the model of another move, or goes on from the
event.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gde.data.completion import ChatRequest
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import finished, unmeasured
from gde.numerics.stats import cluster_share
from gde.parts.context import Context
from gde.parts.language_model import Retokenizer
from gde.seeding import derive, generator
from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.causes.cases import Change
from gde_plugins.probes.causes.interventions import Where
from gde_plugins.probes.config import ReadingConfig
from gde_plugins.probes.course.answers import (
    FixedText,
    FreeText,
    Outcomes,
    requests_of,
    tails_of,
)
from gde_plugins.probes.course.config import CourseCausesConfig
from gde_plugins.probes.course.event_changes import (
    ABLATE,
    PATCH,
    SAME,
    STEER,
    ablation,
    patching,
    steering,
)
from gde_plugins.probes.course.events import EVENTS, PREFIX
from gde_plugins.probes.course.sources import own
from gde_plugins.probes.course.trials import Trial, trials_of
from gde_plugins.probes.course.turns import (
    NO_MODEL,
    CourseTurn,
    first_turns,
    read_model,
)

NAME = "course-causes.moved"
FIXED, FREE = "fixed", "goes on"


@dataclass(frozen=True)
class CourseCauses:
    """Patch, steer and ablate the token of each event. Controls are made where the change
    itself moves any answer.

    - "course-causes.unchanged": share of turns whose likeliest answer without a change is
      their own, which draws at a temperature.
    - "course-causes.moved": share of answers that become the donor's move, by event, layer,
      text and change; of ablations, and of donors of the same move, the share that change
      at all.
    - "course-causes.rewritten": where the text goes on, the share of answers that are
      written otherwise than without the change, with the same random numbers.
    """

    config: CourseCausesConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Change every event at every layer, or say why nothing is."""
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
        seed = derive(evidence.seed, "metric", "course-causes")
        trials = trials_of(turns, self.config.pairs, generator(seed, "trials"))
        if not trials:
            n = len(turns)
            reason = f"{n} first turns have the event `after`; donors need three moves"
            return [unmeasured(NAME, reason)]
        tests = _Tests(
            config=self.config,
            context=self.context,
            model=model,
            turns=turns,
            trials=trials,
            seed=seed,
        )
        return [*tests.run()]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tests:
    """The changes of one run."""

    config: CourseCausesConfig
    context: Context
    model: Retokenizer
    turns: Sequence[CourseTurn]
    trials: Sequence[Trial]
    seed: int
    requests: dict[str, ChatRequest] = field(default_factory=dict)
    """World to the request of its turn, once it is known."""
    plain: dict[str, str | None] = field(default_factory=dict)
    """World to the likeliest move of its turn with the text fixed and nothing changed,
    once it is known.
    """

    def run(self) -> Iterator[Measurement]:
        """All changes at all layers and events."""
        yield self._unchanged()
        why_not_free = ""
        if FREE in self.config.texts:
            try:
                self._ask()
            except GdeError as error:
                why_not_free = str(error)
                yield unmeasured(NAME, why_not_free, {"text": FREE})
        texts = [
            text for text in self.config.texts if text == FIXED or not why_not_free
        ]
        layers = ReadingConfig(layer=self.config.layers).capture(self.model.info).layers
        for layer in layers:
            streams = own(self.model, self.turns, layer)
            for event in EVENTS:
                where = Where(layer=layer, position=PREFIX + event)
                yield from self._at(event, where, streams[event][:, None], texts)

    def _ask(self) -> None:
        turns = [self.turns[each.turn] for each in self.trials]
        requests = asyncio.run(requests_of(self.context, self.model, turns))
        for turn, request in zip(turns, requests, strict=True):
            self.requests[turn.world] = request

    def _unchanged(self) -> Measurement:
        """How often the likeliest answer without any change is the turn's own."""
        turns = [self.turns[each.turn] for each in self.trials]
        moves = self._fixed(turns).under().moves
        hits = [move == turn.action for move, turn in zip(moves, turns, strict=True)]
        worlds = [turn.world for turn in turns]
        self.plain.update(zip(worlds, moves, strict=True))
        rng = generator(self.seed, "unchanged")
        return cluster_share(hits, worlds, rng).measurement("course-causes.unchanged")

    def _fixed(self, turns: Sequence[CourseTurn]) -> FixedText:
        return FixedText(model=self.model, turns=turns, tails=tails_of(self.turns))

    def _at(
        self, event: str, where: Where, stream: Floats, texts: Sequence[str]
    ) -> Iterator[Measurement]:
        """All changes at one event and layer, of a stream (N, 1, width)."""
        trials = [
            each
            for each in self.trials
            if np.isfinite(stream[[each.turn, each.donor, each.same, each.pair]]).all()
        ]
        at: Labels = {"event": event, "layer": where.layer}
        if not trials:
            yield unmeasured(NAME, "no pair of turns has the event", at)
            return
        moves = [turn.action for turn in self.turns]
        turns = [self.turns[each.turn] for each in trials]
        rng = generator(self.seed, "changes", where.layer, event)
        kinds = {
            PATCH: patching(where, trials, stream, rng),
            STEER: steering(where, trials, stream, moves, rng),
            ABLATE: ablation(where, trials, stream, moves, rng),
        }
        wanted = [moves[each.donor] for each in trials]
        for text in texts:
            if text == FIXED:
                answers: FixedText | FreeText = self._fixed(turns)
                plain = Outcomes(moves=[self.plain[turn.world] for turn in turns])
            else:
                requests = [self.requests[turn.world] for turn in turns]
                answers = FreeText.at(event, self.model, self.context, turns, requests)
                plain = answers.under()
            for kind, changes in kinds.items():
                labels: Labels = {**at, "text": text, "change": kind}
                if not changes:
                    reason = "too few other turns of each move for their means"
                    yield unmeasured(NAME, reason, {**labels, "control": "none"})
                compared = _Compared(plain=plain, wanted=wanted, turns=turns)
                yield from compared.measured(answers, changes, labels, self.seed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Compared:
    """Answers under changes, beside those without."""

    plain: Outcomes
    wanted: Sequence[str | None]
    """The donors' moves."""
    turns: Sequence[CourseTurn]

    def measured(
        self,
        answers: FixedText | FreeText,
        changes: Sequence[Change],
        labels: Labels,
        seed: int,
    ) -> Iterator[Measurement]:
        """What a change does, and its controls where it does anything."""
        reason = ""
        for change in changes:
            where: Labels = {**labels, "control": change.control or "none"}
            if reason:
                yield unmeasured(NAME, reason, where)
                continue
            found = answers.under(change)
            moved = self._moved(change, found)
            rng = generator(seed, "interval", *map(str, where.values()))
            worlds = [turn.world for turn in self.turns]
            yield cluster_share(moved, worlds, rng).measurement(NAME, where)
            rewritten = [
                text != own
                for text, own in zip(found.texts, self.plain.texts, strict=True)
            ]
            if rewritten:
                share = cluster_share(rewritten, worlds, rng)
                yield share.measurement("course-causes.rewritten", where)
            # Controls take several times as long.
            if not change.control and not any([*moved, *rewritten]):
                reason = "the change moves no answer"

    def _moved(self, change: Change, found: Outcomes) -> list[bool]:
        """Whether each answer moves as the change would have it."""
        is_away = change.name == ABLATE or change.control == SAME
        others = self.plain.moves if is_away else self.wanted
        pairs = zip(found.moves, others, strict=True)
        return [(move != other) is is_away for move, other in pairs]
