"""A HookedTransformer answers, is read and is changed as the same weights in transformers.

The package is not installed: a stand-in has the methods and names of hooks that its
documentation gives, around a model of transformers.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from gde import Choice, GdeError, Plan, evaluate
from gde.data.activations import (
    EMBEDDING,
    KINDS,
    CaptureRequest,
    Intervention,
    TokenSequence,
)
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.testing import check_white_box
from gde_plugins.language_models import in_memory
from gde_plugins.language_models.nano import folder
from gde_plugins.language_models.transformers_model import TransformersModel


@dataclass
class Config:
    """The fields of HookedTransformerConfig that gde reads, and what the stand-in needs."""

    shape: Any
    n_layers: int
    d_model: int
    d_vocab: int
    n_ctx: int
    n_heads: int
    d_head: int
    init_weights: bool = False
    """Of loaded weights, nothing is drawn."""
    seed: int | None = None


class HookedTransformer(nn.Module):
    """Has hooks where TransformerLens has them, made of those of PyTorch."""

    def __init__(self, cfg: Config, tokenizer: Any) -> None:
        super().__init__()
        assert cfg.init_weights
        self.cfg, self.tokenizer = cfg, tokenizer
        self.inner: Any = AutoModelForCausalLM.from_config(
            cfg.shape, dtype=torch.float64
        )
        self.inner.set_experts_implementation("eager")

    @classmethod
    def from_pretrained(cls, place: Path) -> "HookedTransformer":
        model: Any = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float64)
        model.set_experts_implementation("eager")
        shape = model.config
        cfg = Config(
            shape=shape,
            n_layers=shape.num_hidden_layers,
            d_model=shape.hidden_size,
            d_vocab=shape.vocab_size,
            n_ctx=shape.max_position_embeddings,
            n_heads=shape.num_attention_heads,
            d_head=shape.head_dim,
            init_weights=True,
        )
        hooked = cls(cfg, AutoTokenizer.from_pretrained(place))
        hooked.inner, cfg.init_weights = model, False
        return hooked

    def run_with_hooks(
        self,
        tokens: Tensor,
        *,
        return_type: str,
        fwd_hooks: Sequence[tuple[str, Any]],
    ) -> Tensor:
        assert return_type == "logits"
        with ExitStack() as hooks:
            for name, function in fwd_hooks:
                hooks.callback(self._hook(name, function).remove)
            found: Tensor = self.inner(input_ids=tokens, use_cache=False).logits
        return found

    def _hook(self, name: str, function: Any) -> Any:
        blocks, layer, *rest = name.split(".")
        assert blocks == "blocks"
        block = self.inner.model.layers[int(layer)]
        cfg = self.cfg

        def seen(stream: Tensor) -> Tensor:
            changed = function(stream, hook=name)
            return stream if changed is None else changed

        def leaving(_: Any, __: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (seen(output[0]), *output[1:])
            return seen(output)

        def entering(_: Any, inputs: Any) -> Any:
            return (seen(inputs[0]), *inputs[1:])

        def joined(_: Any, inputs: Any) -> Any:
            z = inputs[0].unflatten(-1, (cfg.n_heads, cfg.d_head))
            return (seen(z).flatten(-2),)

        after = {
            "hook_resid_post": block,
            "hook_attn_out": block.self_attn,
            "hook_mlp_out": block.mlp,
        }
        if rest == ["hook_resid_pre"]:
            return block.register_forward_pre_hook(entering)
        if rest == ["attn", "hook_z"]:
            return block.self_attn.o_proj.register_forward_pre_hook(joined)
        return after[rest[0]].register_forward_hook(leaving)


def made(hooked: HookedTransformer) -> Any:
    make: Any = in_memory("hooked", hooked).make
    return make(None, None)


@pytest.fixture(scope="module")
def pair(tiny_folder: Path) -> Iterator[tuple[Any, TransformersModel]]:
    loaded = TransformersModel.load(tiny_folder, device="cpu", dtype="float64")
    hooked = made(HookedTransformer.from_pretrained(tiny_folder))
    yield hooked, loaded
    hooked.close()
    loaded.close()


def changes() -> list[Intervention]:
    rng = np.random.default_rng(1)
    found = []
    for place, width in (
        ("residual", 16),
        ("attention", 16),
        ("mlp", 16),
        ("head:1", 8),
    ):
        for kind in KINDS:
            vector = 30 * rng.normal(size=width)
            found.append(
                Intervention(
                    layer=1, position="pre", kind=kind, vector=vector, place=place
                )
            )
    rows = 30 * rng.normal(size=(3, 16))
    at = {"layer": EMBEDDING, "position": "pre", "kind": "add"}
    return [*found, Intervention(vector=rows, **at)]  # type: ignore[arg-type]


def request(n: int, *interventions: Intervention) -> ChatRequest:
    return ChatRequest(
        messages=(Message(role="user", content=f"w{n} w{n + 1} w3"),),
        seed=n,
        sampling=Sampling(temperature=1.0, max_tokens=10),
        interventions=interventions,
    )


def answers(model: Any, asked: Sequence[ChatRequest]) -> list[Completion]:
    async def together() -> list[Completion]:
        return await asyncio.gather(*map(model.complete, asked))

    return asyncio.run(together())


def test_it_answers_as_the_same_weights_do(
    pair: tuple[Any, TransformersModel],
) -> None:
    asked = [request(n) for n in range(6)]
    asked += [request(n, change) for n, change in enumerate(changes())]
    (first,) = answers(pair[1], asked[:1])
    asked.append(replace(asked[0], prefill=first.tokens[:2]))
    hooked, loaded = (answers(model, asked) for model in pair)
    assert hooked == loaded
    assert len({each.tokens for each in hooked}) > 10


@pytest.mark.parametrize("place", ["residual", "attention", "mlp", "head:0"])
def test_it_is_read_as_the_same_weights_are(
    pair: tuple[Any, TransformersModel], place: str
) -> None:
    (answer,) = answers(pair[1], [request(0)])
    tokens = answer.prompt_tokens + answer.tokens
    layers = (0, 3) if place != "residual" else (EMBEDDING, 0, 3)
    asked = CaptureRequest(layers=layers, positions=("pre",), place=place)
    for change in (None, *changes()):
        sequence = TokenSequence(
            tokens=tokens,
            positions=answer.positions,
            interventions=(change,) if change else (),
            scored=3,
        )
        (hooked,), (loaded,) = (model.capture([sequence], asked) for model in pair)
        assert hooked.values.keys() == loaded.values.keys()
        for at, values in loaded.values.items():
            scale = 1e-4 * max(1, np.abs(values).max())
            assert np.allclose(hooked.values[at], values, rtol=0, atol=scale)
        assert hooked.logprobs == pytest.approx(loaded.logprobs, abs=1e-3)
        assert hooked.deficits == pytest.approx(loaded.deficits, abs=1e-3)


@pytest.mark.extended
def test_the_contract_is_kept(tiny_folder: Path) -> None:
    hooked = HookedTransformer.from_pretrained(tiny_folder)
    check_white_box(lambda: made(hooked))


def test_what_it_cannot_do_is_told(
    pair: tuple[Any, TransformersModel], tiny_folder: Path
) -> None:
    with pytest.raises(GdeError, match="draws answers, and enumerates none"):
        asyncio.run(pair[0].completions(request(0), 0.5))
    hooked = HookedTransformer.from_pretrained(tiny_folder)
    hooked.tokenizer.chat_template = None
    with pytest.raises(GdeError, match="hooked: the tokenizer has no chat template"):
        made(hooked)


@pytest.mark.extended
def test_a_run_with_it_has_probes_and_controls(tmp_path: Path) -> None:
    """nano's weights, asked as nano is."""
    held = in_memory("mine", HookedTransformer.from_pretrained(folder()))
    agent = {"model": "mine", "style": "compact", "effort": "medium"}
    probed = {"layer": [3], "positions": ["pre"], "size": 5}
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config=agent),
        models=[held],
        probes=[Choice(name="cogmap", config=probed)],
        metrics=["success"],
        episodes=8,
        initialisations=1,
        learning=False,
    )
    result = evaluate(plan, tmp_path / "run")
    assert result.status == "ok", result.failures
    values = {
        (one.name, one.where.get("control", "none")): one.value
        for one in result.measurements
    }
    assert values["success", "none"] == 1
    assert ("cogmap.accuracy", "untrained") in values
