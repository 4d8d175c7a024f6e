"""A tiny classifier is trained on preferences, written, loaded again, and judges."""

import asyncio
import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from typer.testing import CliRunner  # noqa: E402

from gde.data.transcript import Step, Transcript  # noqa: E402
from gde.errors import ConfigError, GdeError  # noqa: E402
from gde.parts.context import OutsideRun  # noqa: E402
from gde.request.settings import build  # noqa: E402
from gde.testing import check_plugin, check_reward_model  # noqa: E402
from gde_plugins.reward_classifier import plugin  # noqa: E402
from gde_plugins.reward_classifier.config import Recipe  # noqa: E402
from gde_plugins.reward_classifier.curve_figure import curve_figure  # noqa: E402
from gde_plugins.reward_classifier.held_out import (  # noqa: E402
    held_out_table,
    ranked_right,
    ranked_unread,
)
from gde_plugins.reward_classifier.scorer import Scorer, read_card  # noqa: E402
from gde_plugins.reward_classifier.texts import (  # noqa: E402
    Preference,
    beginnings,
    read_preferences,
    read_text,
)
from gde_plugins.reward_classifier.training import (  # noqa: E402
    CURVE,
    DRAWN,
    batch_loss,
    ranking_loss,
    train,
    train_curve,
)

QUICK = {
    "learning_rate": 0.01,
    "batch_size": 10,
    "epochs": 5,
    "max_length": 64,
    "held_out": 0.25,
}


def text(n_done: int) -> str:
    steps = "\n".join(
        f"<ACTION> do </ACTION>\n<STATE> block {'placed' if i < n_done else 'lies'} </STATE>"
        for i in range(3)
    )
    return f"<GOAL> place the blocks </GOAL>\n---\n{steps}"


PREFERENCES = [
    Preference(text(more), text(less), "blocksworld", f"task-{task}")
    for task in range(8)
    for more in range(4)
    for less in range(more)
]


def ignore(*_: object) -> None:
    """Progress is not shown."""


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


def test_the_loss_ranks_and_centres() -> None:
    ahead, behind = torch.tensor([1.0]), torch.tensor([0.0])
    assert ranking_loss(ahead, behind, 0).item() == pytest.approx(np.log1p(np.exp(-1)))
    assert ranking_loss(behind, ahead, 0) > ranking_loss(ahead, behind, 0)
    assert ranking_loss(ahead + 5, behind + 5, 0.1) > ranking_loss(ahead, behind, 0.1)
    assert ranking_loss(ahead + 5, behind + 5, 0).item() == pytest.approx(
        ranking_loss(ahead, behind, 0).item()
    )


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
    scorer = Scorer.load(trained, "", "cpu")
    long = "<GOAL> place the blocks </GOAL>\n---\n" + "lies " * 100 + "placed"
    ids = scorer.batch([long])["input_ids"][0]
    read = scorer.tokenizer.decode(ids)
    assert len(ids) == 64 and "place the blocks" in read and read.endswith("placed")
    trace = asyncio.run(
        offered("supervised", source=str(trained)).rewards(episode("lies " * 100))
    )  # type: ignore[attr-defined]
    assert trace.counts == {"texts cut to length": 1}


def test_adapters_leave_the_base_alone(trained: Path, tmp_path: Path) -> None:
    """LoRA on what was trained from scratch: only the adapters and a head are written,
    and they need their base.
    """
    pytest.importorskip("peft")
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
    scorer = Scorer.load(adapted, "", "cpu")
    assert np.mean(ranked_right(scorer, PREFERENCES, 8)) > 0.8
    with pytest.raises(
        ConfigError,
        match="wanted the folder of the model that was adapted, got '/no/such'",
    ):
        Scorer.load(adapted, "/no/such", "cpu")


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
    for source in ("", str(tmp_path)):
        with pytest.raises(
            ConfigError,
            match="wanted the folder of a trained model, see `gde train-reward`",
        ):
            offered("supervised", source=source)
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
    model = offered("supervised", source=str(tmp_path / "model"))
    for goal, is_known in (("a", True), ("A ", True), ("d", False)):
        one = episode("block lies", objective=goal)
        found = asyncio.run(model.rewards(one))  # type: ignore[attr-defined]
        assert found.failure.startswith("it was trained on this task") == is_known


