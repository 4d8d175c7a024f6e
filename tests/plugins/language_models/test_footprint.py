"""What a checkpoint takes is told by its headers, and a card that is too small is
refused before any weight is read.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from held import held

from gde import Choice, Plan
from gde.before.preparing import dry
from gde.data.estimate import together
from gde.data.footprint import Footprint
from gde.errors import GdeError
from gde_plugins.language_models import footprint as footprints
from gde_plugins.language_models.config import HfConfig
from gde_plugins.language_models.footprint import footprint
from gde_plugins.language_models.transformers_model import TransformersModel

LAYERS, WIDTH, EXPERTS, WORDS = 24, 2880, 32, 201_088
Shapes = dict[str, tuple[str, list[int]]]
DEQUANTISED, PACKED = (
    "dequantised to bfloat16",
    "in MXFP4, with the package kernels on CUDA",
)


def gpt_oss_20b() -> Shapes:
    """The tensors of GPT-OSS-20B, as it is published."""
    shapes: Shapes = {
        "model.embed_tokens.weight": ("BF16", [WORDS, WIDTH]),
        "lm_head.weight": ("BF16", [WORDS, WIDTH]),
        "model.norm.weight": ("BF16", [WIDTH]),
    }
    for layer in range(LAYERS):
        of_layer: Shapes = {
            "input_layernorm.weight": ("BF16", [WIDTH]),
            "post_attention_layernorm.weight": ("BF16", [WIDTH]),
            "self_attn.q_proj.weight": ("BF16", [4096, WIDTH]),
            "self_attn.k_proj.weight": ("BF16", [512, WIDTH]),
            "self_attn.v_proj.weight": ("BF16", [512, WIDTH]),
            "self_attn.o_proj.weight": ("BF16", [WIDTH, 4096]),
            "self_attn.sinks": ("BF16", [64]),
            "mlp.router.weight": ("BF16", [EXPERTS, WIDTH]),
            "mlp.experts.gate_up_proj_blocks": ("U8", [EXPERTS, 2 * WIDTH, 90, 16]),
            "mlp.experts.gate_up_proj_scales": ("U8", [EXPERTS, 2 * WIDTH, 90]),
            "mlp.experts.gate_up_proj_bias": ("BF16", [EXPERTS, 2 * WIDTH]),
            "mlp.experts.down_proj_blocks": ("U8", [EXPERTS, WIDTH, 90, 16]),
            "mlp.experts.down_proj_scales": ("U8", [EXPERTS, WIDTH, 90]),
            "mlp.experts.down_proj_bias": ("BF16", [EXPERTS, WIDTH]),
        }
        shapes |= {f"model.layers.{layer}.{name}": of_layer[name] for name in of_layer}
    return shapes


def write_headers(folder: Path, shapes: Shapes, **config: Any) -> None:
    """A checkpoint of holes: its files have headers and sizes."""
    end = 0
    headers: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for name, (dtype, shape) in shapes.items():
        begin = end
        n = 1
        for each in shape:
            n *= each
        end = begin + n * (1 if dtype == "U8" else 2)
        headers[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(headers).encode()
    file = folder / "model.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(file, 8 + len(text) + end)
    of_model = {"num_hidden_layers": LAYERS, "hidden_size": WIDTH, **config}
    (folder / "config.json").write_text(json.dumps(of_model))


def test_gpt_oss_20b_takes_42_gb_dequantised_and_14_packed(tmp_path: Path) -> None:
    write_headers(tmp_path, gpt_oss_20b())
    found = footprint(HfConfig(source=tmp_path, device="cpu"))
    assert found is not None
    assert (found.n_layers, found.width, found.activation) == (LAYERS, WIDTH, 2)
    assert found.trained == found.untrained == pytest.approx(41.8e9, rel=2e-3)
    assert dict(found.otherwise) == {PACKED: pytest.approx(13.8e9, rel=5e-3)}

    precise = footprint(HfConfig(source=tmp_path, device="cpu", dtype="float32"))
    assert precise is not None
    assert (precise.trained, precise.activation) == (2 * found.trained, 4)


def test_with_kernels_and_a_card_the_weights_stay_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_headers(tmp_path, gpt_oss_20b())
    monkeypatch.setattr(footprints, "_free", lambda _: 80 * 10**9)
    monkeypatch.setattr(footprints, "find_spec", lambda _: None)
    without = footprint(HfConfig(source=tmp_path))
    monkeypatch.setattr(footprints, "find_spec", lambda _: object())
    packed = footprint(HfConfig(source=tmp_path))
    assert without is not None and packed is not None
    assert packed.trained < without.trained / 3
    assert [*packed.otherwise] == [DEQUANTISED]
    assert packed.untrained == without.untrained


def test_the_size_is_that_of_the_loaded_model(
    tiny_folder: Path, llama_folder: Path
) -> None:
    for folder in (tiny_folder, llama_folder):
        found = footprint(HfConfig(source=folder, device="cpu"))
        model = TransformersModel.load(folder, device="cpu")
        assert found is not None
        parameters = {id(each): each for each in held(model).original.parameters()}
        assert found.trained == sum(each.nbytes for each in parameters.values())
        assert (found.n_layers, found.width) == (model.info.n_layers, model.info.width)
        model.close()


def test_what_is_not_here_has_no_known_size(tmp_path: Path) -> None:
    assert footprint(HfConfig(source=tmp_path)) is None
    assert footprint(HfConfig(source="nobody/nothing")) is None


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("content", ["{", "{}", "[]", "rubbish"])
def test_what_is_damaged_has_no_known_size(
    tmp_path: Path, file: str, content: str
) -> None:
    write_headers(tmp_path, gpt_oss_20b())
    (tmp_path / file).write_text(content)
    assert footprint(HfConfig(source=tmp_path)) is None


def test_a_card_that_is_too_small_is_refused_before_anything_is_read(
    tmp_path: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in tiny_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    write_headers(tmp_path, gpt_oss_20b())
    monkeypatch.setattr(footprints, "_free", lambda _: 40 * 10**9)
    refused = (
        r"take 41\.8 GB, and 40 are free on meta: stop what else uses it, such as the model's server, "
        r"or set model\.device=balanced or cpu; in MXFP4, with the package kernels on CUDA they take 13\.8$"
    )
    with pytest.raises(GdeError, match=refused):
        TransformersModel.load(tmp_path, device="meta")


def test_a_dry_run_tells_time_disk_and_memory_of_replay(tmp_path: Path) -> None:
    write_headers(tmp_path, gpt_oss_20b())
    reading = {"layer": "all", "weights": f"hf:{tmp_path}", "turns": "all"}
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": "openai:m@http://localhost/v1"}),
        probes=(Choice(name="cogmap", config=reading),),
        metrics=("success",),
        episodes=4,
        initialisations=2,
    )
    agent, probe = dry(plan).estimates
    assert agent.calls and probe.calls == 0
    turns = 3 * agent.calls
    gb = turns * 3 * WIDTH * 2 * LAYERS * 2 / 1e9
    assert probe.note.startswith(
        f"replay of {turns} turns, 2 random initialisations included: at most "
    )
    assert f" 10,000 tokens/s, about {gb:.3g} GB on disk; 41.8 GB of m" in probe.note
    assert f"(13.8 {PACKED}), then 41.8 GB for random ones" in probe.note
    # What replay takes asks nothing of the server.
    assert together((agent, probe)).calls == agent.calls


def test_a_footprint_is_told_in_words() -> None:
    size = Footprint(
        n_layers=24,
        width=2880,
        trained=41_800_000_000,
        otherwise={PACKED: 13_800_000_000},
        untrained=41_800_000_000,
        activation=2,
        free=40_000_000_000,
    )
    assert size.text() == (
        f"41.8 GB of memory for weights (13.8 {PACKED}), then 41.8 GB for random ones;"
        " only 40 GB free on the accelerator"
    )
