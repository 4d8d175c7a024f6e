"""Enumeration of all answers of a model to a prompt, with their probabilities.

The answers form a tree of tokens. Sampling from a nucleus leaves few tokens at each
place, mostly one, so the tree has few branches where the model is certain. A branch is
cut off once its probability falls below a floor.

Sampling from a nucleus leaves few tokens at each place, mostly one, so the tree has few
branches where the model is certain. A branch is cut off once its probability falls
below a floor.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gde_plugins.language_models.generation import Decoder, Generated, Job
from gde_plugins.language_models.sampling import distribution


class Question(NamedTuple):
    """A prompt and the sampling of its answers."""

    job: Job
    least: float
    """The floor: the lowest probability of an enumerated answer."""


class Answer(NamedTuple):
    """One answer to a prompt."""

    generated: Generated
    probability: float


@dataclass(frozen=True, kw_only=True)
class _Branch:
    """The beginning of an answer."""

    question: int
    """Index of its question."""
    room: int
    """Maximum number of tokens of the answer."""
    tokens: tuple[int, ...]
    probability: float


@torch.inference_mode()
def enumerate_answers(
    model: Any,
    questions: Sequence[Question],
    *,
    stops: frozenset[int],
    context: int,
    halt: Event,
) -> list[list[Answer]]:
    """Enumerate all continuations of each prompt above its probability floor.

    There are at most 1 / floor of them.

    Args:
        model: a causal language model of transformers.
        questions: may differ in length and sampling.
        stops: token ids that end a continuation.
        context: the longest sequence that the model takes, prompt included.
        halt: once it is set, the answers found so far are returned.
    """
    answers: list[list[Answer]] = [[] for _ in questions]
    live: list[_Branch] = []
    for i, (job, _) in enumerate(questions):
        room = min(job.sampling.max_tokens, context - len(job.prompt))
        begun = job.prefill
        if room > len(begun):
            live.append(_Branch(question=i, room=room, tokens=begun, probability=1.0))
        else:
            answers[i].append(Answer(Generated(tokens=begun, finish="length"), 1.0))
    if not live:
        return answers

    readings = [questions[branch.question].job.reading for branch in live]
    decoder = Decoder.begin(model, readings, halt)
    while not halt.is_set():
        rows = []
        going = []
        for row, branch in _grow(decoder.logits, live, questions):
            stopped = branch.tokens[-1] in stops
            if stopped or len(branch.tokens) >= branch.room:
                generated = Generated(
                    tokens=branch.tokens, finish="stop" if stopped else "length"
                )
                answers[branch.question].append(Answer(generated, branch.probability))
            else:
                rows.append(row)
                going.append(branch)
        if not going:
            break
        live = going
        decoder.advance([branch.tokens[-1] for branch in live], rows)
    return answers


def _grow(
    logits: Tensor, live: Sequence[_Branch], questions: Sequence[Question]
) -> list[tuple[int, _Branch]]:
    """Return all branches that are one token longer and above the floor.

    Each comes with its row of `logits`.

    Args:
        logits: (B, V), of the next token of each live branch.
        live: B branches.
        questions: all of them.
    """
    settings = []
    for branch in live:
        job, least = questions[branch.question]
        sampling = job.sampling
        settings.append(
            (sampling.temperature, sampling.top_p, least, branch.probability)
        )
    columns = torch.tensor(settings, dtype=torch.float64, device=logits.device)
    temperature, top_p, least_each, so_far = columns.unbind(dim=-1)

    chances = distribution(logits, temperature=temperature, top_p=top_p)
    chances = chances * so_far[:, None]
    is_above = (chances >= least_each[:, None]) & (chances > 0)
    grown = []
    for row, token in is_above.nonzero().tolist():
        stem = live[row]
        branch = replace(
            stem,
            tokens=(*stem.tokens, token),
            probability=float(chances[row, token]),
        )
        grown.append((row, branch))
    return grown
