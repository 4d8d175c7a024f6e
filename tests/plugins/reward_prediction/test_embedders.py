"""Folders of embedders fill the row of the name that they are published under."""

from gde_plugins.reward_prediction.baselines import ablations
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.embedders import row_of


def test_a_folder_is_known_by_its_published_name() -> None:
    assert (row_of("words"), row_of("minilm")) == ("words", "minilm")
    assert row_of("models/all-mpnet-base-v2") == "mpnet"
    assert row_of("models/own") == "own"


def test_two_folders_of_one_row_are_judged_once() -> None:
    folders = [f"{place}/all-mpnet-base-v2" for place in ("one", "two")]
    config = StudyConfig(embedders="+".join(folders))
    found = [one for one in ablations(config) if one.label == "embedder-mpnet"]
    assert [one.config["embedder"] for one in found] == folders[:1]
