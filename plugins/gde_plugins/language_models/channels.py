"""Splitting a completion into reasoning and answer, at the level of token ids, and marking where activations are read.

The marks are those of Arghal et al. (2026), section 5.1: the last three tokens of the prompt ("pre"), and the three
tokens that stand in the same place once the model has reasoned ("post"); and all tokens of the reasoning between them
("reasoning"), another number in every turn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

N_MARKED = 3
Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a completion says."""

    text: str
    """The answer; empty where the model never came to it."""
    reasoning: str | None
    marks: Mapping[str, tuple[int, ...]]
    """Indices into prompt + completion."""


class Channels(Protocol):
    """One way in which models tell reasoning from answer."""

    @property
    def stops(self) -> frozenset[int]:
        """Tokens that end a completion in this way, whatever the checkpoint's own settings say."""

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        """Split the completion `tokens` that followed `prompt`."""


@dataclass(frozen=True, kw_only=True)
class Plain:
    """Models that do not reason aloud."""

    decode: Decode
    stops: frozenset[int] = frozenset()

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        return Reading(text=self.decode(tokens), reasoning=None, marks=_before_reasoning(prompt))


@dataclass(frozen=True, kw_only=True)
class ThinkTags:
    """Models that reason between <think> and </think>; their template may have opened the tag already."""

    decode: Decode
    think: int
    unthink: int
    stops: frozenset[int] = frozenset()

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        begin = self._begin(prompt, tokens)
        if begin is None:
            return Plain(decode=self.decode).read(prompt, tokens)
        marks = _before_reasoning(prompt)
        if self.unthink not in tokens[begin:]:
            marks = {**marks, **_reasoned(range(len(prompt) + begin, len(prompt) + len(tokens)))}
            return Reading(text="", reasoning=self.decode(tokens[begin:]).strip(), marks=marks)
        close = list(tokens).index(self.unthink, begin)
        marks = {**marks, **_reasoned(range(len(prompt) + begin, len(prompt) + close))}
        return Reading(
            text=self.decode(tokens[close + 1 :]).strip(),
            reasoning=self.decode(tokens[begin:close]).strip(),
            marks={**marks, "post": _last_three(len(prompt) + close + 1)},
        )

    def _begin(self, prompt: Sequence[int], tokens: Sequence[int]) -> int | None:
        """Where in `tokens` the reasoning begins, None where there is none."""
        tags = [token for token in prompt if token in (self.think, self.unthink)]
        if tags and tags[-1] == self.think:
            return 0
        return list(tokens).index(self.think) + 1 if self.think in tokens else None


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
    """GPT-OSS: <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...<|return|>."""

    decode: Decode
    start: int
    channel: int
    message: int
    end: int
    stops: frozenset[int]
    """<|return|> and <|call|>: the model is done."""

    def read(self, prompt: Sequence[int], tokens: Sequence[int]) -> Reading:
        messages = tuple(self._messages(tokens))
        analysis = [self.decode(message.body) for message in messages if message.channel == "analysis"]
        final = next((message for message in messages if message.channel == "final"), None)
        thoughts = [
            len(prompt) + index
            for message in messages
            if message.channel == "analysis"
            for index in range(message.begin, message.begin + len(message.body))
        ]
        marks = {**_before_reasoning(prompt), **_reasoned(thoughts)}
        if final and tuple(tokens[: final.at][-N_MARKED:][:2]) == (self.end, self.start):
            marks = {**marks, "post": _last_three(len(prompt) + final.at)}
        return Reading(
            text=self.decode(final.body) if final else "",
            reasoning="\n".join(analysis) if analysis else None,
            marks=marks,
        )

    def _messages(self, tokens: Sequence[int]) -> Iterator[_HarmonyMessage]:
        boundaries = {self.start, self.end, *self.stops}
        for at, token in enumerate(tokens):
            if token != self.channel or self.message not in tokens[at:]:
                continue
            begin = list(tokens).index(self.message, at) + 1
            after = (index for index in range(begin, len(tokens)) if tokens[index] in boundaries)
            header = self.decode(tokens[at + 1 : begin - 1]).split()
            body = tokens[begin : next(after, None)]
            yield _HarmonyMessage(channel=header[0] if header else "", at=at, body=body, begin=begin)


def channels_of(tokenizer: Any) -> Channels:
    """The way of the model that this tokenizer belongs to, told by its vocabulary."""
    vocabulary = tokenizer.get_vocab()

    def decode(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    if {"<|channel|>", "<|message|>", "<|start|>", "<|end|>"} <= vocabulary.keys():
        return Harmony(
            decode=decode,
            start=vocabulary["<|start|>"],
            channel=vocabulary["<|channel|>"],
            message=vocabulary["<|message|>"],
            end=vocabulary["<|end|>"],
            stops=frozenset(vocabulary[name] for name in ("<|return|>", "<|call|>") if name in vocabulary),
        )
    if {"<think>", "</think>"} <= vocabulary.keys():
        return ThinkTags(decode=decode, think=vocabulary["<think>"], unthink=vocabulary["</think>"])
    return Plain(decode=decode)


def _before_reasoning(prompt: Sequence[int]) -> Mapping[str, tuple[int, ...]]:
    return {"pre": _last_three(len(prompt))}


def _reasoned(places: Sequence[int]) -> Mapping[str, tuple[int, ...]]:
    """A mark is left out where it has no tokens."""
    return {"reasoning": tuple(places)} if places else {}


def _last_three(end: int) -> tuple[int, ...]:
    return tuple(range(max(0, end - N_MARKED), end))
