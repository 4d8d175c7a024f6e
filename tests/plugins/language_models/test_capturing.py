"""Replayed activations are the model's hidden states."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from held import held
from transformers import GptOssForCausalLM

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.errors import GdeError
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.transformers_model import TransformersModel

ALL = CaptureRequest(layers=(EMBEDDING, 0, 1, 2, 3))


def sequences(count: int) -> list[TokenSequence]:
    """Of 8 to 90 tokens; every third has no "post"."""
    rng = np.random.default_rng(3)
    made = []
    for number in range(count):
        tokens = tuple(
            int(token) for token in rng.integers(10, 50, size=rng.integers(8, 90))
        )
        positions = {"pre": (2, 3, 4)} | (
            {"post": (5, len(tokens) - 1)} if number % 3 else {}
        )
        made.append(TokenSequence(tokens=tokens, positions=positions))
    return made


def same(left: ActivationRecord, right: ActivationRecord, tolerance: float) -> bool:
    return left.values.keys() == right.values.keys() and all(
        np.allclose(left.values[key], right.values[key], rtol=0, atol=tolerance)
        for key in left.values
    )


def test_captured_activations_equal_the_hidden_states(
    tiny: TransformersModel, tiny_folder: Path
) -> None:
    reference = GptOssForCausalLM.from_pretrained(
        str(tiny_folder), dtype=torch.float64, experts_implementation="eager"
    )
    asked = sequences(7)
    for sequence, record in zip(asked, tiny.capture(asked, ALL), strict=True):
        with torch.no_grad():
            states = reference(
                input_ids=torch.tensor([sequence.tokens]), output_hidden_states=True
            ).hidden_states
        assert record.values.keys() == {
            (layer, position) for layer in ALL.layers for position in sequence.positions
        }
        # What transformers calls the last hidden state has been normalised; the
        # residual stream has not.
        for layer in (EMBEDDING, 0, 1, 2):
            for position, indices in sequence.positions.items():
                truth = states[layer + 1][0, list(indices)].numpy()
                assert record.values[layer, position] == pytest.approx(
                    truth, rel=1e-4, abs=1e-4
                )
        last = torch.tensor(record.values[3, "pre"], dtype=torch.float64)
        assert reference.model.norm(last).detach().numpy() == pytest.approx(
            states[4][0, 2:5].numpy(), rel=1e-4, abs=1e-4
        )


def test_scores_are_those_of_the_logits(tiny: TransformersModel) -> None:
    (sequence,) = sequences(1)
    (record,) = tiny.capture([replace(sequence, scored=3)], ALL)
    model, ids = held(tiny).original, torch.tensor([sequence.tokens])
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, -4:-1].log_softmax(dim=-1)
    of_tokens = logits[torch.arange(3), ids[0, -3:]]
    assert record.logprobs == pytest.approx(of_tokens.tolist(), abs=1e-5)
    below = logits.amax(dim=-1) - of_tokens
    assert record.deficits == pytest.approx(below.tolist(), abs=1e-5)
    assert min(record.deficits) > 0


def test_a_checkpoint_with_a_penalty_does_not_say_what_is_likeliest(
    tiny: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = held(tiny).original
    monkeypatch.setattr(model.generation_config, "repetition_penalty", 1.05)
    (sequence,) = sequences(1)
    (record,) = Reader(model, 1).capture([replace(sequence, scored=3)], ALL)
    assert (len(record.logprobs), record.deficits) == (3, ())


def test_on_a_cpu_company_changes_no_bit(tiny: TransformersModel) -> None:
    asked = sequences(20)
    together = tiny.capture(asked, ALL)
    alone = [tiny.capture([sequence], ALL)[0] for sequence in asked]
    assert all(
        same(left, right, 0.0) for left, right in zip(together, alone, strict=True)
    )
    assert all(
        same(left, right, 0.0)
        for left, right in zip(tiny.capture(asked[::-1], ALL)[::-1], alone, strict=True)
    )


def test_batches_of_unequal_lengths_are_read_at_the_right_places(
    tiny: TransformersModel,
) -> None:
    asked = sequences(40)
    reader = Reader(held(tiny).original, 16)
    alone = reader.capture(asked, ALL)
    reader._batch_size = 16  # as on an accelerator
    batched = reader.capture([*asked, *asked], ALL)
    assert all(
        same(left, right, 1e-4)
        for left, right in zip(batched, alone + alone, strict=True)
    )


def test_arrays_are_read_only_c_ordered_float32(tiny: TransformersModel) -> None:
    for record in tiny.capture(sequences(3), ALL):
        for (_, position), values in record.values.items():
            assert values.shape == (3 if position == "pre" else 2, tiny.info.width)
            assert values.dtype == np.float32
            assert values.flags.c_contiguous
            assert not values.flags.writeable


def test_only_what_is_asked_for_is_kept(tiny: TransformersModel) -> None:
    asked = sequences(4)
    records = tiny.capture(asked, CaptureRequest(layers=(2,), positions=("post",)))
    assert [set(record.values) for record in records] == [
        set(),
        {(2, "post")},
        {(2, "post")},
        set(),
    ]
    assert same(
        records[1],
        ActivationRecord(
            values={(2, "post"): tiny.capture(asked, ALL)[1].values[2, "post"]}
        ),
        1e-6,
    )
    assert tiny.capture([], ALL) == []
    assert [
        record.values for record in tiny.capture(asked, CaptureRequest(layers=()))
    ] == [{}] * 4


def test_the_pass_ends_at_the_deepest_layer_and_leaves_no_hook(
    tiny: TransformersModel,
) -> None:
    tiny.capture(sequences(1), ALL)
    layers = held(tiny)._model.model.layers
    entered: list[int] = []
    spies = [
        layer.register_forward_pre_hook(lambda *_, n=n: entered.append(n))
        for n, layer in enumerate(layers)
    ]
    tiny.capture(sequences(1), CaptureRequest(layers=(EMBEDDING, 1)))
    assert entered == [0, 1]
    for spy in spies:
        spy.remove()
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in layers)


@pytest.mark.parametrize("layer", [4, -2])
def test_a_layer_that_is_not_there_is_named(
    tiny: TransformersModel, layer: int
) -> None:
    with pytest.raises(
        GdeError, match=rf"wanted layers from -1 \(embeddings\) to 3, got {layer}"
    ):
        tiny.capture(sequences(1), CaptureRequest(layers=(1, layer)))


def test_a_position_beyond_the_tokens_is_refused(tiny: TransformersModel) -> None:
    with pytest.raises(ValueError, match="token 9 of a sequence of 3"):
        tiny.capture([TokenSequence(tokens=(9, 9, 9), positions={"pre": (9,)})], ALL)
