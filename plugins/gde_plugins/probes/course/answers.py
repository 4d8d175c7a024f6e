"""The moves that a model answers with when a token of its reasoning is changed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion
from gde.parts.context import Context
from gde.parts.language_model import Retokenizer, WhiteBox
from gde_plugins.probes.causes.cases import UNCHANGED, Case, Change
from gde_plugins.probes.causes.effects import Replays
from gde_plugins.probes.causes.replay import (
    action_for,
    check_tokens,
    recorded_request,
)
from gde_plugins.probes.course.events import PREFIX
from gde_plugins.probes.course.turns import CourseTurn

Tail = tuple[int, ...]
"""The tokens of an answer after the last event."""


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """The answers of several turns under one change."""

    moves: Sequence[str | None]
    texts: Sequence[str] = ()
    """What is written; empty where the text is fixed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedText:
    """The text stays word for word. Of all moves that the model has answered with, the
    one whose words are likeliest after it is the answer.
    """

    model: Retokenizer
    turns: Sequence[CourseTurn]
    tails: Mapping[str, Tail]

    def under(self, change: Change = UNCHANGED) -> Outcomes:
        """The likeliest moves under a change."""
        changes = change.interventions or [()] * len(self.turns)
        sequences = []
        for turn, made in zip(self.turns, changes, strict=True):
            begun = turn.sequence.tokens[: turn.found.tokens["after"] + 1]
            for tail in self.tails.values():
                sequences.append(
                    TokenSequence(
                        tokens=begun + tail,
                        positions=turn.sequence.positions,
                        interventions=made,
                        scored=len(tail),
                    )
                )
        nothing = CaptureRequest(layers=(), positions=())
        records = self.model.capture(sequences, nothing)
        scores = np.array([sum(record.logprobs) for record in records])
        best = scores.reshape(len(self.turns), -1).argmax(axis=1)
        return Outcomes(moves=[[*self.tails][each] for each in best])


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeText:
    """The text up to an event is given, and goes on from there."""

    replays: Replays

    @classmethod
    def at(
        cls,
        event: str,
        model: WhiteBox,
        context: Context,
        turns: Sequence[CourseTurn],
        requests: Sequence[ChatRequest],
    ) -> Self:
        """The turns and their requests, each with its own text up to an event."""
        turn_of = {turn.world: turn for turn in turns}
        cases = []
        for turn, request in zip(turns, requests, strict=True):
            token = turn.found.tokens[event]
            begun = replace(
                request,
                prefill=turn.sequence.tokens[turn.n_prompt : token + 1],
                positions={PREFIX + event: (token,)},
            )
            cases.append(Case(request=begun, world=turn.world, predicted=frozenset()))

        async def read(case: Case, answer: Completion) -> str | None:
            trajectory = turn_of[case.world].trajectory
            return await action_for(context, trajectory, trajectory.turns[0], answer)

        return cls(replays=Replays(model=model, cases=cases, read=read))

    def under(self, change: Change = UNCHANGED) -> Outcomes:
        """The moves and texts of the answers under a change."""
        return asyncio.run(self._under(change))

    async def _under(self, change: Change) -> Outcomes:
        answers = await self.replays.answers(change)
        moves = await self.replays.actions(answers)
        return Outcomes(
            moves=[move for (move,) in moves],
            texts=[f"{answer.reasoning}\n{answer.text}" for (answer,) in answers],
        )


async def requests_of(
    context: Context, model: WhiteBox, turns: Sequence[CourseTurn]
) -> list[ChatRequest]:
    """The requests that the turns answer.

    Raises:
        GdeError: a turn cannot be asked again, or the model writes its prompt in other
            tokens than those that were answered.
    """
    requests = []
    for turn in turns:
        trajectory = turn.trajectory
        request = await recorded_request(context, trajectory, trajectory.turns[0])
        await check_tokens(request, turn.sequence.tokens[: turn.n_prompt], model)
        requests.append(request)
    return requests


def tails_of(turns: Sequence[CourseTurn]) -> dict[str, Tail]:
    """The first answer's tokens with each move, after the last event."""
    found: dict[str, Tail] = {}
    for turn in turns:
        if turn.action is not None:
            begin = turn.found.tokens["after"] + 1
            found.setdefault(turn.action, turn.sequence.tokens[begin:])
    return found
