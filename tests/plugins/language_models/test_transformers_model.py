"""Loading, describing and re-initialising a model; its template and tokenizer."""

import asyncio
import json
import shutil
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from held import held
from pydantic import TypeAdapter
from safetensors.torch import load_file, save_file

from gde import Choice, Plan, evaluate, resume
from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import AnswerForm, ChatRequest, Effort, Message, Role, Sampling
from gde.data.json import Json
from gde.errors import GdeError, RunFailed
from gde.parts.context import OutsideRun
from gde.request.catalogue import Catalogue
from gde.request.models import find_model
from gde.request.resolve import resolve
from gde.runs.trusting import disclose, trust_run
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.testing import check_white_box
from gde_plugins.language_models import loading
from gde_plugins.language_models.config import HfConfig
from gde_plugins.language_models.plugin import make_hf
from gde_plugins.language_models.transformers_model import TransformersModel


def ask(
    model: TransformersModel,
    content: str = "w1 w2",
    role: Role = "user",
    effort: Effort = "low",
) -> tuple[int, ...]:
    """The prompt's tokens."""
    message = Message(role=role, content=content)
    request = ChatRequest(
        messages=(message,), seed=0, sampling=Sampling(max_tokens=1), effort=effort
    )
    return asyncio.run(model.complete(request)).prompt_tokens


@pytest.fixture
def copied(tiny_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))


def test_info_identifies_the_weights(
    tiny: TransformersModel, tiny_folder: Path
) -> None:
    assert (tiny.info.name, tiny.info.n_layers, tiny.info.width) == ("tiny", 4, 16)
    digest = sha256((tiny_folder / "model.safetensors").read_bytes()).hexdigest()
    assert tiny.info.versions["weights"] == digest
    assert {"torch", "transformers", "dtype"} <= tiny.info.versions.keys()


@pytest.mark.parametrize(
    ("file", "part"), [("config.json", "config"), ("tokenizer.json", "tokenizer")]
)
def test_a_run_is_not_resumed_with_another_config_or_tokenizer(
    file: str, part: str, copied: Path, tmp_path: Path
) -> None:
    asked: dict[str, Json] = {"model": f"hf:{copied}", "max_tokens": 8}
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config=asked),
        metrics=["success"],
        episodes=1,
    )
    run = tmp_path / "run"
    evaluate(plan, run)
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.forget(journal.finished())
        journal.write([("DELETE FROM calls", ())])
    # The same values in other words.
    (copied / file).write_text((copied / file).read_text() + "\n")
    with pytest.raises(
        GdeError, match=rf"'hf:{copied}' has changed .*: {part} \w+, now"
    ):
        resume(run)


def test_it_keeps_the_contract(tiny_folder: Path) -> None:
    check_white_box(
        lambda: TransformersModel.load(
            tiny_folder, device="cpu", dtype="float64", batch_size=4
        )
    )


def test_a_form_of_the_answer_is_refused(tiny: TransformersModel) -> None:
    form = AnswerForm(kind="schema", name="act", field="action", choices=None)
    message = Message(role="user", content="w1")
    request = ChatRequest(messages=(message,), seed=0, form=form)
    with pytest.raises(GdeError, match="tiny keeps to no form of answers: ask for"):
        asyncio.run(tiny.complete(request))
    # Prompts ask for JSON as well, so that a model may ignore the form.
    sampling = Sampling(max_tokens=1)
    anything = replace(request, form=AnswerForm(kind="json"), sampling=sampling)
    assert asyncio.run(tiny.complete(anything)).finish


def test_a_completion_can_be_captured_at_its_own_positions(
    tiny: TransformersModel,
) -> None:
    request = ChatRequest(
        messages=(Message(role="user", content="w1"),),
        seed=0,
        sampling=Sampling(max_tokens=5),
    )
    completion = asyncio.run(tiny.complete(request))
    sequence = TokenSequence(
        tokens=completion.prompt_tokens + completion.tokens,
        positions=completion.positions,
    )
    record = tiny.capture([sequence], CaptureRequest(layers=(1,)))[0]
    assert record.values[1, "pre"].shape == (3, 16)
    assert tuple(
        tiny._tokenizer.convert_ids_to_tokens(completion.prompt_tokens[-3:])
    ) == (
        "<|end|>",
        "<|start|>",
        "assistant",
    )


