"""The protocols of language models: answers, probabilities, activations."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Protocol, Self, runtime_checkable

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import (
    ChatRequest,
    Completion,
    FirstAnswer,
    ModelInfo,
    Tokenization,
    WeighedCompletion,
)

SENDING: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar(
    "SENDING", default=None
)
"""What the run does before the request of this task is sent once more."""


async def send_again(failed: str = "") -> None:
    """Count a request that is about to be sent once more; call it before each retry.

    The first sending of a request is counted already.

    Args:
        failed: how the server failed before, in a few words, e.g. "status 502": a run
            tells how often. Empty where it did not.

    Raises:
        RunFailed: the budget of the run is spent.
    """
    counted = SENDING.get()
    if counted is not None:
        await counted(failed)


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

        A model that retries calls `send_again` before each retry.

        Raises:
            GdeError: the model cannot be reached, or refuses the request. The decision
                gets the status "error".
        """

    def close(self) -> None:
        """Release what the model holds."""


@runtime_checkable
class Served(LanguageModel, Protocol):
    """A model elsewhere, of which nothing is known before it is asked."""

    async def first(self, request: ChatRequest) -> FirstAnswer:
        """Answer one question before a run, and find the settings that this needs.

        Settings that change an answer are never chosen.

        Raises:
            GdeError: the model cannot be asked as it is configured; what to set.
        """


@runtime_checkable
class HasProbabilities(LanguageModel, Protocol):
    """Capability ACTION_PROBS: the model enumerates its answers.

    Each has its probability; none is drawn.
    """

    async def completions(
        self, request: ChatRequest, least: float
    ) -> Sequence[WeighedCompletion]:
        """Every completion with at least probability `least`, as sampling is set.

        The seed of the request plays no part. All other completions together have the
        rest of the probability.

        Raises:
            GdeError: as `complete`.
        """


@runtime_checkable
class WhiteBox(LanguageModel, Protocol):
    """Capability ACTIVATIONS: the model replays tokens for its residual stream."""

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """Replay each sequence in one forward pass; keep the requested activations.

        Raises:
            GdeError: the model lacks a requested layer.
        """

    def tokenize(self, text: str) -> Tokenization:
        """The token ids of a text with character spans, without special tokens."""

    def untrained(self, seed: int) -> Self:
        """The same architecture and tokenizer with random weights, as a control."""


@runtime_checkable
class Retokenizer(WhiteBox, Protocol):
    """A white box that replays what a server with the same weights has answered.

    Its `capture` also gives the log-probabilities of scored tokens.
    """

    def retokenize(self, completion: Completion) -> Completion:
        """The completion with the tokens and positions that this model has for it.

        They are the tokens that the server gave, else those of the recorded
        conversation, reasoning and text in the form of the model's template.

        Raises:
            CannotReplay: they give another text here, or another number of tokens than
                the server counted.
        """
