"""All that a model can answer to a prompt, and how probable each answer is: the tree of its tokens.

Sampling from a nucleus leaves few tokens at each place, mostly one, so the tree has few branches where a model is sure
of how it writes. A branch that has become less probable than a floor is cut off.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, NamedTuple

import torch

from gde_plugins.language_models.generation import Decoder, Generated, Job
from gde_plugins.language_models.sampling import distribution


class Question(NamedTuple):
    """A prompt, and the floor."""

    job: Job
    least: float


class Told(NamedTuple):
    """One answer."""

    generated: Generated
    probability: float


@dataclass(frozen=True, kw_only=True)
class _Branch:
    question: int
    room: int
    tokens: tuple[int, ...]
    probability: float


@torch.inference_mode()
def tell(
    model: Any, questions: Sequence[Question], *, stops: frozenset[int], context: int, halt: Event
) -> list[list[Told]]:
    """Every continuation of each prompt that is at least as probable as its floor: 1 / floor at most.

    Args:
        model: a causal language model of transformers.
        questions: may differ in length and sampling.
        stops: token ids that end a continuation.
        context: longest sequence that the model takes, prompt included.
        halt: when set, what there is by then is returned.
    """
    found: list[list[Told]] = [[] for _ in questions]
    live: list[_Branch] = []
    for i, (job, _) in enumerate(questions):
        room = min(job.sampling.max_tokens, context - len(job.prompt))
        if room > 0:
            live.append(_Branch(question=i, room=room, tokens=(), probability=1.0))
        else:
            found[i].append(Told(Generated(tokens=(), finish="length"), 1.0))
    readings = [questions[branch.question].job.reading for branch in live]
    decoder = Decoder.begin(model, readings, halt) if live else None
    while decoder and not halt.is_set():
        rows, grown = _grown(decoder, live, questions)
        kept = []
        for row, branch in zip(rows, grown, strict=True):
            stopped = branch.tokens[-1] in stops
            if stopped or len(branch.tokens) >= branch.room:
                generated = Generated(tokens=branch.tokens, finish="stop" if stopped else "length")
                found[branch.question].append(Told(generated, branch.probability))
            else:
                kept.append((row, branch))
        if not kept:
            break
        live = [branch for _, branch in kept]
        decoder.advance([branch.tokens[-1] for branch in live], [row for row, _ in kept])
    return found


def _grown(decoder: Decoder, live: Sequence[_Branch], questions: Sequence[Question]) -> tuple[list[int], list[_Branch]]:
    """The branches that are one token longer, and which row of the decoder each comes from."""
    asked = [questions[branch.question] for branch in live]
    device = decoder.logits.device
    numbers = [(job.sampling.temperature, job.sampling.top_p, least) for job, least in asked]
    temperature, top_p, least = torch.tensor(numbers, dtype=torch.float64, device=device).unbind(dim=-1)
    so_far = torch.tensor([branch.probability for branch in live], dtype=torch.float64, device=device)
    chances = distribution(decoder.logits, temperature=temperature, top_p=top_p) * so_far.unsqueeze(-1)
    rows, tokens = torch.where((chances >= least.unsqueeze(-1)) & (chances > 0))
    probabilities = chances[rows, tokens].tolist()
    grown = [
        replace(live[row], tokens=(*live[row].tokens, token), probability=probability)
        for row, token, probability in zip(rows.tolist(), tokens.tolist(), probabilities, strict=True)
    ]
    return rows.tolist(), grown
