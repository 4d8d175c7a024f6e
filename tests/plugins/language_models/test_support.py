"""Architectures that gde cannot ask or read are refused with a sentence, before
anything is written.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from gde.cli import main
from gde.errors import GdeError
from gde_plugins.language_models.support import check_answers, readable_layers
from gde_plugins.language_models.transformers_model import TransformersModel

WriteTokenizer = Callable[[Path], int]
DEPTH = 2
SHAPE = {
    "vocab_size": 48,
    "hidden_size": 16,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 64,
}
TOKENS = {"eos_token_id": 1, "pad_token_id": 0, "bos_token_id": None}
MAMBA = {"hidden_size": 16, "num_hidden_layers": DEPTH, "state_size": 4, **TOKENS}
SPECIAL = ("eos", "pad", "bos", "cls", "sep")
DECODER = {**SHAPE, **{f"{name}_token_id": 1 for name in SPECIAL}}
"""Of a class whose layers are not where gde looks for them."""


def built(architecture: str, **shape: Any) -> Any:
    """A model of random weights."""
    config = getattr(transformers, f"{architecture}Config")(**shape)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        automatic: Any = transformers.AutoModelForCausalLM
        return automatic.from_config(config).eval()


@pytest.fixture
def mamba(tmp_path: Path, tokenizer_into: WriteTokenizer) -> Path:
    folder = tmp_path / "mamba"
    folder.mkdir()
    vocabulary = tokenizer_into(folder)
    built("Mamba", vocab_size=vocabulary, **MAMBA).save_pretrained(str(folder))
    return folder


def test_attention_alone_is_supported() -> None:
    model = built("Llama", **SHAPE)
    check_answers(model, "hf:x")
    assert readable_layers(model) == DEPTH


def test_a_recurrent_state_is_refused() -> None:
    """It reads a few tokens well: only longer prompts, which are read in pieces, fail."""
    model = built("Mamba", vocab_size=48, **MAMBA)
    refusal = "^hf:x: MambaForCausalLM keeps a recurrent state.*; choose a model"
    with pytest.raises(GdeError, match=refusal):
        check_answers(model, "hf:x")


def test_whatever_a_model_raises_is_quoted_in_one_line() -> None:
    """An older architecture has another form of cache."""
    model = built("OpenAIGPT", vocab_size=48, n_embd=16, n_layer=2, n_head=2)
    with pytest.raises(GdeError, match="cannot continue prompts in batches") as found:
        check_answers(model, "hf:x")
    said = str(found.value)
    assert type(found.value.__cause__).__name__ in said
    assert "\n" not in said
    assert readable_layers(model) == 0


def test_a_model_without_readable_layers_can_be_asked() -> None:
    model = built("ModernBertDecoder", **DECODER)
    check_answers(model, "hf:x")
    assert readable_layers(model) == 0


def test_layers_of_another_width_are_not_read() -> None:
    model = built("Llama", **SHAPE)
    model.config.hidden_size = 17
    assert readable_layers(model) == 0


def test_loading_tries_the_model(mamba: Path, llama_folder: Path) -> None:
    with pytest.raises(GdeError, match="keeps a recurrent state"):
        TransformersModel.load(mamba, device="cpu")
    loaded = TransformersModel.load(llama_folder, device="cpu")
    assert loaded.info.n_layers == 3
    loaded.close()


@pytest.mark.parametrize(
    "command",
    [
        "eval --env grid",
        "eval --env grid --probe cogmap",
        "reproduce telos-probes --scale 0.01",
    ],
)
def test_the_command_ends_with_one_line(
    command: str,
    mamba: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    model = f"agent.model=hf:{mamba}"
    arguments = ["gde", *command.split(), "--agent", "gpt-oss", "--set", model]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert "Traceback" not in said.err
    (line,) = said.err.splitlines()
    assert line.startswith(f"gde: hf:{mamba}: MambaForCausalLM keeps a recurrent state")
    assert [each.name for each in tmp_path.iterdir()] == ["mamba"]


def test_probes_of_a_model_without_readable_layers_are_refused(
    tmp_path: Path,
    tokenizer_into: WriteTokenizer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "decoder"
    folder.mkdir()
    shape = {**DECODER, "vocab_size": tokenizer_into(folder)}
    built("ModernBertDecoder", **shape).save_pretrained(str(folder))
    monkeypatch.chdir(tmp_path)
    model = f"agent.model=hf:{folder}"
    command = ["gde", "eval", "--env", "grid", "--agent", "gpt-oss", "--set", model]
    monkeypatch.setattr(sys, "argv", [*command, "--probe", "cogmap"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    assert ended.value.code == 2
    assert "Traceback" not in said.err
    *_, line = said.err.splitlines()
    assert "gives none; choose a white-box model" in line
    assert [each.name for each in tmp_path.iterdir()] == ["decoder"]
