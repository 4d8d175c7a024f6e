"""A tiny player is trained, written, loaded again, acts and answers."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from asking import episode  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

from gde import Plan, evaluate  # noqa: E402
from gde.data.observation import Observation, Task  # noqa: E402
from gde.errors import ConfigError, GdeError  # noqa: E402
from gde.parts.agent import Brief  # noqa: E402
from gde_plugins.babyai import plugin  # noqa: E402
from gde_plugins.babyai.agents.learned import LearnedPlayer, _subgoals  # noqa: E402
from gde_plugins.babyai.config import BabyAIConfig, LearnedConfig, PlayerRecipe  # noqa: E402
from gde_plugins.babyai.environment import BabyAIEnvironment  # noqa: E402
from gde_plugins.babyai.learned import training  # noqa: E402
from gde_plugins.babyai.learned.folder import CARD, WEIGHTS, read_player, write_player  # noqa: E402
from gde_plugins.babyai.learned.network import Network  # noqa: E402
from gde_plugins.babyai.learned.reading import (  # noqa: E402
    EFFECTS,
    Moment,
    Pose,
    effect_of,
    read_lines,
    read_pose,
    vocabulary,
)
from gde_plugins.babyai.learned.walks import DONE, Walk, pose_of, walks_in  # noqa: E402
from gde_plugins.babyai.worlds.generation import make_scene  # noqa: E402
from gde_plugins.babyai.worlds.levels import PAPER_LEVELS  # noqa: E402
from gde_plugins.babyai.worlds.simulation import Simulation  # noqa: E402

ONE_ROOM = PAPER_LEVELS[:6]
TINY = PlayerRecipe(levels=("GoToObj",), worlds=2, held_out=1, steps=2, batch_size=4)


@pytest.fixture(scope="module")
def walks() -> list[Walk]:
    return [walk for level in ONE_ROOM for walk in walks_in(level, 7)]


@pytest.fixture(scope="module")
def network(walks: list[Walk]) -> Network:
    torch.manual_seed(0)
    return Network(vocabulary(walk.lines for walk in walks)).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "player"
    training.train(TINY, out, lambda *_: None)
    return out


def player(folder: Path) -> LearnedPlayer:
    return LearnedPlayer(LearnedConfig(source=str(folder)))


@pytest.mark.parametrize("direction", range(4))
def test_a_pose_sees_its_front_ahead_and_its_right_to_the_right(direction: int) -> None:
    pose = Pose(5, 9, direction)
    assert pose.sees(pose.front) == (1, 0)
    right = replace(pose, direction=(direction + 1) % 4)
    assert pose.sees(right.front) == (0, 1)
    for effect in EFFECTS:
        assert effect_of(pose, pose.after(effect)) == effect


def test_the_lines_tell_every_thing_with_its_place() -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="PutNextLocal"))
    text = world.reset(3).text
    scene = world.now.scene
    assert read_pose(text) == pose_of(world.now)
    told = {line.place: line.words for line in read_lines(text)}
    for thing, cell in zip(scene.things, world.now.where, strict=True):
        words = told[scene.place(cell)]
        assert {thing.kind, thing.color} <= {*words}
    corners = {(0, 0), (scene.width - 1, scene.height - 1)}
    assert corners <= told.keys()


def test_walks_follow_the_rules_and_the_advice_ends_them(walks: list[Walk]) -> None:
    n_done = n_bumps = 0
    for level in ONE_ROOM:
        scene = make_scene(level, 7, "3.0")
        for walk in walks_in(level, 7):
            assert len(walk.moments) == len(walk.advice)
            now = Simulation(scene)
            # A walk to a cell may fulfil the mission on its way, which ends this one.
            for moment in walk.moments[1:]:
                if now.over:
                    break
                before = pose_of(now)
                now.act(moment.action)
                assert pose_of(now) == moment.pose
                n_bumps += moment.action == "forward" and before == moment.pose
            assert DONE not in walk.advice[:-1]
            n_done += walk.advice[-1] == DONE
    assert n_done > 15
    assert n_bumps > 5


def test_a_moment_sees_no_later_one_and_padding_changes_nothing(
    network: Network, walks: list[Walk]
) -> None:
    long = max(walks, key=lambda walk: len(walk.moments))
    short = min(walks, key=lambda walk: len(walk.lines))
    together = network.batch([(one.lines, one.moments) for one in (long, short)])
    first = network.batch([(long.lines, long.moments[:3])])
    alone = network.batch([(short.lines, short.moments)])
    with torch.inference_mode():
        advice, effects = network(together)
        for row, one in enumerate((first, alone)):
            n = one.actions.shape[1]
            expected, foreseen = network(one)
            torch.testing.assert_close(advice[row, :n], expected[0], atol=1e-4, rtol=0)
            torch.testing.assert_close(effects[row, :n], foreseen[0], atol=1e-4, rtol=0)


def test_the_same_world_turned_round_is_the_same_to_the_network(
    network: Network, walks: list[Walk]
) -> None:
    walk = walks[0]
    first = walk.moments[0].pose

    def turned(place: tuple[int, int]) -> tuple[int, int]:
        ahead, right = first.sees(place)
        return 20 - right, 20 + ahead

    lines = [
        replace(line, place=line.place and turned(line.place)) for line in walk.lines
    ]
    moments = []
    for moment in walk.moments:
        x, y = turned((moment.pose.x, moment.pose.y))
        direction = (moment.pose.direction - first.direction + 1) % 4
        moments.append(replace(moment, pose=Pose(x, y, direction)))
    ours = network.batch([(walk.lines, walk.moments)])
    theirs = network.batch([(lines, moments)])
    assert torch.equal(ours.places, theirs.places)
    assert torch.equal(ours.poses, theirs.poses)


def test_a_player_is_loaded_as_it_was_written(
    tmp_path: Path, network: Network, walks: list[Walk]
) -> None:
    write_player(tmp_path, network, {}, [])
    assert (tmp_path / WEIGHTS).stat().st_size < 1_200_000
    loaded = read_player(tmp_path).eval()
    batch = network.batch([(walks[0].lines, walks[0].moments)])
    with torch.inference_mode():
        for ours, theirs in zip(network(batch), loaded(batch), strict=True):
            assert torch.equal(ours, theirs)


def test_other_weights_versions_and_folders_are_refused(
    tmp_path: Path, network: Network
) -> None:
    with pytest.raises(ConfigError, match="wanted the folder of `gde babyai train`"):
        read_player(tmp_path)
    write_player(tmp_path, network, {}, [])
    weights = tmp_path / WEIGHTS
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ConfigError, match="not what its card says: train it again"):
        read_player(tmp_path)
    weights.write_bytes(content)
    card = json.loads((tmp_path / CARD).read_text())
    changes = ({"version": 0}, "version 0"), ({"vocabulary": ["ball"]}, "does not fit")
    for change, message in changes:
        (tmp_path / CARD).write_text(json.dumps({**card, **change}))
        with pytest.raises(ConfigError, match=message):
            read_player(tmp_path)


def test_training_has_scores_in_held_out_worlds_and_repeats(
    folder: Path, tmp_path: Path
) -> None:
    scores = json.loads((folder / CARD).read_text())["scores"]
    assert [row["step"] for row in scores] == [1, 2]
    training.train(TINY, tmp_path / "again", lambda *_: None)
    for name in (WEIGHTS, CARD):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_held_out_worlds_are_no_training_worlds() -> None:
    recipe = PlayerRecipe(levels=ONE_ROOM, worlds=12, held_out=12)
    trained = {name for name, _ in training._walks(recipe, training.FIRST_SEED, 12)}
    held_out = {name for name, _ in training._walks(recipe, 1, 12)}
    assert len(trained) == len(held_out) == 12
    assert not trained & held_out


def test_it_plays_from_the_text_alone(folder: Path) -> None:
    world = BabyAIEnvironment(BabyAIConfig(level="GoToObj"))
    agent = player(folder)
    shown = world.reset(5)
    agent.begin(Brief(task=world.task(), seed=5, environment=None))
    for _ in range(4):
        decision = asyncio.run(agent.act(shown))
        assert decision.action in (shown.actions or ())
        if world.now.over:
            break
        shown = world.step(decision.action or "").observation


@pytest.mark.parametrize("task", ["predict", "plan", "decompose"])
def test_its_answers_can_be_read(task: str, folder: Path) -> None:
    answered = episode(task, "PickupLoc", 3, player(folder))
    scores = answered.final_state.facts["scores"]
    # A walk that is badly imagined may leave the grid.
    assert scores["reading"] in ("ok", "outside_grid")


def test_subgoals_name_the_cells_of_what_hands_do() -> None:
    walk = [Moment("", Pose(1, 1, 0))]
    for action, effect in (
        ("forward", "moves"),
        ("pickup", "stays"),
        ("left", "left"),
        ("drop", "stays"),
        ("right", "right"),
    ):
        walk.append(Moment(action, walk[-1].pose.after(effect)))
    assert _subgoals(walk) == [
        "(GoNextToSubgoal, (3, 1))",
        "(PickupSubgoal)",
        "(GoNextToSubgoal, (2, 0))",
        "(DropSubgoal)",
        "(GoNextToSubgoal, (3, 1))",
    ]


def test_other_texts_are_refused_with_what_to_set(folder: Path) -> None:
    agent = player(folder)
    agent.begin(Brief(task=Task(objective="", horizon=1), seed=0, environment=None))
    decision = asyncio.run(agent.act(Observation(text="The world is made of 1 room.")))
    assert decision.status == "error"
    assert "set env.format=structured" in decision.detail


def test_the_command_trains_and_refuses(tmp_path: Path, folder: Path) -> None:
    app = typer.Typer()
    plugin.gde_add_commands(app)
    runner = CliRunner()
    quick = ["--steps", "1", "--worlds", "1", "--set", "train.held_out=1"]
    command = ["babyai", "train", "--out", str(tmp_path / "p"), *quick]
    done = runner.invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scores"][0]["step"] == 1
    again = runner.invoke(app, command)
    assert isinstance(again.exception, ConfigError)
    assert "exists" in str(again.exception)


def test_an_update_lowers_the_loss(walks: list[Walk], network: Network) -> None:
    torch.manual_seed(0)
    fresh = Network([*network.numbers])
    optimiser = torch.optim.AdamW(fresh.parameters(), lr=3e-3)
    losses = []
    for _ in range(8):
        loss = training._loss(fresh, walks)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_other_worlds_are_refused(tmp_path: Path) -> None:
    plan = Plan(environment="grid", agent="babyai-learned", episodes=1)
    with pytest.raises(GdeError, match=r"babyai-learned needs .*'babyai-text'"):
        evaluate(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()
