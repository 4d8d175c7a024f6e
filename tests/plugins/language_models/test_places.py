"""Attention, MLP and heads: read and changed as transformers' own hooks would.

The hooks of this module name the modules of each architecture; gde finds them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

from gde.data.activations import (
    EMBEDDING,
    CaptureRequest,
    Intervention,
    InterventionKind,
    TokenSequence,
)
from gde.errors import GdeError
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.generation import Decoder
from gde_plugins.language_models.nano import folder
from gde_plugins.language_models.places import sites_of
from gde_plugins.language_models.residual_stream import Change
from gde_plugins.language_models.support import readable_heads, readable_layers
from gde_plugins.language_models.transformers_model import TransformersModel

VOCABULARY, WIDTH, DEPTH, HEADS, OF_HEAD = 40, 32, 3, 4, 12
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": 2,
    "head_dim": OF_HEAD,  # not the width shared out among the heads
    "intermediate_size": 48,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
}
MIXTURE = {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}
PLAIN = {
    key: SHAPE[key] for key in SHAPE if key not in {"head_dim", "num_key_value_heads"}
}
OF_GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": WIDTH,
    "n_layer": DEPTH,
    "n_head": HEADS,
    "initializer_range": 0.3,
}
OF_MPT = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "n_layers": DEPTH,
    "n_heads": HEADS,
}
LLAMA = ("model.layers", "self_attn", "mlp", "self_attn.o_proj")
NAMES: dict[str, tuple[str, dict[str, Any], tuple[str, str, str, str]]] = {
    "llama": ("Llama", SHAPE, LLAMA),
    "qwen3": ("Qwen3", SHAPE, LLAMA),
    "gpt-oss": ("GptOss", {**SHAPE, **MIXTURE}, LLAMA),
    "gemma": ("Gemma2", {**SHAPE, "sliding_window": 8}, LLAMA),
    "mixtral": ("Mixtral", {**SHAPE, **MIXTURE}, LLAMA),
    "gpt2": ("GPT2", OF_GPT2, ("transformer.h", "attn", "mlp", "attn.c_proj")),
    "gpt-neox": ("GPTNeoX", PLAIN, ("gpt_neox.layers", "attention", "mlp", "attention.dense")),
    "mpt": ("Mpt", OF_MPT, ("transformer.blocks", "attn", "ffn", "attn.out_proj")),
}  # fmt: skip
TOKENS = tuple(
    int(token) for token in np.random.default_rng(0).integers(3, VOCABULARY, size=20)
)
POSITIONS = {"pre": (9, 10, 11), "last": (18, 19)}
PLACES = ("attention", "mlp", "head:0", f"head:{HEADS - 1}")
Modules = Callable[[int, str], Any]


@pytest.fixture(scope="module", params=[*NAMES, "nano"])
def built(request: pytest.FixtureRequest) -> tuple[Any, Modules]:
    """A model in float32, and its modules by the names that its authors gave them."""
    if request.param == "nano":
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder(), dtype=torch.float32
        ).eval()
        names = LLAMA
    else:
        architecture, shape, names = NAMES[request.param]
        config = getattr(transformers, f"{architecture}Config")(**shape)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = transformers.AutoModelForCausalLM.from_config(
                config, dtype=torch.float32
            ).eval()
    layers, attention, mlp, projection = names

    def module(layer: int, place: str) -> Any:
        part = {"attention": attention, "mlp": mlp}.get(place, projection)
        return model.get_submodule(f"{layers}.{layer}.{part}")

    return model, module


def span(model: Any, place: str) -> slice:
    if not place.startswith("head:"):
        return slice(None)
    width = readable_heads(model)[1]
    first = int(place.removeprefix("head:")) * width
    return slice(first, first + width)


@contextmanager
def hooked(
    module: nn.Module, place: str, use: Callable[[Tensor], Tensor]
) -> Iterator[None]:
    """The hooks of a user of transformers, at the input for a head."""

    def before(_: Any, inputs: Any) -> Any:
        return (use(inputs[0].clone()), *inputs[1:])

    def after(_: Any, __: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return (use(output[0].clone()), *output[1:])
        return use(output.clone())

    is_head = place.startswith("head:")
    hook = (
        module.register_forward_pre_hook(before)
        if is_head
        else module.register_forward_hook(after)
    )
    try:
        yield
    finally:
        hook.remove()


def last_logits(model: Any) -> Tensor:
    with torch.inference_mode():
        output = model(input_ids=torch.tensor([TOKENS]), use_cache=False)
    found: Tensor = output.logits[0, -1]
    return found


def answered(model: Any, *changes: Intervention) -> Tensor:
    """(V,) logits after the sequence, as an answer of gde begins."""
    reading = (TOKENS, Change.of(changes, POSITIONS))
    with torch.inference_mode():
        (found,) = Decoder.begin(model, [reading], Event()).logits
    return found


def read(model: Any, place: str, *changes: Intervention) -> dict[Any, Any]:
    sequence = TokenSequence(tokens=TOKENS, positions=POSITIONS, interventions=changes)
    layers = tuple(range(DEPTH))
    request = CaptureRequest(layers=layers, positions=tuple(POSITIONS), place=place)
    (record,) = Reader(model, 4).capture([sequence], request)
    return dict(record.values)


def close(first: Any, second: Any) -> bool:
    first, second = np.asarray(first), np.asarray(second)
    return bool(np.abs(first - second).max() <= 1e-5 * max(1, np.abs(second).max()))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_read_is_what_a_hook_sees(
    built: tuple[Any, Modules], place: str
) -> None:
    model, module = built
    found = read(model, place)
    assert len(found) == DEPTH * len(POSITIONS)
    for layer in range(DEPTH):
        seen: list[Tensor] = []

        def keep(stream: Tensor, seen: list[Tensor] = seen) -> Tensor:
            seen.append(stream)
            return stream

        with hooked(module(layer, place), place, keep):
            last_logits(model)
        (stream,) = seen
        for position, tokens in POSITIONS.items():
            expected = stream[0, list(tokens), span(model, place)]
            assert close(found[layer, position], expected), (layer, position)


@pytest.mark.parametrize("kind", ["add", "replace", "project_out"])
@pytest.mark.parametrize("place", PLACES)
def test_a_change_gives_the_logits_that_a_hook_gives(
    built: tuple[Any, Modules], place: str, kind: InterventionKind
) -> None:
    model, module = built
    plain = last_logits(model)
    rows = list(POSITIONS["last"])
    for layer in range(DEPTH):
        of_place = span(model, place)
        width = read(model, place)[0, "last"].shape[-1]
        drawn = np.random.default_rng(layer).normal(size=width).astype(np.float32)
        vector = torch.tensor(drawn)

        def use(
            stream: Tensor, of_place: slice = of_place, vector: Tensor = vector
        ) -> Tensor:
            here = stream[0, rows, of_place]
            if kind == "add":
                here = here + vector
            elif kind == "replace":
                here = vector.expand_as(here)
            else:
                unit = vector / vector.norm()
                here = here - (here @ unit)[:, None] * unit
            stream[0, rows, of_place] = here
            return stream

        with hooked(module(layer, place), place, use):
            expected = last_logits(model)
        change = Intervention(
            layer=layer, position="last", kind=kind, vector=drawn, place=place
        )
        assert close(answered(model, change), expected), layer
        assert not close(expected, plain), layer


def test_what_is_read_at_a_place_is_read_after_its_change(
    built: tuple[Any, Modules],
) -> None:
    """And a change of a later place of the deepest layer is none of its business."""
    model, _ = built
    for place in PLACES:
        width = read(model, place)[0, "last"].shape[-1]
        vector = np.ones(width, dtype=np.float32)
        at = {"layer": DEPTH - 1, "position": "last", "vector": vector}
        change = Intervention(kind="add", place=place, **at)
        expected = read(model, place)[DEPTH - 1, "last"] + vector
        assert close(read(model, place, change)[DEPTH - 1, "last"], expected)
    later = Intervention(
        layer=DEPTH - 1, position="last", kind="replace", vector=np.zeros(WIDTH)
    )
    if model.config.hidden_size == WIDTH:
        assert close(
            read(model, "head:0", later)[DEPTH - 1, "last"],
            read(model, "head:0")[DEPTH - 1, "last"],
        )


def test_heads_are_counted_and_measured(built: tuple[Any, Modules]) -> None:
    model, module = built
    n_heads, width = readable_heads(model)
    assert n_heads == model.config.num_attention_heads
    weight = module(0, "head:0").weight
    assert n_heads * width in weight.shape


def test_a_layer_that_holds_the_wrapped_one_beside_its_blocks() -> None:
    """As a layer of a TransformerBridge does (`test_wrappers.py` has the bridge)."""
    config = transformers.LlamaConfig(**SHAPE)
    model: Any = transformers.AutoModelForCausalLM.from_config(config).eval()
    layer = model.model.layers[1]
    wrapping: Any = nn.Module()
    wrapping.original = layer
    wrapping.attn, wrapping.mlp = layer.self_attn, layer.mlp
    model.model.layers[1] = wrapping
    found = sites_of(model, [(1, "mlp"), (1, "attention"), (1, "head:0")])
    assert found[1, "mlp"].module is layer.mlp
    assert found[1, "attention"].module is layer.self_attn
    assert found[1, "head:0"].module is layer.self_attn.o_proj


def test_a_model_that_has_not_these_blocks_gives_its_stream_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = transformers.LlamaConfig(**SHAPE)
    model: Any = transformers.AutoModelForCausalLM.from_config(config).eval()
    model.model.layers[1].second_attention = nn.Linear(2, 2)
    with pytest.raises(
        GdeError, match="one attention block and one MLP, found 2 and 1"
    ):
        sites_of(model, [(1, "mlp")])
    assert readable_heads(model) == (0, 0)
    assert readable_layers(model) == DEPTH


@pytest.fixture(scope="module")
def llama(llama_folder: Any) -> Iterator[TransformersModel]:
    model = TransformersModel.load(llama_folder, device="cpu", name="llama")
    yield model
    model.close()


@pytest.mark.parametrize(
    ("place", "width", "wanted"),
    [
        ("head:3", 8, "place: llama has head:0 to head:2, got 'head:3'"),
        ("head:2", 24, "wanted a vector of width 8, got 24"),
        ("mlp", 8, "wanted a vector of width 24, got 8"),
    ],
)
def test_a_place_that_is_not_there_is_told(
    llama: TransformersModel, place: str, width: int, wanted: str
) -> None:
    change = Intervention(
        layer=0, position="pre", kind="add", vector=np.ones(width), place=place
    )
    sequence = TokenSequence(
        tokens=(1, 2, 3), positions={"pre": (2,)}, interventions=(change,)
    )
    with pytest.raises(GdeError, match=wanted):
        llama.capture([sequence], CaptureRequest(layers=(0,)))


def test_embeddings_are_no_blocks(llama: TransformersModel) -> None:
    change = Intervention(
        layer=EMBEDDING, position="pre", kind="add", vector=np.ones(24), place="mlp"
    )
    sequence = TokenSequence(
        tokens=(1, 2, 3), positions={"pre": (2,)}, interventions=(change,)
    )
    with pytest.raises(GdeError, match="wanted the place residual of the embeddings"):
        llama.capture([sequence], CaptureRequest(layers=(0,)))
    asked = CaptureRequest(layers=(EMBEDDING,), positions=("pre",), place="mlp")
    with pytest.raises(GdeError, match="wanted the place residual of the embeddings"):
        llama.capture([TokenSequence(tokens=(1, 2), positions={"pre": (1,)})], asked)
    asked = CaptureRequest(layers=(0,), positions=("pre",), place="head:3")
    with pytest.raises(GdeError, match="wanted a head below 3, got 'head:3'"):
        llama.capture([TokenSequence(tokens=(1, 2), positions={"pre": (1,)})], asked)
