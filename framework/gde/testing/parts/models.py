"""A scripted language model, and a white box with planted activations.

Its activations hold the text.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from typing import Any, Self

import numpy as np

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.arrays import Doubles, Floats
from gde.data.completion import (
    ChatRequest,
    Completion,
    Finish,
    Message,
    ModelInfo,
    Tokenization,
)
from gde.errors import CannotReplay, GdeError
from gde.parts.interventions import check_interventions, refuse_interventions
from gde.seeding import generator
from gde.testing.parts.corridor import LEFT, RIGHT

CLOSING = "<|answer|>"
"""Text between reasoning and answer, and at the end of the prompt."""
REASONING = "I see."
MARKED = 3
"""Last characters of `CLOSING` that are marked."""
LOGPROB = -0.5
"""The planted model's log-probability of any token."""
TURNING = 1000.0
"""How far the planted model must point along its causal direction to answer LEFT."""


def always_right(_: ChatRequest) -> str:
    """The script of a model that knows the way."""
    return RIGHT


@dataclass
class ScriptedModel:
    """Answers by a function of the request, with one token for each character.

    Beside "pre" and "post" it has all tokens of the last "message".
    """

    script: Callable[[ChatRequest], str] = always_right

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="scripted")

    async def complete(self, request: ChatRequest) -> Completion:
        """The script's answer, cut off at `max_tokens`."""
        refuse_interventions(request, self.info)
        return self._answer(request, self.script(request))

    def close(self) -> None:
        """Nothing to release."""

    def _answer(self, request: ChatRequest, answer: str) -> Completion:
        whole = _continued("".join(map(chr, request.prefill)), answer)
        tokens = whole[: request.sampling.max_tokens]
        finish: Finish = "stop" if tokens == whole else "length"
        return self._read(request.messages, tokens, finish)

    def _read(
        self, messages: Sequence[Message], tokens: str, finish: Finish
    ) -> Completion:
        lines = [f"{each.role}: {each.content}\n" for each in messages]
        prompt = "".join(lines) + CLOSING
        pre = len(prompt)
        message = pre - len(CLOSING) - 1
        positions = {"pre": tuple(range(pre - MARKED, pre))}
        content = messages[-1].content
        if content:
            positions["message"] = tuple(range(message - len(content), message))
        if CLOSING in tokens:
            post = pre + tokens.index(CLOSING) + len(CLOSING)
            positions["post"] = tuple(range(post - MARKED, post))

        thought, _, text = tokens.partition(CLOSING)
        return Completion(
            text=text,
            reasoning=thought,
            finish=finish,
            prompt_tokens=tuple(map(ord, prompt)),
            tokens=tuple(map(ord, tokens)),
            positions=positions,
            n_prompt=len(prompt),
            n_completion=len(tokens),
        )


def _continued(prefill: str, answer: str) -> str:
    """Reasoning and answer that begin with a prefill."""
    usual = f"{REASONING}{CLOSING}{answer}"
    if usual.startswith(prefill):
        return usual
    if CLOSING in prefill:
        return f"{prefill}{answer}"
    return f"{prefill}{CLOSING}{answer}"