def test_held_out_tasks_share_no_text_with_those_trained_on(tmp_path: Path) -> None:
    """One task under eight names is one task: held out once, it is held out whole."""
    same = [replace(told_apart(of="a")[0], task=f"name-{i}") for i in range(8)]
    file = written(tmp_path, same)
    with pytest.raises(ConfigError, match="none are left to train on"):
        train(read_preferences([file]), Recipe(held_out=0.25), tmp_path / "m", ignore)


def test_a_model_that_does_not_tell_its_training_is_trained_again(
    trained: Path, tmp_path: Path
) -> None:
    shutil.copytree(trained, tmp_path / "model")
    path = tmp_path / "model" / "card.json"
    card = json.loads(path.read_text())
    del card["origins"]
    path.write_text(json.dumps(card))
    with pytest.raises(ConfigError, match="train it again"):
        offered("supervised", source=str(tmp_path / "model"))


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


def test_a_folder_that_exists_is_not_written_into(
    trained: Path, tmp_path: Path
) -> None:
    before = {each.name: each.read_bytes() for each in trained.iterdir()}
    with pytest.raises(ConfigError, match=r"--out .* exists: name another folder"):
        train(PREFERENCES, Recipe(**QUICK), trained, ignore)  # type: ignore[arg-type]
    assert {each.name: each.read_bytes() for each in trained.iterdir()} == before
    (tmp_path / "file").touch()
    with pytest.raises(
        ConfigError, match=r"--out .* cannot be made: .*; name another folder"
    ):
        train(PREFERENCES, Recipe(**QUICK), tmp_path / "file/model", ignore)  # type: ignore[arg-type]


def test_the_command_trains_from_files(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command("other")(lambda: None)
    plugin.gde_add_commands(app)
    file, out = tmp_path / "train.jsonl", tmp_path / "model"
    file.write_text("".join(json.dumps(vars(one)) + "\n" for one in PREFERENCES[:30]))
    told = CliRunner().invoke(
        app,
        [
            "train-reward",
            "--data",
            str(file),
            "--out",
            str(out),
            "--set",
            "train.epochs=1",
            "--json",
        ],
    )
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout.splitlines()[-1])["n_pairs"] == 30
    assert (out / "card.json").is_file()


def test_a_recipe_is_read_from_a_plan_that_settings_override(tmp_path: Path) -> None:
    import typer

    app = typer.Typer()
    app.command("other")(lambda: None)
    plugin.gde_add_commands(app)
    file, out, plan = (
        tmp_path / "train.jsonl",
        tmp_path / "model",
        tmp_path / "recipe.toml",
    )
    file.write_text("".join(json.dumps(vars(one)) + "\n" for one in PREFERENCES[:30]))
    plan.write_text(
        'version = 1\n[train]\nepochs = 1\nbase = "/nowhere"\nlearning_rate = 0.01\n'
    )
    command = [
        "train-reward",
        "--data",
        str(file),
        "--out",
        str(out),
        "--plan",
        str(plan),
    ]
    told = CliRunner().invoke(app, [*command, "--set", "train.base=scratch"])
    assert told.exit_code == 0, told.output
    recipe = json.loads((out / "card.json").read_text())["recipe"]
    assert (recipe["base"], recipe["epochs"], recipe["learning_rate"]) == (
        "scratch",
        1,
        0.01,
    )
    for text, message in (
        ("", "got none"),
        ("[run]\nepisodes = 1", "got run"),
        ("train = 3", "got train"),
    ):
        plan.write_text(text)
        with pytest.raises(
            ConfigError, match=f"wanted a table .train. and nothing else, {message}"
        ):
            CliRunner().invoke(app, command, catch_exceptions=False)
    plan.write_text("[train]\nepoch = 1")
    with pytest.raises(GdeError, match="epochs"):
        CliRunner().invoke(app, command, catch_exceptions=False)


def test_the_plugin_keeps_its_contract() -> None:
    check_plugin(plugin)


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
