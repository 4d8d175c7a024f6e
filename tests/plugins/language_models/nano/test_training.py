"""Samples, batches, schedule and a short training."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
from typer.testing import CliRunner, Result

from gde.errors import ConfigError, UnknownName
from gde.numerics.tabular import solve
from gde.parts.context import OutsideRun
from gde.request.catalogue import Catalogue
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.language_models.local_weights import digests
from gde_plugins.language_models.nano import folder
from gde_plugins.language_models.nano.architecture import untrained_model
from gde_plugins.language_models.nano.commands import add_commands
from gde_plugins.language_models.nano.losses import (
    IGNORED,
    Heads,
    Losses,
    collate,
    measure,
)
from gde_plugins.language_models.nano.recipe import (
    PHASES,
    SHIPPED_STEPS,
    Recipe,
    learning_rate,
    phase,
)
from gde_plugins.language_models.nano.samples import (
    INSTRUCTION,
    Kind,
    Sample,
    draw_sample,
)
from gde_plugins.language_models.nano.tokenizer import build_tokenizer
from gde_plugins.language_models.nano.training import (
    POOL,
    Pools,
    draw_pool,
    train,
)
from gde_plugins.language_models.nano.walks import GridWorld, Scene, draw_scene

pytestmark = pytest.mark.extended

TOKENIZER: Any = build_tokenizer()


def make(**options: Any) -> GridWorld:
    offer = Catalogue.default().find("environment", "grid").offer
    made: GridWorld = offer.made(GridConfig(**options), OutsideRun())
    return made


def scene(n_earlier: int, size: int = 7, seed: int = 0) -> Scene:
    rng = np.random.default_rng(seed)
    return draw_scene(make, size, 0.8, seed=seed, n_earlier=n_earlier, rng=rng)


def draw(
    kind: Kind = "episode", size: int = 7, seed: int = 0, n_earlier: int = 0
) -> Sample:
    rng = np.random.default_rng(seed)
    return draw_sample(kind, scene(n_earlier, size, seed), rng)


@pytest.mark.parametrize("kind", ["episode", "practice"])
@pytest.mark.parametrize("size", [5, 9, 15])
def test_the_tokens_of_a_sample_are_those_of_its_text(kind: Kind, size: int) -> None:
    sample = draw(kind, size)
    ids = TOKENIZER.encode("".join(sample.tokens), add_special_tokens=False)
    assert TOKENIZER.convert_ids_to_tokens(ids) == list(sample.tokens)


def test_an_episode_names_agent_and_goal_and_ends_in_an_answer() -> None:
    sample = draw()
    (row, column), (goal_row, goal_column) = (
        sample.grid.place_of("agent"),
        sample.grid.place_of("goal"),
    )
    said = "".join(sample.tokens)
    assert said.startswith(
        f"<|channel|>analysis<|message|> A {row},{column} G {goal_row},{goal_column} path"
    )
    assert said.split('{"action": "')[1] in {
        f'{move}"}}<|return|>' for move in ("UP", "DOWN", "LEFT", "RIGHT")
    }


@pytest.mark.parametrize("n_earlier", [0, 2])
def test_a_batch_knows_where_present_cells_and_traces_are(n_earlier: int) -> None:
    drawn = [draw(seed=seed, n_earlier=n_earlier) for seed in range(9)]
    samples = [sample for sample in drawn if sample.notes][:3]
    batch = collate(samples, TOKENIZER)
    for row, sample in enumerate(samples):
        tokens = TOKENIZER.convert_ids_to_tokens(batch.tokens[row].tolist())
        where = {
            tuple(cell.tolist()): tokens[place].strip()
            for place, cell in enumerate(batch.cells)
            if cell[0] >= 0
        }
        assert len(where) == 49
        assert [cell for cell, symbol in where.items() if symbol == "A"] == [
            sample.grid.place_of("agent")
        ]
        assert {cell for cell, symbol in where.items() if symbol == "#"} == set(
            map(tuple, np.argwhere(sample.grid.where("wall")).tolist())
        )
        traced = [
            tokens[place]
            for place in range(len(tokens))
            if batch.notes[row, place, 0] != IGNORED
        ]
        ends = [
            " {},{}".format(*sample.grid.place_of(name)) for name in ("agent", "goal")
        ]
        assert [traced[0], traced[-1]] == ends
        said = batch.targets[row][batch.targets[row] != IGNORED].tolist()
        assert TOKENIZER.convert_ids_to_tokens(said) == list(sample.tokens)


def pools(recipe: Recipe) -> list[list[Sample]]:
    firsts = range(0, recipe.steps, POOL)
    return [batch for first in firsts for batch in draw_pool(recipe, make, first)]


def prompts(recipe: Recipe) -> list[list[str]]:
    return [[sample.prompt for sample in batch] for batch in pools(recipe)]


def test_earlier_turns_stand_in_the_prompt_as_the_agent_asks_with_a_history() -> None:
    shown = scene(2)
    messages = []
    for turn in shown.earlier:
        messages.append({"role": "user", "content": INSTRUCTION + turn.text})
        said = f'{{"action": "{turn.move}"}}'
        messages.append({"role": "assistant", "content": said})
    messages.append({"role": "user", "content": INSTRUCTION + shown.text})
    sample = draw_sample("episode", shown, np.random.default_rng(0))
    effort = sample.prompt.split("Reasoning: ")[1].split("<")[0]
    assert sample.prompt == TOKENIZER.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, reasoning_effort=effort
    )


def test_on_some_walks_the_goal_moves_on_some_the_agent_is_put_back() -> None:
    moved = put_back = 0
    for seed in range(60):
        shown = scene(1, seed=seed)
        before, now = (_cells(text) for text in (shown.earlier[0].text, shown.text))
        moved += before["G"] != now["G"]
        put_back += (
            sum(abs(a - b) for a, b in zip(before["A"], now["A"], strict=True)) > 1
        )
    assert 5 < moved < 30
    assert 1 < put_back < 30  # after a single action it is one cell away


def _cells(text: str) -> dict[str, tuple[int, int]]:
    rows = [line.split()[1:] for line in text.splitlines()[1:]]
    return {
        symbol: (row, line.index(symbol))
        for row, line in enumerate(rows)
        for symbol in "AG"
        if symbol in line
    }


def test_pools_without_earlier_turns_are_those_of_a_recipe_without() -> None:
    few, many = (Recipe(steps=40, tokens=300, turns=turns) for turns in (0, 2))
    same = [
        one == other for one, other in zip(prompts(few), prompts(many), strict=True)
    ]
    assert True in same
    assert False in same


def test_other_processes_draw_the_same_batches() -> None:
    data = Pools(Recipe(steps=8, tokens=300, turns=1), make, TOKENIZER)
    there = DataLoader(data, batch_size=None, num_workers=2)
    for here, drawn in zip((data[0], data[1]), there, strict=True):
        assert all(
            torch.equal(one.tokens, other.tokens)
            and torch.equal(one.targets, other.targets)
            for one, other in zip(here, drawn, strict=True)
        )


def test_a_training_goes_on_from_trained_weights(tmp_path: Path) -> None:
    losses: list[float] = []

    def note(_: int, now: Losses) -> None:
        losses.append(now.token.item())

    recipe = Recipe(steps=2, tokens=600, turns=1, start=folder())
    train(recipe, make, tmp_path / "model", note)
    assert losses[0] < 1  # of new weights it is above 6
    assert digests(tmp_path / "model")["weights"] != digests(folder())["weights"]
    assert learning_rate(recipe, 0) < learning_rate(Recipe(steps=2), 0)


def test_the_same_recipe_gives_the_same_samples_and_another_seed_others() -> None:
    first, again, other = (
        prompts(Recipe(steps=8, tokens=500, seed=seed)) for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_batches_of_a_pool_share_a_size_and_there_are_as_many_as_steps() -> None:
    drawn = pools(Recipe(steps=6, tokens=500))
    assert len(drawn) == 6
    assert {sample.grid.height for batch in drawn[:POOL] for sample in batch} == {
        drawn[0][0].grid.height
    }


def test_the_learning_rate_rises_holds_and_falls() -> None:
    rates = [learning_rate(Recipe(), step) for step in range(SHIPPED_STEPS)]
    assert rates[:200] == sorted(rates[:200])
    assert set(rates[200:3000]) == {max(rates)}
    assert rates[3000:4250] == sorted(rates[3000:4250], reverse=True)
    assert 0 < rates[-1] < 0.03 * max(rates)


def test_phases_follow_each_other_at_any_length() -> None:
    recipe = Recipe(steps=100)
    met = [phase(recipe, step) for step in range(100)]
    assert list(dict.fromkeys(met)) == list(PHASES)
    assert max(met[0].sizes) < max(met[-1].sizes) == 15


def test_twenty_steps_lower_the_loss_and_leave_a_model(tmp_path: Path) -> None:
    seen: list[int] = []
    random_state = torch.random.get_rng_state()
    train(
        Recipe(steps=20, tokens=600),
        make,
        tmp_path / "model",
        lambda step, _: seen.append(step),
    )
    assert seen == list(range(1, 21))
    assert torch.equal(random_state, torch.random.get_rng_state())
    automatic: Any = AutoModelForCausalLM
    model = automatic.from_pretrained(tmp_path / "model")
    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "model")
    batch = collate([draw(seed=seed) for seed in range(4)], tokenizer)
    before = measure(untrained_model(TOKENIZER, 0), Heads(), batch).token.item()
    assert measure(model, Heads(), batch).token.item() < 0.8 * before


def nano_command(*arguments: str) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    add_commands(app)
    return CliRunner().invoke(app, ["nano", *arguments])


def nano_train(*arguments: str) -> Result:
    return nano_command("train", *arguments)


def test_the_command_trains_on_grids_of_the_catalogue(tmp_path: Path) -> None:
    outcome = nano_train("--out", str(tmp_path / "model"), "--steps", "2")
    assert outcome.exit_code == 0
    assert "step 2/2" in outcome.stderr
    assert (tmp_path / "model" / "model.safetensors").exists()


def test_the_command_refuses_a_folder_that_exists(tmp_path: Path) -> None:
    outcome = nano_train("--out", str(tmp_path))
    assert isinstance(outcome.exception, ConfigError)
    assert "the folder exists; choose another name" in str(outcome.exception)


def test_what_is_no_model_cannot_be_trained_further(tmp_path: Path) -> None:
    outcome = nano_train("--out", str(tmp_path / "model"), "--start", str(tmp_path))
    assert isinstance(outcome.exception, ConfigError)
    assert "wanted an embedded model, e.g. nano, or a folder" in str(outcome.exception)


def test_earlier_turns_want_an_environment_that_can_move_things(
    tmp_path: Path,
) -> None:
    outcome = nano_train(
        "--out", str(tmp_path / "model"), "--env", "two-path-key", "--turns", "1"
    )
    assert isinstance(outcome.exception, ConfigError)
    assert "perturbation_turn" in str(outcome.exception)


def test_the_command_refuses_an_environment_that_nobody_offers(tmp_path: Path) -> None:
    outcome = nano_train("--out", str(tmp_path / "model"), "--env", "nowhere")
    assert isinstance(outcome.exception, UnknownName)
    assert "grid" in str(outcome.exception)


def test_at_low_effort_the_answer_comes_at_once_and_at_others_after_the_search() -> (
    None
):
    met: dict[str, set[bool]] = {}
    for seed in range(24):
        sample = draw(seed=seed)
        effort = sample.prompt.split("Reasoning: ")[1].split("<")[0]
        met.setdefault(effort, set()).add("analysis" in sample.tokens)
        environment = GridEnvironment(GridConfig(size=7, density=0.8))
        environment.reset(seed)
        mdp = environment.mdp()
        state = environment.state().index
        assert state is not None
        move = sample.tokens[-3]
        assert move in {mdp.actions[a] for a in solve(mdp).optimal[state].nonzero()[0]}
    assert met == {"low": {False}, "medium": {True}, "high": {True}}


def test_a_batch_that_answers_at_once_has_nothing_to_look_at() -> None:
    drawn = [draw(seed=n) for n in range(30)]
    batch = collate([sample for sample in drawn if not sample.notes], TOKENIZER)
    losses = measure(untrained_model(TOKENIZER, 0), Heads(), batch)
    assert losses.look.item() == 0
    assert torch.isfinite(losses.token) and torch.isfinite(losses.ends)


def test_without_auxiliary_losses_the_model_is_another_from_the_same_start(
    tmp_path: Path,
) -> None:
    seen: dict[bool, list[float]] = {True: [], False: []}
    for auxiliary, losses in seen.items():
        recipe = Recipe(steps=3, tokens=300, auxiliary=auxiliary)
        train(
            recipe,
            make,
            tmp_path / str(auxiliary),
            lambda _, now, losses=losses: losses.append(now.token.item()),
        )
    assert seen[True][0] == seen[False][0]
    assert seen[True][-1] != seen[False][-1]
