"""A tiny player is trained, written, loaded again, acts and answers."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("minigrid")

from babyai_player import training  # noqa: E402
from babyai_player.__main__ import main  # noqa: E402
from babyai_player.folder import CARD, WEIGHTS, read_player  # noqa: E402
from babyai_player.network import Network  # noqa: E402
from babyai_player.reading import vocabulary  # noqa: E402
from babyai_player.walks import Walk, walks_in  # noqa: E402

from gde.cli.main import build_app  # noqa: E402
from gde.errors import ConfigError  # noqa: E402

TINY = training.Recipe(levels=("GoToObj",), worlds=2, held_out=1, steps=2, batch_size=4)


@pytest.fixture(scope="module")
def walks() -> list[Walk]:
    return [walk for seed in range(6) for walk in walks_in("PutNextLocal", seed)]


@pytest.fixture(scope="module")
def network(walks: list[Walk]) -> Network:
    torch.manual_seed(0)
    return Network(vocabulary(walk.lines for walk in walks))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "player"
    training.train(TINY, out, lambda *_: None)
    return out


def test_a_training_repeats_and_is_scored_in_other_worlds(
    folder: Path, tmp_path: Path
) -> None:
    training.train(TINY, tmp_path / "again", lambda *_: None)
    for name in (WEIGHTS, CARD):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    recipe = training.Recipe(worlds=12, held_out=12)
    trained = {name for name, _ in training._walks(recipe, training.FIRST_SEED, 12)}
    held_out = {name for name, _ in training._walks(recipe, 1, 12)}
    assert len(trained) == len(held_out) == 12
    assert not trained & held_out


def test_an_update_lowers_the_loss(walks: list[Walk], network: Network) -> None:
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    losses = []
    for _ in range(8):
        loss = training._loss(network, walks)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_a_moment_sees_no_later_one(network: Network, walks: list[Walk]) -> None:
    walk = max(walks, key=lambda walk: len(walk.moments))
    network.eval()
    with torch.inference_mode():
        whole, _ = network(network.batch([(walk.lines, walk.moments)]))
        begun, _ = network(network.batch([(walk.lines, walk.moments[:3])]))
    torch.testing.assert_close(whole[:, :3], begun, atol=1e-4, rtol=0)


def test_weights_that_are_not_the_cards_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="wanted the folder of a trained player"):
        read_player(tmp_path)
    weights = bytearray((folder / WEIGHTS).read_bytes())
    weights[-1] ^= 1
    (tmp_path / WEIGHTS).write_bytes(weights)
    (tmp_path / CARD).write_bytes((folder / CARD).read_bytes())
    with pytest.raises(ConfigError, match="not what its card says: train it again"):
        read_player(tmp_path)


def test_it_is_trained_acts_and_answers_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "babyai_player")
    quick = ("--out", "player", "--steps", "1", "--worlds", "1", "--held-out", "1")
    monkeypatch.setattr(sys, "argv", ["babyai_player", *quick])
    main()
    assert "step 1/1: loss" in capsys.readouterr().out

    asked = ("--agent", "babyai-learned", "--episodes", "2", "--json")
    for environment in ("babyai", "babyai-plan"):
        # An untrained walk may leave the grid, which is an answer that counts as wrong.
        done = CliRunner().invoke(build_app(), ["eval", "--env", environment, *asked])
        shown = json.loads(done.stdout)
        found = {each["name"]: each for each in shown["measurements"]}
        assert found["success"]["n"] == 2
