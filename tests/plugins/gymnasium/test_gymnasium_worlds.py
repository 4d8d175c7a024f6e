"""Gymnasium's environments as environments of a plan."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from gde import (
    Capability,
    Choice,
    Environment,
    GdeError,
    HasMDP,
    How,
    Observation,
    Offer,
    Plan,
    evaluate,
    load_evidence,
)
from gde.numerics.tabular import solve
from gde.request.planfile import plan_hash
from gde.request.settings import build
from gde.runs.exporting import trajectory_json
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.gymnasium import from_gymnasium
from gde_plugins.gymnasium.text import readable, unpainted
from gde_plugins.gymnasium.worlds import TabulatedWorld

LAKE, EMPTY = "FrozenLake-v1", "minigrid:MiniGrid-Empty-5x5-v0"
MOVES = ("LEFT", "DOWN", "RIGHT", "UP")


def made(choice: Choice) -> Any:
    offer = choice.part
    assert isinstance(offer, Offer)
    return offer.made(build(offer.config, choice.config, "env"), PlainContext())


def reached(reward: float, terminated: bool, info: Mapping[str, Any]) -> float:
    return float(terminated)


class Cards(gymnasium.Env[Any, Any]):
    """No spec, no names, a start that is not 0, and observations of every sort."""

    action_space = spaces.Discrete(2, start=5)
    observation_space = spaces.Dict(
        {"hand": spaces.Box(0, 9, (2, 2)), "told": spaces.Text(9)}
    )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.hand = self.np_random.integers(0, 9, (2, 2))
        return self._shown(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Any]:
        assert action in {5, 6}
        self.hand += 1
        return (
            self._shown(),
            -1.0,
            bool(self.hand.sum() > 30),
            False,
            {"won": action == 6},
        )

    def _shown(self) -> Any:
        return {"hand": self.hand.copy(), "told": "yours"}


@pytest.mark.parametrize(
    "choice",
    [
        from_gymnasium(LAKE, actions=MOVES),
        from_gymnasium(LAKE, is_slippery=False, map_name="8x8"),
        from_gymnasium("CliffWalking-v1", success=reached),
        from_gymnasium("Taxi-v4"),
        from_gymnasium("Blackjack-v1"),
        from_gymnasium(EMPTY),
        from_gymnasium("minigrid:MiniGrid-MultiRoom-N2-S4-v0"),
        from_gymnasium(Cards),
        from_gymnasium(gymnasium.make(LAKE, is_slippery=False)),
    ],
    ids=lambda choice: choice.label,
)
def test_every_promise_of_an_environment_is_kept(choice: Choice) -> None:
    check_environment(lambda: made(choice))


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_an_agent_that_knows_the_table_is_optimal(
    executor: str, tmp_path: Path
) -> None:
    lake = from_gymnasium(LAKE, actions=MOVES, is_slippery=False)
    metrics = ["success", "accuracy", "length"]
    plan = Plan(
        environment=lake,
        agent="optimal",
        metrics=metrics,
        episodes=4,
    )
    result = evaluate(plan, tmp_path / "run", how=How(executor=executor))
    assert result.status == "ok"
    values = {each.name: each.value for each in result.measurements}
    assert (values["success"], values["accuracy"], values["length"]) == (1.0, 1.0, 6.0)


def test_a_function_walks_a_minigrid(tmp_path: Path) -> None:
    def walk(observation: Observation) -> str:
        return "right" if observation.text.splitlines()[1][0] == "W" else "forward"

    room = from_gymnasium(EMPTY, text=ahead)
    result = evaluate(
        Plan(
            environment=room,
            agent=walk,
            metrics=["success", "length"],
            episodes=2,
        ),
        tmp_path / "run",
    )
    assert {each.name: each.value for each in result.measurements} == {
        "success": 1.0,
        "length": 5.0,
    }


class Shortest:
    """A policy over the numbers of FrozenLake's states, as a library has them."""

    def __init__(self, choices: list[int]) -> None:
        self.choices = np.array(choices)

    def predict(self, observation: Any) -> tuple[Any, None]:
        assert isinstance(observation, int | np.integer)
        return self.choices[observation], None


