"""A tiny classifier is trained on preferences and written."""

import asyncio
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from reward_classifier_training.__main__ import main  # noqa: E402
from reward_classifier_training.curve_figure import curve_figure  # noqa: E402
from reward_classifier_training.held_out import (  # noqa: E402
    held_out_table,
    ranked_right,
    ranked_unread,
)
from reward_classifier_training.preferences import (  # noqa: E402
    Preference,
    read_preferences,
    read_text,
)
from reward_classifier_training.recipe import Recipe  # noqa: E402
from reward_classifier_training.training import (  # noqa: E402
    CURVE,
    DRAWN,
    batch_loss,
    ranking_loss,
    train,
    train_curve,
)
from small_preferences import PREFERENCES, QUICK, ignore, text  # noqa: E402

from gde.data.transcript import Step, Transcript  # noqa: E402
from gde.errors import ConfigError, GdeError  # noqa: E402
from gde.parts.context import OutsideRun  # noqa: E402
from gde.request.settings import build, read_toml  # noqa: E402
from gde_plugins.reward_classifier import plugin  # noqa: E402
from gde_plugins.reward_classifier.scorer import Scorer, read_card  # noqa: E402
from gde_plugins.reward_classifier.texts import beginnings  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_loss_ranks_and_centres() -> None:
    ahead, behind = torch.tensor([1.0]), torch.tensor([0.0])
    assert ranking_loss(ahead, behind, 0).item() == pytest.approx(np.log1p(np.exp(-1)))
    assert ranking_loss(behind, ahead, 0) > ranking_loss(ahead, behind, 0)
    assert ranking_loss(ahead + 5, behind + 5, 0.1) > ranking_loss(ahead, behind, 0.1)
    assert ranking_loss(ahead + 5, behind + 5, 0).item() == pytest.approx(
        ranking_loss(ahead, behind, 0).item()
    )


def test_the_same_seed_gives_the_same_weights(tmp_path: Path) -> None:
    """Two epochs, so that the order of the second counts as well."""
    recipe = Recipe(**{**QUICK, "epochs": 2})  # type: ignore[arg-type]
    for name, seed in (("first", 0), ("again", 0), ("other", 1)):
        train(PREFERENCES[:18], replace(recipe, seed=seed), tmp_path / name, ignore)
    weights = {
        path.name: (path / "model.safetensors").read_bytes()
        for path in tmp_path.iterdir()
    }
    assert weights["first"] == weights["again"] != weights["other"]


@pytest.mark.extended
def test_adapters_leave_the_base_alone(tmp_path: Path) -> None:
    """LoRA on what was trained from scratch: only the adapters and a head are written,
    and they need their base.
    """
    pytest.importorskip("peft")
    trained = tmp_path / "base"
    found = train(PREFERENCES, Recipe(**QUICK), trained, ignore)  # type: ignore[arg-type]
    assert found.last_loss < found.first_loss / 2
    assert found.accuracy is not None and found.accuracy > 0.9
    assert (found.n_pairs, found.n_held_out) == (36, 12)
    before = (trained / "model.safetensors").read_bytes()
    recipe = Recipe(**{**QUICK, "base": str(trained), "rank": 4, "epochs": 2})  # type: ignore[arg-type]
    adapted = tmp_path / "adapted"
    found = train(PREFERENCES[:24], recipe, adapted, ignore)
    assert (trained / "model.safetensors").read_bytes() == before
    assert (
        not (adapted / "model.safetensors").exists()
        and (adapted / "adapter_model.safetensors").exists()
    )
    assert found.accuracy is not None and found.accuracy > 0.8
    scorer = Scorer.load(adapted, None, "cpu")
    assert np.mean(ranked_right(scorer, PREFERENCES, 8)) > 0.8
    with pytest.raises(
        ConfigError,
        match="wanted the folder of the model that was adapted, got '/no/such'",
    ):
        Scorer.load(adapted, Path("/no/such"), "cpu")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    lines: Sequence[str] = (
        "{",
        "[]",
        '{"chosen": "a"}',
        '{"chosen": 1, "rejected": "", "domain": "", "task": ""}',
    )
    for line in lines:
        (tmp_path / "train.jsonl").write_text(line)
        with pytest.raises(GdeError, match=r"train\.jsonl, line 1"):
            read_preferences([tmp_path / "train.jsonl"])
    with pytest.raises(ConfigError, match="none are left to train on"):
        train(PREFERENCES[:3], Recipe(held_out=1), tmp_path / "model", ignore)


