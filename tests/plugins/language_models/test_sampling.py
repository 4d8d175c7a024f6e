"""The inverse of the cumulative distribution."""

import numpy as np
import pytest
import torch
from torch import Tensor

from gde_plugins.language_models.sampling import draw

P = [0.1, 0.5, 0.15, 0.25]


def draw_one(
    probabilities: list[float],
    uniform: float,
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
) -> int:
    logits = torch.tensor([probabilities], dtype=torch.float64).log()
    settings: dict[str, Tensor] = {
        "temperature": torch.tensor([temperature], dtype=torch.float64),
        "top_p": torch.tensor([top_p], dtype=torch.float64),
        "uniform": torch.tensor([uniform], dtype=torch.float64),
    }
    return int(draw(logits, **settings).item())


@pytest.mark.parametrize(
    ("uniform", "token"),
    [(0.0, 0), (0.0999, 0), (0.1001, 1), (0.61, 2), (0.76, 3), (0.9999, 3)],
)
def test_a_uniform_number_falls_into_its_tokens_interval(
    uniform: float, token: int
) -> None:
    assert draw_one(P, uniform) == token


def test_frequencies_follow_the_tempered_distribution() -> None:
    tempered = np.array(P) ** 2 / np.sum(np.array(P) ** 2)
    grid = (np.arange(2000) + 0.5) / 2000
    counts = np.bincount(
        [draw_one(P, float(u), temperature=0.5) for u in grid], minlength=4
    )
    assert counts / 2000 == pytest.approx(tempered, abs=1e-3)


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(1e-9, {1}), (0.5, {1}), (0.6, {1, 3}), (0.8, {1, 2, 3}), (1.0, {0, 1, 2, 3})],
)
def test_top_p_keeps_the_smallest_set_that_has_the_mass(
    top_p: float, kept: set[int]
) -> None:
    assert {
        draw_one(P, float(u), top_p=top_p)
        for u in np.linspace(0, 1, 500, endpoint=False)
    } == kept


def test_temperature_zero_takes_the_first_of_the_likeliest() -> None:
    assert {
        draw_one([0.2, 0.4, 0.4], u, temperature=0.0) for u in (0.0, 0.5, 0.999)
    } == {1}


def test_the_largest_number_below_one_draws_a_token_that_is_kept() -> None:
    below_one = float(np.nextafter(1.0, 0.0))
    assert draw_one([0.7, 0.2, 0.1, 1e-30], below_one, top_p=0.85) == 1


def test_rows_are_drawn_independently() -> None:
    logits = torch.tensor([P, P[::-1]], dtype=torch.float64).log()
    half = torch.tensor([0.0, 1.0], dtype=torch.float64)
    ones = torch.ones(2, dtype=torch.float64)
    tokens = draw(
        logits,
        temperature=half,
        top_p=ones,
        uniform=torch.tensor([0.9, 0.05], dtype=torch.float64),
    )
    assert tokens.tolist() == [1, 0]


def test_half_precision_logits_are_drawn_from_in_double() -> None:
    logits = torch.zeros(1, 3000, dtype=torch.bfloat16)
    one = torch.ones(1, dtype=torch.float64)
    assert (
        draw(logits, temperature=one, top_p=one, uniform=one * 0.50001).item() == 1500
    )