def test_the_effort_reaches_the_template(copied: Path) -> None:
    (copied / "chat_template.jinja").write_text(
        "{{ {'low': 'w1', 'medium': 'w2', 'high': 'w3'}[reasoning_effort] }}"
    )
    model = TransformersModel.load(copied, device="cpu")
    efforts: tuple[Effort, ...] = ("low", "medium", "high")
    words = [
        model._tokenizer.convert_ids_to_tokens(ask(model, effort=effort))
        for effort in efforts
    ]
    assert words == [["w1"], ["w2"], ["w3"]]
    model.close()


def test_the_day_in_a_template_is_fixed(copied: Path) -> None:
    template = (
        "{%- macro head() -%}{{ strftime_now('%Y-%m-%d') }}{%- endmacro -%}{{ head() }}"
    )
    (copied / "chat_template.jinja").write_text(template)
    model = TransformersModel.load(copied, device="cpu", date="w7")
    assert ask(model) == tuple(model._tokenizer("w7")["input_ids"])
    model.close()


def test_a_template_that_refuses_is_quoted(copied: Path) -> None:
    (copied / "chat_template.jinja").write_text(
        "{{ raise_exception('no system role here') }}"
    )
    model = TransformersModel.load(copied, device="cpu")
    with pytest.raises(
        GdeError, match="refuses messages of system: no system role here"
    ):
        ask(model, role="system")
    model.close()


def test_a_tokenizer_without_a_template_is_refused(copied: Path) -> None:
    (copied / "chat_template.jinja").unlink()
    with pytest.raises(
        GdeError, match="copy: the tokenizer has no chat template; wanted a chat model"
    ):
        TransformersModel.load(copied, device="cpu")


def test_spans_cut_the_text_into_its_tokens(tiny: TransformersModel) -> None:
    text = "w1  w22 what"
    found = tiny.tokenize(text)
    assert [text[begin:end] for begin, end in found.spans] == ["w1", "w22", "what"]
    assert tiny._tokenizer.convert_ids_to_tokens(found.ids) == ["w1", "w22", "[unk]"]


def test_untrained_is_a_function_of_its_seed_alone(tiny: TransformersModel) -> None:
    state = torch.random.get_rng_state()
    first, again, other = tiny.untrained(1), tiny.untrained(1), tiny.untrained(2)
    assert torch.equal(torch.random.get_rng_state(), state)
    asked = (
        [TokenSequence(tokens=(9, 10, 11), positions={"pre": (0, 1, 2)})],
        CaptureRequest(layers=(2,)),
    )
    values = [
        model.capture(*asked)[0].values[2, "pre"]
        for model in (first, again, other, tiny)
    ]
    assert np.array_equal(values[0], values[1])
    for left, right in ((0, 2), (0, 3)):
        assert not np.allclose(values[left], values[right])
    assert first.info.versions["weights"] == "random, seed 1"
    assert first.info.name == "tiny (untrained)"
    assert held(first).original.dtype == held(tiny).original.dtype
    assert ask(first) == ask(tiny)
    for model in (first, again, other):
        model.close()


