"""A vector of the user's own is called a cause if the model acts on it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from gde import Choice, GdeError, Measurement, Plan, evaluate, rescore
from gde.request.catalogue import Catalogue, load_plugins
from gde.testing.parts import PlantedModel
from gde_plugins.probes.causes.direction import read_vector

KNOWN = Catalogue(load_plugins(modules=("gde.testing.plugin", "planted_parts")))
TURNING = PlantedModel().turning
ASKING_HEADS = Choice(name="asking", config={"model": "two-heads"})
PLAN = Plan(
    environment=Choice(
        name="corridor", config={"length": [3, 4, 5, 6, 7, 8, 9, 10, 11]}
    ),
    agent="asking",
    metrics=["success"],
    episodes=1,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("direction") / "run"
    evaluate(PLAN, folder, KNOWN)
    return folder


def asked(
    run: Path, file: Path, vector: NDArray[np.float32], **config: Any
) -> dict[tuple[str, str, str], Measurement]:
    np.save(file, vector)
    given = {"file": str(file), "layer": [0], **config}
    found = rescore(run, [Choice(name="direction", config=given)], KNOWN)
    return {
        (
            one.name.removeprefix("direction."),
            str(one.where["change"]),
            str(one.where["control"]),
        ): one
        for one in found.measurements
        if one.name.startswith("direction.")
    }


def test_a_vector_that_turns_the_answer_is_a_cause_and_a_random_one_is_not(
    run: Path, tmp_path: Path
) -> None:
    found = asked(run, tmp_path / "turning.npy", TURNING, doses=[2.0], action="LEFT")
    assert found["effect", "steering", "none"].value == 1
    assert found["effect", "steering", "random direction"].value == 0
    assert found["called", "steering", "none"].value == 1
    assert found["called", "ablation", "none"].value == 0

    other = np.roll(TURNING, 1)
    found = asked(run, tmp_path / "other.npy", other, doses=[2.0])
    assert found["effect", "steering", "none"].value == 0
    assert found["called", "steering", "none"].value == 0


def test_activations_are_replaced_by_the_vector(run: Path, tmp_path: Path) -> None:
    found = asked(run, tmp_path / "twice.npy", 2 * TURNING, changes=["patching"])
    assert found["effect", "patching", "none"].value == 1
    assert found["moved", "patching", "none"].value == 1
    assert found["effect", "patching", "random direction"].value == 0


@pytest.fixture(scope="module")
def with_heads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("heads") / "run"
    evaluate(replace(PLAN, agent=ASKING_HEADS), folder, KNOWN)
    return folder


@pytest.mark.parametrize(("place", "turned"), [("head:1", 1), ("head:0", 0)])
def test_a_vector_is_tested_at_one_head(
    with_heads: Path, tmp_path: Path, place: str, turned: int
) -> None:
    half = TURNING[len(TURNING) // 2 :]
    for changes, name in ((["steering"], "effect"), (["patching"], "moved")):
        config = {"place": place, "changes": changes, "doses": [3.0]}
        times = 3 if changes == ["patching"] else 1
        found = asked(with_heads, tmp_path / "half.npy", times * half, **config)
        change = f"{changes[0]} at {place}"
        assert found[name, change, "none"].value == turned
        assert found["called", change, "none"].value == turned
        assert found["effect", change, "random direction"].value == 0


def test_an_ablated_head_keeps_its_own_mean(with_heads: Path, tmp_path: Path) -> None:
    """Which is captured there, and as wide as the head."""
    half = TURNING[len(TURNING) // 2 :]
    config = {"place": "head:1", "changes": ["ablation"]}
    found = asked(with_heads, tmp_path / "half.npy", half, **config)
    assert found["effect", "ablation at head:1", "none"].value == 0


def test_a_place_that_the_model_has_not_is_refused_before_the_run(
    run: Path, with_heads: Path, tmp_path: Path
) -> None:
    file = tmp_path / "half.npy"
    np.save(file, TURNING[:32])

    def test_of(place: str, layer: int = 0) -> Choice:
        config = {"file": str(file), "layer": layer, "place": place}
        return Choice(name="direction", config=config)

    for folder, choice, wanted in (
        (with_heads, test_of("head:2"), "planted has head:0 to head:1, got 'head:2'"),
        (with_heads, test_of("mlp", 9), "layers 0 to 1 or one of .*, got 9"),
        (run, test_of("mlp"), "planted gives residual alone, got 'mlp'"),
        (run, test_of("heads"), "one of residual, attention, mlp and head:N, got"),
    ):
        with pytest.raises(GdeError, match=wanted):
            rescore(folder, [choice], KNOWN)
    plan = replace(PLAN, agent=ASKING_HEADS, metrics=[test_of("head:2")])
    with pytest.raises(GdeError, match="planted has head:0 to head:1"):
        evaluate(plan, tmp_path / "new", KNOWN)
    assert not (tmp_path / "new").exists()


def read(file: Path, width: int = 3) -> NDArray[np.float32]:
    return read_vector(file, width)


def test_a_file_holds_one_vector_of_the_models_width(tmp_path: Path) -> None:
    file = tmp_path / "feature.safetensors"
    save_file({"feature": np.ones(3)}, file)
    assert read(file).tolist() == [1, 1, 1]
    with pytest.raises(GdeError, match=r"one array of width 4, got \(3,\)"):
        read(file, 4)
    save_file({"feature": np.ones(3), "other": np.ones(3)}, file)
    with pytest.raises(GdeError, match=r"one array of width 3, got \(3,\), \(3,\)"):
        read(file)
    save_file({"feature": np.zeros(3)}, file)
    with pytest.raises(GdeError, match="not all zero"):
        read(file)
    np.save(tmp_path / "words.npy", np.array(["left", "right", "up"]))
    for name in ("broken.npy", "broken.safetensors", "words.npy"):
        broken = tmp_path / name
        if name != "words.npy":
            broken.write_bytes(b"no array")
        with pytest.raises(GdeError, match=f"array of numbers.*{name}"):
            read(broken)


def test_a_file_that_is_not_there_is_refused_before_anything_is_asked(
    run: Path,
) -> None:
    asked = Choice(name="direction", config={"file": "nowhere.npy", "layer": 0})
    with pytest.raises(GdeError, match=r"wanted a \.npy or \.safetensors file, got"):
        rescore(run, [asked], KNOWN)


def test_rows_that_are_not_the_tokens_of_the_position_are_told(
    run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rows.npy"
    np.save(file, np.ones((5, len(TURNING))))
    asked = Choice(name="direction", config={"file": str(file), "layer": 0})
    reasons = [one.reason for one in rescore(run, [asked], KNOWN).failures]
    assert any("tokens of the position pre, got 5" in reason for reason in reasons)