def told_apart(*, of: str) -> tuple[Preference, ...]:
    """Preferences of a task with another goal, as files have them."""
    begun = text(0).replace("place the blocks", of)
    better = text(3).replace("place the blocks", of)
    return tuple(
        replace(each, chosen=better, rejected=begun, task=of)
        for each in PREFERENCES[:2]
    )


def written(folder: Path, preferences: Sequence[Preference]) -> Path:
    file = folder / "train.jsonl"
    lines = [json.dumps(asdict(each)) for each in preferences]
    file.write_text("\n".join(lines))
    return file


def test_a_preference_of_a_test_task_is_refused_whatever_its_name(
    tmp_path: Path,
) -> None:
    (one, *_) = told_apart(of="stack all")
    file = written(tmp_path, [*PREFERENCES[:3], replace(one, task="another name")])
    seen = [*read_preferences([file])]
    digest = seen[-1].origins[0]
    (tmp_path / "test.json").write_text(json.dumps({"origins": [digest]}))
    with pytest.raises(ConfigError, match="line 4: another name is a test task"):
        read_preferences([file])
    (tmp_path / "test.json").write_text("{}")
    with pytest.raises(ConfigError, match="build it again"):
        read_preferences([file])


def test_a_trained_model_does_not_judge_the_tasks_of_its_training(
    tmp_path: Path,
) -> None:
    preferences = [*told_apart(of="a"), *told_apart(of="b"), *told_apart(of="c")]
    recipe = Recipe(**{**QUICK, "epochs": 1, "held_out": 0})  # type: ignore[arg-type]
    train(
        read_preferences([written(tmp_path, preferences)]),
        recipe,
        tmp_path / "model",
        ignore,
    )
    offer, _ = plugin.gde_reward_models()
    config = build(offer.config, {"source": str(tmp_path / "model")}, "supervised")
    model = offer.made(config, OutsideRun())
    for goal, is_known in (("a", True), ("A ", True), ("d", False)):
        steps = (Step("do", "block lies"),)
        one = Transcript(objective=goal, steps=steps, domain="blocksworld")
        found = asyncio.run(model.rewards(one))  # type: ignore[attr-defined]
        assert found.failure.startswith("it was trained on this task") == is_known


def test_held_out_tasks_share_no_text_with_those_trained_on(tmp_path: Path) -> None:
    """One task under eight names is one task: held out once, it is held out whole."""
    same = [replace(told_apart(of="a")[0], task=f"name-{i}") for i in range(8)]
    file = written(tmp_path, same)
    with pytest.raises(ConfigError, match="none are left to train on"):
        train(read_preferences([file]), Recipe(held_out=0.25), tmp_path / "m", ignore)


@pytest.mark.parametrize(("rate", "epochs"), [(math.inf, 1), (math.inf, 2), (1e30, 2)])
def test_a_training_that_diverges_says_so_and_leaves_nothing(
    rate: float, epochs: int, tmp_path: Path
) -> None:
    """With one step the loss is that of the first weights: what it left of them is
    looked at too.
    """
    recipe = Recipe(learning_rate=rate, epochs=epochs, max_length=64, held_out=0)
    with pytest.raises(
        ConfigError,
        match=r"wanted finite numbers, got .*; nothing was written; take less than",
    ):
        train(PREFERENCES[:8], recipe, tmp_path / "model", ignore)
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_exists_is_not_written_into(tmp_path: Path) -> None:
    with pytest.raises(GdeError, match="exists: choose another folder"):
        train(PREFERENCES, Recipe(**QUICK), tmp_path, ignore)  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]
    (tmp_path / "file").touch()
    with pytest.raises(
        GdeError, match=r"cannot make the folder .*; choose another one"
    ):
        train(PREFERENCES, Recipe(**QUICK), tmp_path / "file/model", ignore)  # type: ignore[arg-type]


def test_the_command_trains_from_files_and_settings_override_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, PREFERENCES[:30])
    (tmp_path / "recipe.toml").write_text('[train]\nepochs = 2\nbase = "/nowhere"\n')
    words = ["--plan", "recipe.toml", "--out", "model", "--data", str(file)]
    words += ["--set", "train.base=scratch", "--set", "train.max_length=64"]
    monkeypatch.setattr(sys, "argv", ["reward_classifier_training", *words])
    main()
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert (card["recipe"]["base"], card["recipe"]["epochs"]) == ("scratch", 2)


