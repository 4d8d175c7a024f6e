"""The grid under Gymnasium."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from gde.data.cell_map import CellMap
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.testing.context import PlainContext
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.solver.dynamics import ACTIONS
from gde_plugins.gymnasium import GymEnvironment, names

KEY_WORLDS = {
    "gde/KeyDoor-v0": "key-door",
    "gde/KeyNoDoor-v0": "key-no-door",
    "gde/TwoPathKey-v0": "two-path-key",
}
"""With the names of the same worlds in gde."""


def made(name: str = "gde/Grid-v0", **options: Any) -> GymEnvironment:
    environment = gymnasium.make(name, **options).unwrapped
    assert isinstance(environment, GymEnvironment)
    return environment


@pytest.mark.parametrize("render_mode", [None, "rgb_array"])
def test_passes_the_checker_of_gymnasium(render_mode: str | None) -> None:
    check_env(made(size=11, density=0.6, render_mode=render_mode))


@pytest.mark.parametrize("name", KEY_WORLDS)
def test_key_worlds_pass_the_checker_of_gymnasium(name: str) -> None:
    check_env(made(name, render_mode="rgb_array"))


@pytest.mark.parametrize("name", KEY_WORLDS)
def test_key_worlds_are_those_of_the_environment_and_show_their_key(name: str) -> None:
    environment = made(name, render_mode="rgb_array")
    offer = Catalogue.default().find("environment", KEY_WORLDS[name]).offer
    assert (
        environment.reset(seed=3)[0]
        == offer.made(offer.config(), PlainContext()).reset(3).text
    )
    world = environment.environment.world()
    row, column = world.facts["key"]  # type: ignore[misc, index]
    picture = environment.render()
    assert picture is not None
    tile = picture[row * 32 : row * 32 + 32, column * 32 : column * 32 + 32]
    assert (tile == [255, 255, 0]).all(axis=-1).any()  # a yellow key


@pytest.mark.parametrize("name", ["gde_plugins.gymnasium:gde/Grid-v0", "gde/Grid-v0"])
def test_a_fresh_process_knows_the_name(name: str) -> None:
    load = "" if ":" in name else "import gde_plugins.gymnasium;"
    program = f"import gymnasium;{load} print(gymnasium.make({name!r}, size=5).reset(seed=1)[0])"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == GridEnvironment(GridConfig(size=5)).reset(1).text + "\n"


def test_same_seed_same_grid_as_the_environment() -> None:
    assert (
        made(size=9).reset(seed=3)[0]
        == GridEnvironment(GridConfig(size=9)).reset(3).text
    )


def test_without_seed_worlds_differ_and_are_repeatable() -> None:
    environment = made()
    first = [environment.reset(seed=1)[0], *(environment.reset()[0] for _ in range(5))]
    assert len(set(first)) == 6
    assert [
        environment.reset(seed=1)[0],
        *(environment.reset()[0] for _ in range(5)),
    ] == first


def test_actions_are_those_of_the_grid() -> None:
    environment = made(size=9, min_distance=8)
    reference = GridEnvironment(GridConfig(size=9, min_distance=8))
    environment.reset(seed=4)
    reference.reset(4)
    for action, name in enumerate(ACTIONS):
        text, reward, terminated, truncated, info = environment.step(np.int64(action))
        outcome = reference.step(name)
        assert (text, reward, terminated, truncated) == (
            outcome.observation.text,
            outcome.reward,
            outcome.terminated,
            False,
        )
        assert info["action_mask"].tolist() == [1, 1, 1, 1]
        assert environment.action_space.sample(info["action_mask"]) in range(4)


def test_truncated_at_the_horizon_of_the_task() -> None:
    environment = made(size=15, density=1.0, min_distance=20)
    environment.reset(seed=0)
    # One way and back again never gets there.
    ends = [
        environment.step(np.int64(turn % 2))[2:4]
        for turn in range(environment.environment.task().horizon)
    ]
    assert ends == [(False, False)] * (len(ends) - 1) + [(False, True)]


def test_picture_only_where_asked_for() -> None:
    silent, drawn = made(size=5), made(size=5, render_mode="rgb_array")
    for environment in (silent, drawn):
        environment.reset(seed=0)
    assert silent.render() is None
    picture = drawn.render()
    assert picture is not None
    assert picture.shape == (160, 160, 3)
    assert picture.dtype == np.uint8


def test_unknown_render_mode() -> None:
    with pytest.raises(
        ValueError,
        match="render_mode: wanted ansi, human, rgb_array or None, got 'video'",
    ):
        made(render_mode="video")
    with pytest.raises(
        ValueError, match="render_mode: wanted ansi, human or None, got 'rgb_array'"
    ):
        GymEnvironment(GridEnvironment(GridConfig()), ACTIONS, render_mode="rgb_array")
    with pytest.raises(
        ValueError, match="observations: wanted text, map, dict, got 'pixels'"
    ):
        made(observations="pixels")


def test_text_is_rendered_or_written_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ansi, human = made(size=5, render_mode="ansi"), made(size=5, render_mode="human")
    assert ansi.reset(seed=1)[0] == ansi.render()
    assert capsys.readouterr().out == ""
    text = human.reset(seed=1)[0]
    assert (human.render(), capsys.readouterr().out) == (None, f"{text}\n\n")


@pytest.mark.parametrize("name", ["gde/Grid-v0", *KEY_WORLDS])
@pytest.mark.parametrize("observations", ["map", "dict"])
def test_maps_pass_the_checker_and_hold_the_agent_once(
    name: str, observations: str
) -> None:
    environment = made(name, observations=observations)
    check_env(environment, skip_render_check=True)
    shown, info = environment.reset(seed=2)
    planes = shown if observations == "map" else shown["map"]
    world: Any = environment.environment
    kinds = CellMap.from_record(world.world(), world.state()).kinds
    assert planes[kinds.index("agent")].sum() == planes[kinds.index("goal")].sum() == 1
    assert (planes.sum(axis=0) <= 1).all()
    if observations == "dict":
        assert shown["actions"].tolist() == info["action_mask"].tolist()


def test_a_map_moves_with_the_agent() -> None:
    environment = made(size=7, density=0.0, min_distance=3, observations="map")
    world: Any = environment.environment
    moved = 0
    for action in range(4):
        before = environment.reset(seed=0)[0]
        after = environment.step(np.int64(action))[0]
        agent = CellMap.from_record(world.world(), world.state()).kinds.index("agent")
        assert after[agent, *world.state().facts["agent"]] == 1
        moved += bool((after[agent] != before[agent]).any())
    assert moved >= 2


@pytest.mark.slow
@pytest.mark.outside
def test_a_policy_of_stable_baselines_learns_small_grids() -> None:
    """Beside a policy that was never trained, in worlds that neither was trained on."""
    ppo = pytest.importorskip(
        "stable_baselines3", reason="`nox -s bridges` installs it"
    ).PPO
    environment = gymnasium.make(
        "gde/Grid-v0", size=5, density=0.0, horizon_factor=4.0, observations="map"
    )
    model = ppo(
        "MlpPolicy",
        environment,
        seed=0,
        n_steps=512,
        batch_size=128,
        gamma=0.9,
        learning_rate=1e-3,
    )
    before = reached(model, environment)
    model.learn(4096)
    assert before < 0.5 < 0.9 < reached(model, environment)


def reached(model: Any, environment: Any, worlds: int = 100) -> float:
    """The share of worlds in which the goal is reached, the likeliest action being
    taken.
    """
    found = 0
    for world in range(worlds):
        shown, ended = environment.reset(seed=10_000 + world)[0], False
        while not ended:
            shown, _, terminated, truncated, _ = environment.step(
                model.predict(shown, deterministic=True)[0]
            )
            ended = terminated or truncated
        found += terminated
    return found / worlds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 8}, "gde/Grid-v0: wanted an odd size"),
        ({"sice": 9}, "unknown field of gde/Grid-v0 'sice'.*size"),
    ],
)
def test_refused_options(options: dict[str, int], message: str) -> None:
    with pytest.raises(GdeError, match=message):
        made(**options)


def test_a_plugin_that_cannot_register_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = EntryPoint(
        name="broken",
        value="gde.no_such_module:register",
        group=names.GROUP,
    )
    monkeypatch.setattr(names, "entry_points", lambda group: [broken])
    with pytest.warns(
        UserWarning,
        match="gde.no_such_module:register cannot register with Gymnasium: No module named",
    ):
        names.register_environments()
