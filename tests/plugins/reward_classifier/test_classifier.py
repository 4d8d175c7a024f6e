"""A trained classifier is loaded, and judges."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from reward_classifier_training.recipe import Recipe  # noqa: E402
from reward_classifier_training.training import train  # noqa: E402
from small_preferences import PREFERENCES, QUICK, ignore  # noqa: E402

from gde.data.transcript import Step, Transcript  # noqa: E402
from gde.errors import ConfigError  # noqa: E402
from gde.parts.context import OutsideRun  # noqa: E402
from gde.request.settings import build  # noqa: E402
from gde.testing import check_plugin, check_reward_model  # noqa: E402
from gde_plugins.reward_classifier import plugin  # noqa: E402
from gde_plugins.reward_classifier.scorer import Scorer  # noqa: E402
from gde_plugins.reward_classifier.texts import beginnings  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scratch") / "model"
    found = train(PREFERENCES, Recipe(**QUICK), folder, ignore)  # type: ignore[arg-type]
    assert found.last_loss < found.first_loss / 2
    assert found.accuracy is not None and found.accuracy > 0.9
    assert (found.n_pairs, found.n_held_out) == (36, 12)
    return folder


def episode(
    *seen: str, domain: str = "blocksworld", objective: str = "place the blocks"
) -> Transcript:
    steps = tuple(Step("do", told) for told in seen)
    return Transcript(objective=objective, steps=steps, domain=domain)


def offered(name: str, **settings: str) -> object:
    (offer,) = (each for each in plugin.gde_reward_models() if each.name == name)
    return offer.made(build(offer.config, settings, name), OutsideRun())


def test_texts_are_laid_out_as_those_that_were_trained_on() -> None:
    trajectory = episode("block lies", "block placed")
    assert beginnings(trajectory) == [
        "<GOAL> place the blocks </GOAL>\n---\n<ACTION> do </ACTION>\n<STATE> block lies </STATE>",
        "<GOAL> place the blocks </GOAL>\n---\n<ACTION> do </ACTION>\n<STATE> block lies </STATE>"
        "\n<ACTION> do </ACTION>\n<STATE> block placed </STATE>",
    ]


def test_what_was_trained_is_loaded_and_judges_the_better_state_better(
    trained: Path,
) -> None:
    model = offered("supervised", source=str(trained))
    worth = [
        asyncio.run(model.rewards(episode("block lies", "block lies", last)))
        for last in ("block lies", "block placed")
    ]  # type: ignore[attr-defined]
    assert worth[0].values[-1] < worth[1].values[-1]
    assert worth[0].made_by == "scratch trained on blocksworld"
    assert worth[0].values.shape == (3,)
    check_reward_model(lambda: offered("supervised", source=str(trained)))  # type: ignore[arg-type, return-value]


def test_a_critic_judges_foreign_trajectories_only(trained: Path) -> None:
    critic = offered("vlwm", source=str(trained))
    own, foreign = (
        asyncio.run(critic.rewards(episode("x", domain=domain)))
        for domain in ("blocksworld", "webshop")
    )  # type: ignore[attr-defined]
    assert own.failure.startswith("it was trained on blocksworld")
    assert (foreign.failure, foreign.values.shape) == ("", (1,))


def test_long_texts_keep_their_goal_and_their_end_and_are_counted(
    trained: Path,
) -> None:
    scorer = Scorer.load(trained, None, "cpu")
    long = "<GOAL> place the blocks </GOAL>\n---\n" + "lies " * 100 + "placed"
    ids = scorer.batch([long])["input_ids"][0]
    read = scorer.tokenizer.decode(ids)
    assert len(ids) == 64 and "place the blocks" in read and read.endswith("placed")
    trace = asyncio.run(
        offered("supervised", source=str(trained)).rewards(episode("lies " * 100))
    )  # type: ignore[attr-defined]
    assert trace.counts == {"texts cut to length": 1}


def test_a_model_that_does_not_tell_its_training_is_trained_again(
    trained: Path, tmp_path: Path
) -> None:
    shutil.copytree(trained, tmp_path / "model")
    path = tmp_path / "model" / "card.json"
    card = json.loads(path.read_text())
    for damaged in ([], {**card, "domains": 3}, {**card, "origins": None}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(ConfigError, match=r"card\.json: .*: train it again"):
            offered("supervised", source=str(tmp_path / "model"))
    for settings in ({}, {"source": str(tmp_path)}):
        with pytest.raises(ConfigError, match="wanted the folder of a trained model"):
            offered("supervised", **settings)


def test_the_plugin_keeps_its_contract() -> None:
    check_plugin(plugin)