def test_a_policy_is_shown_the_environment_s_own_observation(tmp_path: Path) -> None:
    lake = from_gymnasium(LAKE, actions=MOVES, is_slippery=False)
    mdp = made(lake)
    mdp.reset(0)
    best = solve(mdp.mdp()).optimal.argmax(axis=1).tolist()
    plan = Plan(
        environment=lake,
        agent=Shortest(best),
        metrics=["success", "length"],
        episodes=2,
    )
    result = evaluate(plan, tmp_path / "run")
    values = {each.name: each.value for each in result.measurements}
    assert values == {"success": 1.0, "length": 6.0}
    (first, _) = load_evidence(result.run).trajectories
    assert [turn.observation.raw for turn in first.turns] == [None] * 6
    shown = trajectory_json(first)["turns"][0]["observation"]
    assert set(shown) == {"text", "actions"}


def test_an_environment_of_gymnasium_is_refused_with_what_makes_one_of_gde() -> None:
    with pytest.raises(
        GdeError, match=r"wanted .*from_gymnasium\(ENV\), got one without task$"
    ):
        evaluate(Plan(environment=gymnasium.make(LAKE), agent="random"))


def ahead(observation: Any, environment: Any) -> str:
    cell = environment.unwrapped.grid.get(*environment.unwrapped.front_pos)
    return f"{observation['mission']}\n{'W' if cell is not None and cell.type == 'wall' else 'free'}"


def test_capabilities_are_those_of_the_table() -> None:
    known = {
        *(Capability.STATE, Capability.MDP, Capability.OPTIMUM),
        *(Capability.SNAPSHOT, Capability.REMARKS),
    }
    assert from_gymnasium(LAKE).part.gives == known
    all_give = {Capability.SNAPSHOT, Capability.REMARKS}
    assert from_gymnasium(EMPTY).part.gives == all_give
    wrapped = from_gymnasium(
        lambda: gymnasium.wrappers.TransformReward(
            gymnasium.make(LAKE), lambda reward: -reward
        )
    )
    # The table no longer says what is earned.
    assert wrapped.part.gives == all_give


def test_the_table_says_what_is_known_of_the_slippery_lake() -> None:
    """Undiscounted, the goal of the 4x4 lake is reached with probability 14/17 from the
    start (0.8235...).
    """
    lake = made(from_gymnasium(LAKE, actions=MOVES, discount=1.0))
    lake.reset(0)
    assert isinstance(lake, HasMDP)
    assert solve(lake.mdp()).value[0] == pytest.approx(14 / 17, abs=1e-6)
    assert lake.optimum().actions == ("LEFT",)


def test_the_shortest_way_is_optimal_with_a_discount() -> None:
    lake = made(from_gymnasium(LAKE, actions=MOVES, is_slippery=False, discount=0.9))
    lake.reset(0)
    assert lake.optimum().value == pytest.approx(0.9**5)
    assert set(lake.optimum().actions) == {"DOWN", "RIGHT"}


def test_the_mask_says_what_is_admissible() -> None:
    taxi = made(
        from_gymnasium(
            "Taxi-v4", actions=("south", "north", "east", "west", "pickup", "dropoff")
        )
    )
    observation = taxi.reset(3)
    assert observation.actions == ("south", "east")
    with pytest.raises(ValueError, match="wanted one of south, east, got 'pickup'"):
        taxi.step("pickup")
    assert set(taxi.optimum().actions) <= set(observation.actions)


