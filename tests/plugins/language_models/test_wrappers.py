"""Models of TransformerLens and nnsight themselves (`nox -s wrappers`)."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, LlamaConfig

import gde
from gde.data.activations import CaptureRequest, Intervention, TokenSequence
from gde.testing import check_white_box
from gde_plugins.language_models import in_memory
from gde_plugins.language_models.nano import folder

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "own-activations.md"
PLACES = ("residual", "attention", "mlp", "head:1")
TOKENS = tuple(range(20, 60))
MISSING = "`nox -s wrappers` installs it"


def bridge(place: Path) -> Any:
    lens = pytest.importorskip("transformer_lens", reason=MISSING)
    return lens.TransformerBridge.boot_transformers(str(place))


def traced(place: Path) -> Any:
    nnsight = pytest.importorskip("nnsight", reason=MISSING)
    return nnsight.TransformersModel(str(place), task="text-generation", dispatch=True)


def of_nano(_: Path) -> Path:
    return folder()


def of_gpt2(place: Path) -> Path:
    """GPT-2's attention has one matrix for queries, keys and values."""
    return random_weights(GPT2Config(n_layer=4, n_embd=32, n_head=4), place)


def of_llama(place: Path) -> Path:
    shape = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4}
    return random_weights(LlamaConfig(**shape, intermediate_size=64), place)


def random_weights(config: Any, place: Path) -> Path:
    config.vocab_size = 1000
    config.initializer_range = 0.3
    config.bos_token_id = config.eos_token_id = 1
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: Any = AutoModelForCausalLM.from_config(config)
    model.save_pretrained(place)
    AutoTokenizer.from_pretrained(folder()).save_pretrained(place)
    return place


def made(model: Any) -> Any:
    make: Any = in_memory("mine", model).make
    return make(None, None)


@pytest.fixture(scope="module", params=[of_nano, of_gpt2, of_llama])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    written: Path = request.param(tmp_path_factory.mktemp("weights"))
    return written


@pytest.fixture(scope="module", params=[bridge, traced])
def pair(request: pytest.FixtureRequest, place: Path) -> Iterator[tuple[Any, Any]]:
    """The model in its wrapper, and the same weights in none."""
    plain = transformers.pipeline("text-generation", model=str(place))
    with closing(made(request.param(place))) as wrapped, closing(made(plain)) as alone:
        yield wrapped, alone


def test_it_is_read_and_changed_as_the_same_weights_are(pair: tuple[Any, Any]) -> None:
    info = pair[1].info
    assert pair[0].info.n_layers == info.n_layers
    for read, changed in product(PLACES, (None, *PLACES)):
        width = info.head_width if changed == "head:1" else info.width
        change = Intervention(
            layer=1,
            position="pre",
            kind="add",
            vector=np.full(width, 5.0),
            place=changed or "residual",
        )
        sequence = TokenSequence(
            tokens=TOKENS,
            positions={"pre": (10, 39)},
            interventions=(change,) if changed else (),
        )
        asked = CaptureRequest(layers=(1, 3), positions=("pre",), place=read)
        (wrapped,), (alone,) = (model.capture([sequence], asked) for model in pair)
        for at, values in alone.values.items():
            scale = 1e-4 * np.abs(values).max()
            assert np.allclose(wrapped.values[at], values, rtol=0, atol=scale)


@pytest.mark.parametrize("wrap", [bridge, traced])
def test_the_contract_is_kept(wrap: Callable[[Path], Any]) -> None:
    check_white_box(lambda: made(wrap(folder())))


@pytest.mark.parametrize("wrap", [bridge, traced])
def test_a_run_with_it_has_probes_and_controls(
    wrap: Callable[[Path], Any], tmp_path: Path
) -> None:
    agent = {"model": "mine", "style": "compact", "effort": "medium"}
    plan = gde.Plan(
        environment=gde.Choice(name="grid", config={"size": 5}),
        agent=gde.Choice(name="gpt-oss", config=agent),
        models=[in_memory("mine", wrap(folder()))],
        probes=["cogmap"],
        metrics=["success"],
        episodes=8,
        initialisations=1,
        learning=False,
    )
    result = gde.evaluate(plan, tmp_path / "run")
    assert result.status == "ok", result.failures
    controls = {one.where.get("control") for one in result.measurements}
    assert "untrained" in controls


def test_weights_that_are_not_loaded_are_refused() -> None:
    nnsight = pytest.importorskip("nnsight", reason=MISSING)
    tokenizer = AutoTokenizer.from_pretrained(folder())
    empty = nnsight.TransformersModel(
        str(folder()), task="text-generation", tokenizer=tokenizer
    )
    with pytest.raises(gde.GdeError, match="not loaded yet; dispatch it first"):
        in_memory("mine", empty)


def test_the_page_probes_what_it_has_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformer_lens", reason=MISSING)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    program = "\n".join(blocks[1:3]).replace("episodes=20", "episodes=8")
    names: dict[str, Any] = {"__name__": "page"}
    exec(program.replace('"gpt2"', repr(str(folder()))), names)
    assert any(one.name == "cogmap.accuracy" for one in names["result"].measurements)
    # What the page says of nnsight, of a model whose layers have another name.
    model = traced(folder())
    with model.trace("LEFT RIGHT"):
        saved = model.model.layers[3].output[0].save()
    cache = names["model"].run_with_cache("LEFT RIGHT", prepend_bos=False)[1]
    residual = cache["blocks.3.hook_resid_post"][0]
    assert torch.allclose(saved, residual, atol=1e-3 * residual.abs().max())
