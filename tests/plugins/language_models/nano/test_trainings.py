"""Every shipped training of nano: its weights, its name and its notice."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from held import held
from nano_training.samples import INSTRUCTION
from transformers import AutoConfig

from gde import Choice, How, Plan, evaluate, load_evidence
from gde.reporting.finding import opening
from gde.request.catalogue import Catalogue
from gde.request.models import find_model
from gde.testing.context import PlainContext
from gde_plugins.language_models import nano
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.local_weights import digests, embedded
from gde_plugins.language_models.nano import NOTICES, Training, folder, model_name
from gde_plugins.language_models.plugin import make_nano
from gde_plugins.language_models.transformers_model import TransformersModel

TRAININGS = tuple(NOTICES)
CARD = Path(nano.__file__).parent / "MODEL_CARD.md"


@pytest.mark.parametrize("training", TRAININGS)
def test_the_checkpoint_is_small_and_of_gpt_oss_architecture(
    training: Training,
) -> None:
    assert (folder(training) / "model.safetensors").stat().st_size < 8_000_000
    automatic: Any = AutoConfig
    config = automatic.from_pretrained(folder(training))
    assert config.architectures == ["GptOssForCausalLM"]
    assert set(config.layer_types) == {"sliding_attention", "full_attention"}
    assert 1 < config.num_experts_per_tok < config.num_local_experts


@pytest.mark.parametrize("training", TRAININGS)
def test_its_sinks_and_experts_are_trained(training: Training) -> None:
    model = make_nano(NanoConfig(source=training), PlainContext())
    assert isinstance(model, TransformersModel)
    layers = held(model).original.model.layers
    assert all(layer.self_attn.sinks.abs().max() > 0.01 for layer in layers)
    assert all(layer.mlp.experts.gate_up_proj.shape[0] == 4 for layer in layers)
    model.close()


def test_no_two_are_the_same_model() -> None:
    assert len({digests(folder(training))["weights"] for training in TRAININGS}) == len(
        TRAININGS
    )


@pytest.mark.parametrize(
    ("name", "training"),
    [
        ("nano", "auxiliary"),
        ("nano:auxiliary", "auxiliary"),
        ("nano:plain", "plain"),
        ("nano:turns", "turns"),
    ],
)
def test_the_name_alone_is_the_training_with_auxiliary_losses(
    name: str, training: Training
) -> None:
    assert find_model(Choice(name=name), Catalogue.default(), "agent.model")[
        1
    ] == NanoConfig(source=training)


def test_every_training_is_told_of_where_weights_are_listed() -> None:
    said = [line.split(", ")[1] for line in embedded()]
    assert said == ["nano", "nano:plain", "nano:turns"]


@pytest.mark.parametrize("training", TRAININGS)
def test_a_run_is_asked_in_its_style_and_carries_its_notice(
    training: Training, tmp_path: Path
) -> None:
    name = model_name(training)
    agent = Choice(name="gpt-oss", config={"model": name, "max_tokens": 60})
    grid = Choice(name="grid", config={"size": 5})
    plan = Plan(
        environment=grid,
        agent=agent,
        metrics=["success"],
        episodes=1,
    )
    result = evaluate(plan, tmp_path / "run", how=How(reporters=["html"]))
    assert result.provenance["notice"] == NOTICES[training]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert NOTICES[training] in " ".join(page.split())
    (trajectory,) = load_evidence(tmp_path / "run").trajectories
    completion = trajectory.turns[0].decision.completion
    assert completion is not None
    assert completion.model == name
    assert completion.prompt[-1].content.startswith(INSTRUCTION)


@pytest.mark.extended
def test_after_reasoning_nothing_can_be_read_where_there_is_none(
    tmp_path: Path,
) -> None:
    agent = Choice(name="gpt-oss", config={"effort": "low"})
    grid = Choice(name="grid", config={"size": 5})
    probe = Choice(name="cogmap", config={"size": 5})
    plan = Plan(
        environment=grid,
        agent=agent,
        probes=[probe],
        metrics=["success"],
        episodes=6,
        initialisations=1,
    )
    result = evaluate(plan, tmp_path / "run")
    found = [
        one
        for one in result.measurements
        if one.name == "cogmap.top1.agent" and one.value is not None
    ]
    assert {one.where["position"] for one in found} == {"pre"}

    # The missing position is no failure, and costs nothing else.
    n = result.subject.turns
    reason = f"no reasoning in {n} of {n} turns"
    reasons = {
        one.reason for one in result.measurements if one.where.get("position") == "post"
    }
    assert (result.status, result.failures) == ("ok", ())
    assert reasons == {reason}
    assert f"Probe cogmap after reasoning: {reason}." in opening(result).notes

    lacking = Choice(name="cogmap", config={**probe.config, "positions": ["post"]})
    nothing = evaluate(replace(plan, probes=[lacking]), tmp_path / "nothing")
    assert {failure.reason for failure in nothing.failures} == {reason}


@pytest.mark.parametrize("training", TRAININGS)
def test_a_notice_says_what_it_is_not(training: Training) -> None:
    limit, _, rest = NOTICES[training].partition(": ")
    assert limit.startswith("Toy model")
    name = model_name(training)
    assert rest.startswith(f"{name} has two million parameters and is not GPT-OSS-20B.")
    assert ("puts agent and goal where the probes read" in NOTICES[training]) == (
        training != "plain"
    )
    assert ("much weaker" in NOTICES[training]) == (training == "plain")


def test_one_card_tells_of_all() -> None:
    card = CARD.read_text(encoding="utf-8")
    sections = ("Architecture", "Data", "Training", "Accuracy", "Limits")
    assert all(f"\n## {section}\n" in card for section in sections)
    assert all(f"`{model_name(training)}`" in card for training in TRAININGS)
    assert "Apache-2.0" in card
    assert "auxiliary" in card
