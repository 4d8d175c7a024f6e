"""Small models compute in one core, whoever starts them; nobody else is told to."""

from collections.abc import Iterator

import pytest
import torch

from gde_plugins.language_models import transformers_model
from gde_plugins.language_models.transformers_model import TransformersModel


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_small_model_computes_in_one_core_and_leaves_the_others(
    tiny: TransformersModel, two_threads: None
) -> None:
    with tiny._computing():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_a_large_model_computes_in_all(
    tiny: TransformersModel, two_threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers_model, "SMALL", 1)
    with tiny._computing():
        assert torch.get_num_threads() == 2