@dataclass
class PlantedModel(ScriptedModel):
    """A white box in whose residual stream the text is planted linearly.

    From layer 0 on, every marked token carries the sum of one fixed random direction
    for each (place, character) before it, so that a linear probe can decode the text.
    The embeddings carry only the marked character. The untrained model carries a
    direction that is random for each whole text.

    One more direction causes its answers: if the last token of the prompt points
    further along it than `turning` is long, the model answers LEFT instead of its
    script. No text comes near that. An intervention reaches all deeper layers of its
    own token, and no other token.
    """

    n_layers: int = 2
    width: int = 64
    untrained_seed: int | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            name="planted",
            n_layers=self.n_layers,
            width=self.width,
            notice="No real model: planted.",
        )

    @property
    def turning(self) -> Floats:
        """The (width,) vector that, added twice over, turns the answer.

        It is added to the marked tokens "pre" at any layer.
        """
        direction = self._direction("turning")
        return (TURNING * direction / np.linalg.norm(direction)).astype(np.float32)

    async def complete(self, request: ChatRequest) -> Completion:
        """The script's answer, or LEFT where the interventions turn it.

        Raises:
            GdeError: an intervention at a layer or position that is not there, or of
                another width.
        """
        plain = self._answer(request, self.script(request))
        if not request.interventions:
            return plain
        n_prompt = len(plain.prompt_tokens)
        positions = {
            position: places
            for position, places in plain.positions.items()
            if places[-1] < n_prompt
        }
        check_interventions(request.interventions, positions, self.info)
        sequence = TokenSequence(
            tokens=plain.prompt_tokens,
            positions=positions,
            interventions=request.interventions,
        )
        (last,) = self._rows(sequence, positions["pre"][-1:], self.n_layers - 1)
        turned = last @ self.turning > TURNING**2
        return self._answer(request, LEFT) if turned else plain

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        for sequence in sequences:
            check_interventions(sequence.interventions, sequence.positions, self.info)
        for layer in request.layers:
            if not EMBEDDING <= layer < self.n_layers:
                raise GdeError(
                    f"layer: wanted {EMBEDDING} to {self.n_layers - 1}, got {layer}"
                )
        return [self._record(sequence, request) for sequence in sequences]

    def tokenize(self, text: str) -> Tokenization:
        return Tokenization(
            ids=tuple(map(ord, text)), spans=tuple((i, i + 1) for i in range(len(text)))
        )

    def retokenize(self, completion: Completion) -> Completion:
        """The given tokens, or those that this model would have written.

        Raises:
            CannotReplay: the server counted others.
        """
        tokens = "".join(map(chr, completion.tokens))
        if not tokens:
            tokens = f"{completion.reasoning}{CLOSING}{completion.text}"
        found = self._read(completion.prompt, tokens, completion.finish)
        counts = (completion.n_prompt, completion.n_completion)
        if counts != (found.n_prompt, found.n_completion):
            raise CannotReplay(f"counted {counts[0]} and {counts[1]} tokens")
        return replace(
            completion,
            prompt_tokens=completion.prompt_tokens or found.prompt_tokens,
            tokens=found.tokens,
            positions=found.positions,
        )

    def scores(self, n: int) -> tuple[float, ...]:
        """Log-probabilities of the last n tokens of a sequence."""
        return (LOGPROB,) * n

    def untrained(self, seed: int) -> Self:
        return type(self)(self.script, self.n_layers, self.width, seed)

    def _record(
        self, sequence: TokenSequence, request: CaptureRequest
    ) -> ActivationRecord:
        values = {}
        for layer, position in product(request.layers, request.positions):
            if position in sequence.positions:
                places = sequence.positions[position]
                values[layer, position] = self._rows(sequence, places, layer)
        return ActivationRecord(values=values, logprobs=self.scores(sequence.scored))

    def _rows(
        self, sequence: TokenSequence, places: Sequence[int], layer: int
    ) -> Floats:
        """(places, width) after the interventions up to a layer."""
        # What the interventions have changed at each place, all in all.
        carried: dict[int, Any] = defaultdict(int)
        for each in sorted(sequence.interventions, key=lambda each: each.layer):
            if each.layer > layer:
                break
            changed = sequence.positions[each.position]
            planted = self._planted(sequence, changed, each.layer)
            stream = planted + np.stack(
                [carried[place] + np.zeros(self.width) for place in changed]
            )
            carried.update(zip(changed, each.applied(stream) - planted, strict=True))

        plain = self._planted(sequence, places, layer)
        rows = np.stack(
            [row + carried[place] for row, place in zip(plain, places, strict=True)]
        ).astype(np.float32)
        rows.flags.writeable = False
        return rows

    def _planted(
        self, sequence: TokenSequence, places: Sequence[int], layer: int
    ) -> Doubles:
        return np.stack(
            [self._activation(sequence.tokens[: place + 1], layer) for place in places]
        )

    def _activation(self, tokens: tuple[int, ...], layer: int) -> Doubles:
        if layer == EMBEDDING:
            return self._direction("embedding", tokens[-1])
        if self.untrained_seed is not None:
            text = sha256(repr(tokens).encode()).hexdigest()
            return self._direction("untrained", self.untrained_seed, layer, text)
        directions = [
            self._direction("planted", place, token)
            for place, token in enumerate(tokens)
        ]
        planted: Doubles = np.sum(directions, axis=0) * (1 + layer)
        return planted

    def _direction(self, *key: str | int) -> Doubles:
        return _direction(self.width, *key)


@lru_cache(maxsize=4096)
def _direction(width: int, *key: str | int) -> Doubles:
    drawn = generator(0, *key).normal(size=width)
    drawn.flags.writeable = False
    return drawn