def test_equal_worlds_have_equal_names_whatever_the_seed() -> None:
    def worlds(environment: Environment) -> list[str]:
        names = []
        for seed in range(6):
            environment.reset(seed)
            names.append(environment.world().id)
        return names

    assert len({*worlds(made(from_gymnasium(LAKE)))}) == 1
    assert (
        worlds(made(from_gymnasium(LAKE)))[0]
        != worlds(made(from_gymnasium(LAKE, is_slippery=False)))[0]
    )
    assert len({*worlds(made(from_gymnasium("Taxi-v4")))}) == 6
    assert (
        len(
            {
                *worlds(
                    made(
                        from_gymnasium(
                            "minigrid:MiniGrid-MultiRoom-N2-S4-v0", text=blind
                        )
                    )
                )
            }
        )
        == 6
    )


def blind(_: Any, __: Any) -> str:
    return "dark"


def test_what_a_plan_writes_down_is_part_of_its_hash() -> None:
    def digest(**options: Any) -> str:
        return plan_hash(
            Plan(environment=from_gymnasium(LAKE, **options), agent="random")
        )

    assert digest() == digest()
    assert (
        len(
            {
                digest(),
                digest(is_slippery=False),
                digest(discount=0.5),
                digest(actions=MOVES),
            }
        )
        == 4
    )


def test_success_and_actions_of_ones_own() -> None:
    cards = made(
        from_gymnasium(Cards, success=lambda _, __, info: 0.5 if info["won"] else None)
    )
    assert isinstance(cards, Environment) and not isinstance(cards, TabulatedWorld)
    observation = cards.reset(1)
    assert observation.actions == ("0", "1")
    assert observation.text.splitlines()[0] == "hand:" and observation.text.endswith(
        "told: yours"
    )
    assert cards.step("1").success == 0.5
    assert cards.step("0").success is None


@pytest.mark.parametrize(
    ("drawing", "text"),
    [
        ("\n\x1b[41mS\x1b[0mFFF\nFHFH\n", "[S]FFF\nFHFH"),
        ("|\x1b[34;1mR\x1b[0m: |\x1b[43m \x1b[0m|", "|<blue R>: |[ ]|"),
        ("plain", "plain"),
        ("\x1b[2Jcleared", "cleared"),
    ],
)
def test_colours_become_text(drawing: str, text: str) -> None:
    assert unpainted(drawing) == text


@pytest.mark.parametrize(
    ("observation", "text"),
    [
        (3, "3"),
        (np.int64(3), "3"),
        (np.array([0.12345678, 2.0], dtype=np.float32), "0.1235 2"),
        (np.array([[1, 2], [3, 4]]), "1 2\n3 4"),
        (np.arange(8).reshape(2, 2, 2), "0,1 2,3\n4,5 6,7"),
        ((1, "two"), "0: 1\n1: two"),
        ({"a": {"b": 1}, "c": np.array([[1], [2]])}, "a: b: 1\nc:\n1\n2"),
    ],
)
def test_observations_can_be_read(observation: Any, text: str) -> None:
    assert readable(observation) == text


WRONG: list[tuple[Callable[[], object], str]] = [
    (
        lambda: from_gymnasium("FrozenLak-v1"),
        r"Gymnasium cannot make FrozenLak-v1: .*of another package is MODULE:ID",
    ),
    (lambda: from_gymnasium("no_such:X-v0"), "Gymnasium cannot make X-v0: .*no_such"),
    (
        lambda: from_gymnasium(LAKE, slippery=True),
        "Gymnasium cannot make FrozenLake-v1: .*slippery",
    ),
    (
        lambda: from_gymnasium("Pendulum-v1"),
        "Pendulum-v1: wanted discrete actions, got Box",
    ),
    (
        lambda: from_gymnasium(LAKE, actions=("UP",)),
        "FrozenLake-v1: wanted 4 different names of actions, got UP",
    ),
    (
        lambda: from_gymnasium(Cards()),
        "wanted its id or a function that makes it, because the environment has no spec",
    ),
    (
        lambda: from_gymnasium(LAKE, desc=np.array(["SF", "FG"])),
        "FrozenLake-v1: wanted options of plain values",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_cannot_be_wrapped_is_refused(
    wrong: Callable[[], object], message: str
) -> None:
    with pytest.raises(GdeError, match=message):
        wrong()
