"""Folders of embedders fill the row of what they hold, whatever their name."""

import json
from pathlib import Path

from gde_plugins.reward_prediction.baselines import ablations
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.embedders import row_of

MPNET = {"model_type": "mpnet", "hidden_size": 768, "num_hidden_layers": 12}
MINILM = {"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6}


def folder(path: Path, config: object, inside: str = "") -> str:
    (path / inside).mkdir(parents=True)
    (path / inside / "config.json").write_text(json.dumps(config))
    (path / inside / "model.safetensors").write_bytes(path.name.encode())
    return str(path)


def test_a_folder_is_known_by_its_architecture(tmp_path: Path) -> None:
    assert (row_of("words"), row_of("minilm")) == ("words", "minilm")
    assert row_of(folder(tmp_path / "any", MPNET)) == "mpnet"
    assert row_of(folder(tmp_path / "old", MPNET, "0_Transformer")) == "mpnet"


def test_a_name_alone_fills_no_printed_row(tmp_path: Path) -> None:
    assert row_of(folder(tmp_path / "a" / "mpnet", MINILM)) == "minilm"
    other = {**MINILM, "num_hidden_layers": 3}
    for name in ("mpnet", "minilm"):
        named = row_of(folder(tmp_path / "b" / name, other))
        assert named.startswith(f"{name}-") and len(named) == len(name) + 9
    assert row_of(folder(tmp_path / "c" / "mpnet", "no config")) != "mpnet"


def test_two_folders_of_one_row_are_judged_once(tmp_path: Path) -> None:
    folders = [folder(tmp_path / name, MPNET) for name in ("one", "two")]
    config = StudyConfig(embedders="+".join(folders))
    found = [one for one in ablations(config) if one.label == "embedder-mpnet"]
    assert [one.config["embedder"] for one in found] == folders[:1]