def test_loading_says_nothing(
    tiny_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = make_hf(
        HfConfig(source=str(tiny_folder), device="cpu", batch_size=2), OutsideRun()
    )
    assert made.info.name == f"hf:{tiny_folder}"
    made.close()
    assert capfd.readouterr() == ("", "")


def test_a_plan_from_elsewhere_asks_a_hub_only_when_its_user_trusts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a stranger may write: transformers sends the user's token to the hub.
    agent = Choice(name="gpt-oss", config={"model": "hf:someone/model"})
    theirs = resolve(Plan(environment="grid", agent=agent), Catalogue.default())
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "theirs"))
    RunFolder.create(theirs.plan, tmp_path / "run", theirs.how)
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "mine"))

    def find(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(loading, "_find", find)
    with pytest.raises(GdeError, match="gde trust"):
        resume(tmp_path / "run")
    lines = disclose(tmp_path / "run").lines
    assert "model hf:someone/model is loaded as hf:someone/model" in lines
    trust_run(tmp_path / "run")
    with pytest.raises(RunFailed, match="asked"):
        resume(tmp_path / "run")


@pytest.mark.parametrize(
    "source",
    ["/no/such/folder", "./no-such-folder", "~/no/such/folder", "a/b/c", "not here"],
)
def test_a_path_that_is_not_there_is_named(source: str) -> None:
    config = TypeAdapter(HfConfig).validate_python({"source": source})
    place = Path(source).expanduser().absolute()
    with pytest.raises(
        GdeError,
        match=f"hf:{place}: wanted a folder with config.json.* got nothing there",
    ):
        TransformersModel.load(config.source)


def test_a_folder_is_no_model_of_a_hub(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_folder.parent)
    choice = Choice(name=f"hf:{tiny_folder.name}")
    _, config = find_model(choice, Catalogue.default(), "agent.model")
    assert config.source == tiny_folder.name
    with pytest.raises(
        GdeError, match=f"is a folder here; name it hf:./{choice.name[3:]},"
    ):
        TransformersModel.load(config.source)

    choice = Choice(name=f"hf:./{tiny_folder.name}")
    _, config = find_model(choice, Catalogue.default(), "agent.model")
    assert config.source == tiny_folder


def test_a_folder_of_an_adapter_names_weights_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(GdeError, match="merge the adapter into its model"):
        TransformersModel.load(tmp_path)


def test_pickled_weights_and_code_of_a_folder_are_not_read(
    tiny_folder: Path, tmp_path: Path
) -> None:
    pickled = Path(shutil.copytree(tiny_folder, tmp_path / "pickled"))
    weights = pickled / "model.safetensors"
    torch.save(load_file(weights), pickled / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(GdeError, match="could not load it"):
        TransformersModel.load(pickled)

    coded = Path(shutil.copytree(tiny_folder, tmp_path / "coded"))
    config = json.loads((coded / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
    (coded / "config.json").write_text(json.dumps(config))
    (coded / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(GdeError, match="could not load it"):
        TransformersModel.load(coded)
    assert not (tmp_path / "ran").exists()


def test_trust_lists_a_folder_of_weights(tiny_folder: Path, tmp_path: Path) -> None:
    agent = Choice(name="gpt-oss", config={"model": f"hf:{tiny_folder}"})
    ready = resolve(Plan(environment="grid", agent=agent), Catalogue.default())
    RunFolder.create(ready.plan, tmp_path / "run", ready.how)
    reads = f"hf:{tiny_folder}.source reads {tiny_folder} (folder of"
    assert any(reads in line for line in disclose(tmp_path / "run").lines)


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    with pytest.raises(
        GdeError, match=r"notes\.txt: wanted .* got another kind of file"
    ):
        TransformersModel.load(file)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", b"{"),
        ("config.json", b"{}"),
        ("model.safetensors", b"rubbish"),
        ("tokenizer.json", b"[]"),
    ],
)
def test_a_damaged_model_is_one_clear_line(
    copied: Path, file: str, content: bytes
) -> None:
    (copied / file).write_bytes(content)
    with pytest.raises(
        GdeError, match=r"copy: wanted a folder with config\.json"
    ) as caught:
        TransformersModel.load(copied, device="cpu")
    assert "\n" not in str(caught.value)


def test_weights_that_are_incomplete_are_refused(copied: Path) -> None:
    weights = load_file(copied / "model.safetensors")
    del weights["model.layers.2.self_attn.sinks"]
    save_file(weights, copied / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        GdeError,
        match=r"the weights lack 1 tensors, e\.g\. model\.layers\.2\.self_attn\.sinks",
    ):
        TransformersModel.load(copied, device="cpu")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GdeError, match="could not load it"):
        TransformersModel.load(tmp_path)


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_a_device_that_is_not_there_is_named(tiny_folder: Path, device: str) -> None:
    with pytest.raises(
        GdeError,
        match=f"model.device: wanted auto, cpu, a device of this machine or, with cards, balanced; got '{device}'",
    ):
        TransformersModel.load(tiny_folder, device=device)


def test_a_broken_gguf_file_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gguf", reason="reading GGUF files needs the extra gguf")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(
        GdeError, match=r"model\.gguf: wanted a GGUF file of a causal language model"
    ):
        TransformersModel.load(file)
    assert list((tmp_path / "cache").rglob("unfinished-*")) == []
