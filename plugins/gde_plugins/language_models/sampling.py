"""Sampling of tokens with noise that depends on the request, not on the batch."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot


def draw(
    logits: Tensor, *, temperature: Tensor, top_p: Tensor, uniform: Tensor
) -> Tensor:
    """Draw one token per row by the inverse of its cumulative distribution.

    The cumulative sum runs in the order of the vocabulary, not of the probabilities:
    were two tokens of nearly equal probability to change places from the last bit of a
    logit, a draw would jump from one to the other.

    Args:
        logits: (B, V).
        temperature: (B,) float64; 0 takes the likeliest token, the first of equals.
        top_p: (B,) float64; mass of the smallest set of likeliest tokens to draw from.
        uniform: (B,) float64 in [0, 1).

    Returns:
        (B,) token ids.
    """
    cumulative = _kept(logits, temperature, top_p).cumsum(dim=-1)
    total = cumulative[:, -1:]
    # Rounding may lift u * total to the total itself, beyond the last token.
    below = torch.nextafter(total, torch.zeros_like(total))
    target = torch.minimum(uniform[:, None] * total, below)
    drawn = torch.searchsorted(cumulative, target, right=True)[:, 0]
    return torch.where(temperature == 0, logits.double().argmax(dim=-1), drawn)


def distribution(logits: Tensor, *, temperature: Tensor, top_p: Tensor) -> Tensor:
    """(B, V) float64 probabilities of the tokens that `draw` draws."""
    kept = _kept(logits, temperature, top_p)
    likeliest = logits.double().argmax(dim=-1)
    certain = one_hot(likeliest, logits.shape[-1]).double()
    is_certain = (temperature == 0)[:, None]
    return torch.where(is_certain, certain, kept / kept.sum(dim=-1, keepdim=True))


def _kept(logits: Tensor, temperature: Tensor, top_p: Tensor) -> Tensor:
    """Return tempered probabilities (B, V), with zeros outside the nucleus.

    It is the smallest set of likeliest tokens whose mass reaches `top_p`.
    """
    divisor = torch.where(temperature == 0, 1.0, temperature)
    probabilities = torch.softmax(logits.double() / divisor[:, None], dim=-1)

    ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
    before = ordered.cumsum(dim=-1) - ordered
    inside = before < top_p[:, None]
    inside[:, 0] = True
    return probabilities * torch.zeros_like(inside).scatter(-1, order, inside)
