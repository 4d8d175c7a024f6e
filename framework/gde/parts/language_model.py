"""The protocols of language models: completing, enumerating answers, and reading
activations.
"""

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import (
    ChatRequest,
    Completion,
    ModelInfo,
    Tokenization,
    WeighedCompletion,
)


@runtime_checkable
class LanguageModel(Protocol):
    """Completes conversations.

    A run makes each model once per worker. The model batches concurrent requests
    itself, and the answer to a request is the same in any batch.
    """

    @property
    def info(self) -> ModelInfo:
        """Which model this is."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            GdeError: the model cannot be reached, or refuses the request. The decision
            gets the status "error".
        """

    def close(self) -> None:
        """Release what the model holds."""


@runtime_checkable
class HasProbabilities(LanguageModel, Protocol):
    """Capability ACTION_PROBS: the model enumerates its answers with their
    probabilities, instead of drawing one.
    """

    async def completions(
        self, request: ChatRequest, least: float
    ) -> Sequence[WeighedCompletion]:
        """Every completion of at least the probability `least` under the request's
        sampling.

        The seed of the request plays no part. All other completions together have the
        rest of the probability.

        Raises:
            GdeError: as `complete`.
        """


@runtime_checkable
class WhiteBox(LanguageModel, Protocol):
    """Capability ACTIVATIONS: the model replays stored tokens and gives its residual
    stream.
    """

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """Replay each sequence in one forward pass, and keep the requested layers at
        the marked tokens.

        Raises:
            GdeError: the model lacks a requested layer.
        """

    def tokenize(self, text: str) -> Tokenization:
        """The token ids of a text with their character spans, without special
        tokens.
        """

    def untrained(self, seed: int) -> Self:
        """The same architecture and tokenizer with random weights: the control for
        every probe.
        """
