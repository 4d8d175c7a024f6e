"""A model that completes conversations, and one whose activations can be read as well."""

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, ModelInfo, Tokenization, WeighedCompletion


@runtime_checkable
class LanguageModel(Protocol):
    """Made once per run and worker. Batches concurrent requests itself; a request's answer is the same in any batch."""

    @property
    def info(self) -> ModelInfo:
        """Which model this is."""

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            GdeError: the model cannot be reached or refuses the request; recorded as a decision of status "error".
        """

    def close(self) -> None:
        """Release what the model holds."""


@runtime_checkable
class HasProbabilities(LanguageModel, Protocol):
    """Facet ACTION_PROBS: the model tells which answers it can give, instead of drawing one."""

    async def completions(self, request: ChatRequest, least: float) -> Sequence[WeighedCompletion]:
        """Every completion of at least this probability under the request's sampling; its seed plays no part.

        What is missing to a sum of 1 is spread over completions that are each less probable than `least`.

        Raises:
            GdeError: as `complete`.
        """


@runtime_checkable
class WhiteBox(LanguageModel, Protocol):
    """Facet ACTIVATIONS: stored tokens can be replayed and the residual stream read."""

    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        """One forward pass over each sequence, keeping only the asked-for layers at the marked tokens.

        Raises:
            GdeError: a layer that the model does not have.
        """

    def tokenize(self, text: str) -> Tokenization:
        """The text's token ids with their character spans, no special tokens added."""

    def untrained(self, seed: int) -> Self:
        """The same architecture and tokenizer with random weights: the control for every probe."""
