"""Splits a completion into reasoning and answer, and locates its positions.

The positions are those of Arghal et al. (2026), section 5.1: "pre" is the last three
tokens of the prompt, and "post" the three tokens in the same place of the template
after the reasoning. "reasoning" is all tokens between them, whose number differs from
turn to turn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gde_plugins.language_models.reasoning_text import split_reasoning

N_MARKED = 3
Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A completion, split."""

    text: str
    """The answer; empty if the model never reached it."""
    reasoning: str | None
    positions: Mapping[str, tuple[int, ...]]
    """Positions as indices into prompt + completion."""


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Models without tokens for reasoning.

    Some write its tags as text, which gives no position.
    """

    decode: Decode
    stops: frozenset[int] = frozenset()

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        halves = split_reasoning(self.decode(tokens))
        return Reading(
            text=halves.text,
            reasoning=halves.reasoning,
            positions={"pre": _last_three(len(prompt))},
        )

    def write(
        self,
        prompt: Sequence[int],  # noqa: ARG002 - those of other conventions need it
        reasoning: str,  # noqa: ARG002
        text: str,
    ) -> Iterator[str]:
        """Yield the completion that reads as this text."""
        yield text


@dataclass(frozen=True, kw_only=True)
class ThinkTags:
    """Models that reason between <think> and </think>.

    Their template may have opened the tag already, or they may leave it out.
    """

    decode: Decode
    think: int
    unthink: int
    stops: frozenset[int] = frozenset()

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        begin = self._begin(prompt, tokens)
        if begin is None:
            return Plain(decode=self.decode).read(prompt, tokens)

        closed = self.unthink in tokens[begin:]
        close = list(tokens).index(self.unthink, begin) if closed else len(tokens)
        reasoning = self.decode(tokens[begin:close]).strip()
        positions = _positions(len(prompt), range(begin, close))
        if not closed:
            return Reading(text="", reasoning=reasoning, positions=positions)

        positions["post"] = _last_three(len(prompt) + close + 1)
        return Reading(
            text=self.decode(tokens[close + 1 :]).strip(),
            reasoning=reasoning,
            positions=positions,
        )

    def write(self, prompt: Sequence[int], reasoning: str, text: str) -> Iterator[str]:
        """Yield completions that read as this reasoning and text, the likeliest first.

        Some servers cut off the white space at their ends.
        """
        is_open = self._begin(prompt, ()) is not None
        if not reasoning and not is_open:
            yield text
            return
        opening = "" if is_open else "<think>"
        begun = "" if is_open else "<think>\n"
        if text:
            yield f"{begun}{reasoning}\n</think>\n\n{text}"
            yield f"{opening}{reasoning}</think>{text}"
        else:
            yield f"{begun}{reasoning}"
            yield f"{opening}{reasoning}"

    def _begin(self, prompt: Sequence[int], tokens: Sequence[int]) -> int | None:
        """Return the index in `tokens` at which the reasoning begins; None without any."""
        tags = [token for token in prompt if token in (self.think, self.unthink)]
        if tags and tags[-1] == self.think:
            return 0
        if self.think in tokens:
            return list(tokens).index(self.think) + 1
        return 0 if self.unthink in tokens else None


@dataclass(frozen=True, kw_only=True)
class _HarmonyMessage:
    channel: str
    at: int
    """Index of its <|channel|> token."""
    body: Sequence[int]
    begin: int
    """Index of the body's first token."""


@dataclass(frozen=True, kw_only=True)
class Harmony:
    """GPT-OSS, with its reasoning in a channel of its own.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...<|return|>.
    """

    decode: Decode
    start: int
    channel: int
    message: int
    end: int
    stops: frozenset[int]
    """<|return|> and <|call|>, which end the completion."""

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        final = None
        thoughts: list[str] = []
        thought_at: list[int] = []
        for message in self._messages(tokens):
            if message.channel == "analysis":
                thoughts.append(self.decode(message.body))
                thought_at += range(message.begin, message.begin + len(message.body))
            elif message.channel == "final" and final is None:
                final = message

        positions = _positions(len(prompt), thought_at)
        # "post" is a place in the template only where a whole message, closed and
        # opened again, precedes the answer.
        template = (self.end, self.start)
        if final is not None and tuple(tokens[: final.at][-N_MARKED:][:2]) == template:
            positions["post"] = _last_three(len(prompt) + final.at)
        return Reading(
            text="" if final is None else self.decode(final.body),
            reasoning="\n".join(thoughts) if thoughts else None,
            positions=positions,
        )

    def write(
        self,
        prompt: Sequence[int],  # noqa: ARG002 - it ends before the first channel
        reasoning: str,
        text: str,
    ) -> Iterator[str]:
        """Yield the completion that reads as this reasoning and text."""
        thought = f"<|channel|>analysis<|message|>{reasoning}" if reasoning else ""
        between = "<|end|><|start|>assistant" if reasoning else ""
        answer = f"{between}<|channel|>final<|message|>{text}" if text else ""
        yield thought + answer

    def _messages(self, tokens: Sequence[int]) -> Iterator[_HarmonyMessage]:
        boundaries = {self.start, self.end, *self.stops}
        for at, token in enumerate(tokens):
            if token != self.channel or self.message not in tokens[at:]:
                continue
            begin = list(tokens).index(self.message, at) + 1
            end = begin
            while end < len(tokens) and tokens[end] not in boundaries:
                end += 1
            header = self.decode(tokens[at + 1 : begin - 1]).split()
            channel = header[0] if header else ""
            yield _HarmonyMessage(
                channel=channel, at=at, body=tokens[begin:end], begin=begin
            )


Channels = Plain | ThinkTags | Harmony
"""A convention for separating reasoning from answer.

`stops` are tokens that end a completion by it, besides those of the checkpoint.
"""


def channels_of(tokenizer: Any) -> Channels:
    """Return the convention of a tokenizer's model, recognised by its vocabulary."""
    vocabulary = tokenizer.get_vocab()

    def decode(ids: Sequence[int]) -> str:
        text = tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text)

    if {"<|channel|>", "<|message|>", "<|start|>", "<|end|>"} <= vocabulary.keys():
        return Harmony(
            decode=decode,
            start=vocabulary["<|start|>"],
            channel=vocabulary["<|channel|>"],
            message=vocabulary["<|message|>"],
            end=vocabulary["<|end|>"],
            stops=frozenset([vocabulary.get("<|return|>"), vocabulary.get("<|call|>")])
            - {None},
        )
    if {"<think>", "</think>"} <= vocabulary.keys():
        return ThinkTags(
            decode=decode, think=vocabulary["<think>"], unthink=vocabulary["</think>"]
        )
    return Plain(decode=decode)


def _positions(n_prompt: int, reasoning: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Return the positions up to the end of the reasoning, given its indices."""
    positions = {"pre": _last_three(n_prompt)}
    if reasoning:
        positions["reasoning"] = tuple(n_prompt + index for index in reasoning)
    return positions


def _last_three(end: int) -> tuple[int, ...]:
    return tuple(range(max(0, end - N_MARKED), end))