def test_a_learning_curve_is_held_against_the_same_pairs(tmp_path: Path) -> None:
    recipe = Recipe(**{**QUICK, "epochs": 2})  # type: ignore[arg-type]
    out = tmp_path / "curve"
    small, large = train_curve(PREFERENCES, recipe, [36, 10], out, ignore)
    assert (small.n_pairs, large.n_pairs) == (10, 36)
    assert (small.n_held_out, large.n_held_out) == (12, 12)
    written = json.loads((out / CURVE).read_text())
    assert [each["accuracy"] for each in written] == [small.accuracy, large.accuracy]
    assert read_card(out / "36")["n_pairs"] == 36
    assert (out / DRAWN).read_text().startswith("<svg xmlns=")
    figure = curve_figure([(one.n_pairs, one.held_out) for one in (small, large)])
    rows = figure.spec["data"]["values"]  # type: ignore[index, call-overload]
    points = [(row["pairs"], row["accuracy"], row["best"]) for row in rows]  # type: ignore[index, call-overload, union-attr]
    (table,) = small.held_out
    assert points == [
        (10, small.accuracy, table.best),
        (36, large.accuracy, table.best),
    ]
    with pytest.raises(ConfigError, match="--sizes: wanted at most 36"):
        train_curve(PREFERENCES, recipe, [37], tmp_path / "more", ignore)
    assert not (tmp_path / "more").exists()


def test_a_regression_is_of_the_true_rewards(tmp_path: Path) -> None:
    recipe = Recipe(**{**QUICK, "learning_rate": 0.002}, objective="regression")  # type: ignore[arg-type]
    told = [replace(PREFERENCES[0], chosen_reward=1.0, rejected_reward=0.25)]
    predicted = torch.tensor([1.5, 0.25])
    # The chosen text comes first.
    assert batch_loss(predicted, told, recipe).item() == pytest.approx(0.5**2 / 2)
    with pytest.raises(ConfigError, match="needs the true rewards"):
        train(PREFERENCES, recipe, tmp_path / "untold", ignore)

    told = [
        replace(one, chosen_reward=1.0, rejected_reward=0.0) for one in PREFERENCES[:30]
    ]
    found = train(told, recipe, tmp_path / "model", ignore)
    assert found.last_loss < found.first_loss
    assert read_card(tmp_path / "model")["recipe"]["objective"] == "regression"


def test_held_out_pairs_stand_beside_the_best_that_reads_nothing() -> None:
    class Backwards:
        """Gives each text less the more it has."""

        def rewards(self, texts: Sequence[str]) -> torch.Tensor:
            return -torch.tensor([float(len(one)) for one in texts])

    def told(*observations: str) -> str:
        steps = tuple(Step("go", one) for one in observations)
        return beginnings(Transcript(objective="Find it", steps=steps))[-1]

    short, long, repeated = told("x"), told("x", "y"), told("x", "y", "x")
    pairs = [Preference(long, short, "a", f"{i}") for i in range(8)]
    # The clock errs about these.
    pairs += [Preference(short, repeated, "b", f"{i}") for i in range(3)]
    rows = {one.domain: one for one in held_out_table(Backwards(), pairs, 4)}  # type: ignore[arg-type]
    assert (rows["a"].accuracy, rows["a"].tasks) == (0, 8)
    assert (rows["a"].baseline, rows["a"].best) == ("clock", 1)
    assert (rows["b"].accuracy, rows["b"].interval) == (1, None)
    assert (rows["b"].baseline, rows["b"].best) == ("unrepeated", 1)
    assert (rows["all"].baseline, rows["all"].best) == ("unrepeated", 1)
    assert rows["all"].accuracy == pytest.approx(3 / 11)
    assert rows["all"].interval is not None
    # Equals count half, and a text of another form tells nothing.
    assert ranked_unread("clock", [Preference(short, short, "a", "0")]) == [0.5]
    assert ranked_unread("clock", [Preference("no", short, "a", "0")]) == [0]


def test_a_text_is_read_as_it_was_written() -> None:
    steps = (Step("", "a room"), Step("go <north>", "two\nlines"))
    transcript = Transcript(objective="Find it", steps=steps)
    assert read_text(beginnings(transcript)[-1]) == transcript


def test_the_published_recipe_is_one() -> None:
    plan = EXAMPLES / "reward_classifier_training" / "qwen2.5-1.5b.toml"
    recipe = build(Recipe, read_toml(plan)["train"], "train")
    assert (recipe.rank, recipe.alpha, recipe.epochs) == (16, 32, 3)
    assert (recipe.max_length, recipe.precision) == (8192, "bfloat16")
