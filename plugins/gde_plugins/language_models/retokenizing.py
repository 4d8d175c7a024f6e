"""Answers of a server in the tokens of local weights, checked before they are replayed.

Activations are those of the server's model only if the replayed tokens are those that
it read and wrote. The server may give them. If not, they are rendered from the record,
and whatever else the server says is compared: the text and the numbers of tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gde.data.completion import Completion
from gde.errors import CannotReplay, GdeError
from gde_plugins.language_models.channels import Channels
from gde_plugins.language_models.chat_template import ChatTemplate


@dataclass(frozen=True, kw_only=True)
class Retokenizing:
    """Finds the tokens of completions by a tokenizer and its chat template."""

    tokenizer: Any
    template: ChatTemplate
    channels: Channels
    stops: frozenset[int]
    vocabulary: int
    """Number of the model's token ids."""

    def retokenize(self, completion: Completion) -> Completion:
        """Return the completion with tokens and positions.

        Raises:
            CannotReplay: they are not those that the server read and wrote.
        """
        largest = max((*completion.prompt_tokens, *completion.tokens), default=0)
        if largest >= self.vocabulary:
            raise CannotReplay(
                f"token {largest} is none of the {self.vocabulary:,} of the weights"
            )
        prompt = self._prompt(completion)
        tokens = self._tokens(completion, prompt)
        reading = self.channels.read(prompt, tokens)
        return replace(
            completion,
            prompt_tokens=prompt,
            tokens=tokens,
            positions=reading.positions,
        )

    def _prompt(self, completion: Completion) -> tuple[int, ...]:
        if not completion.prompt_tokens:
            prompt = self._rendered(completion)
            n_there = completion.n_prompt
            if n_there not in (None, len(prompt)):
                raise CannotReplay(
                    f"prompt has {n_there} tokens there and {len(prompt)} here"
                )
            return prompt

        prompt = completion.prompt_tokens
        text = self._decoded(prompt)
        for message in completion.prompt:
            # Some tokenizers cannot give a text back as it was.
            content = self._decoded(self._encoded(message.content))
            if content.strip() not in text:
                raise CannotReplay("the prompt's tokens give another text here")
        return prompt

    def _rendered(self, completion: Completion) -> tuple[int, ...]:
        if not completion.prompt:
            raise CannotReplay("the record has no conversation to render")
        try:
            return self.template.render(completion.prompt, completion.effort)
        except GdeError as error:
            raise CannotReplay(str(error)) from error

    def _tokens(
        self, completion: Completion, prompt: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Return the tokens of the completion.

        Raises:
            CannotReplay: they read as another answer, or are too many or too few.
        """
        if completion.tokens:
            candidates = [completion.tokens]
        else:
            candidates = [*self._written(completion, prompt)]

        problems = []
        for tokens in candidates:
            problem = self._problem(completion, prompt, tokens)
            if not problem:
                return tokens
            problems.append(problem)
        raise CannotReplay(problems[0])

    def _written(
        self, completion: Completion, prompt: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """Yield tokens that read as the completion's reasoning and text."""
        reasoning = completion.reasoning or ""
        for text in self.channels.write(prompt, reasoning, completion.text):
            yield self._encoded(text)

    def _encoded(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _decoded(self, tokens: Sequence[int]) -> str:
        text = self.tokenizer.decode(
            [*tokens], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def _problem(
        self,
        completion: Completion,
        prompt: tuple[int, ...],
        tokens: tuple[int, ...],
    ) -> str:
        """Return why these are not the completion's tokens; empty if they may be."""
        reading = self.channels.read(prompt, tokens)
        if reading.text.strip() != completion.text.strip():
            return "the answer's tokens give another text here"
        if (reading.reasoning or "").strip() != (completion.reasoning or "").strip():
            return "the reasoning's tokens give another text here"

        # Servers differ in whether they count and give the token that ends an answer.
        n_there = completion.n_completion
        n_here = len(tokens)
        counts = {n_here}
        if completion.finish != "length":
            ended = n_here > 0 and tokens[-1] in self.stops
            counts.add(n_here - 1 if ended else n_here + 1)
        if n_there is not None and n_there not in counts:
            return f"completion has {n_there} tokens there and {n_here} here"
        return ""
