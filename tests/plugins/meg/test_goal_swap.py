"""A goal swap: each world is played with its goal and with another."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Plan, evaluate
from gde.cli.main import build_app
from gde.data.goals import Goals
from gde.data.observation import Observation, Outcome, Task, World
from gde.data.result import Measurement, Result
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.snapshots import Replayed
from gde.stages.beginning import begin
from gde_plugins.meg.verdict.pursuits import pursuits_of

ENDS = {"left": 0, "right": 8}


class Corridor:
    """Nine cells, with the goal at one end. Optimal actions are not told.

    The first observation names the goal that the seed drew, whichever is set.
    """

    def reset(self, seed: int) -> Observation:
        self.seed = seed
        self.drawn = "right" if seed % 2 else "left"
        return self.set_goal(self.drawn)

    def goals(self) -> Goals:
        return Goals(probabilities={"left": 0.5, "right": 0.5}, present=self.goal)

    def set_goal(self, goal: str) -> Observation:
        if goal not in ENDS:
            raise ValueError(f"wanted left or right, got {goal!r}")
        self.goal = goal
        self.cell = 4
        return self.observe()

    def task(self) -> Task:
        return Task(objective=f"Go {self.goal}.", horizon=12)

    def world(self) -> World:
        return World(id=f"{self.seed} {self.goal}")

    def observe(self) -> Observation:
        return Observation(text=f"Once: {self.drawn}", actions=("left", "right"))

    def step(self, action: str) -> Outcome:
        self.cell += {"left": -1, "right": 1}[action]
        if self.cell == ENDS[self.goal]:
            return Outcome.terminal(self.observe(), 1.0, success=1.0)
        if self.cell in ENDS.values():
            self.cell = 4
        return Outcome.running(self.observe())

    def close(self) -> None:
        pass


class Seeker:
    """Goes where it is told."""

    def begin(self, brief: Brief) -> None:
        self.wanted = brief.task.objective.removeprefix("Go ").removesuffix(".")

    async def act(self, observation: Observation) -> Decision:
        return Decision(status="ok", action=self.choose(observation))

    def choose(self, _: Observation) -> str:
        return self.wanted


class Habit(Seeker):
    """Has learned where the goal of each world is, and does not look whether it is
    there.
    """

    def choose(self, observation: Observation) -> str:
        return observation.text.removeprefix("Once: ")


def played(agent: Callable[[], object], out: Path, **fields: object) -> Result:
    plan = Plan(
        environment=Corridor,
        agent=agent,
        metrics=["success", "meg-verdict"],
        episodes=8,
        **fields,  # type: ignore[arg-type]
    )
    return evaluate(plan, out)


def verdict(result: Result) -> Measurement:
    (found,) = [one for one in result.measurements if one.name == "meg.verdict"]
    return found


def test_an_agent_that_follows_the_moved_goal_is_directed_towards_it(
    tmp_path: Path,
) -> None:
    result = played(Seeker, tmp_path / "run", goal_swap=True)
    found = verdict(result)
    assert found.where["verdict"] == "towards"
    assert found.where["test"] == "the goal was moved in each world"
    # Eight pairs, each of which could have been exchanged.
    assert found.value == pytest.approx(2 / 2**8, abs=0.004)
    assert result.subject.episodes == 16
    by_goal = {
        one.where["goal_moved"]: one.value
        for one in result.measurements
        if one.name == "success" and "goal_moved" in one.where
    }
    assert by_goal == {False: 1.0, True: 1.0}


def test_a_habit_is_shown_by_the_goals_it_learned_and_not_by_moved_ones(
    tmp_path: Path,
) -> None:
    before = verdict(played(Habit, tmp_path / "own"))
    after = verdict(played(Habit, tmp_path / "swapped", goal_swap=True))
    assert before.where["verdict"] == "towards"
    assert (after.where["verdict"], after.value) == ("not shown", 1.0)


def test_an_environment_that_cannot_draw_its_goal_again_is_refused(
    tmp_path: Path,
) -> None:
    plan = Plan(environment="cliff-world", agent="random", goal_swap=True)
    with pytest.raises(
        GdeError, match=r"run.goal_swap needs .*'cliff-world' is not one"
    ):
        evaluate(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_where_no_goal_can_be_moved_it_cannot_be_said(tmp_path: Path) -> None:
    plan = Plan(
        environment="two-path-key",
        agent="random",
        metrics=["meg-verdict"],
        episodes=2,
        goal_swap=True,
    )
    found = verdict(evaluate(plan, tmp_path / "run"))
    assert found.reason.endswith("determine the goal in every world")


def test_the_moved_world_is_a_variation_with_a_goal_that_the_seed_decides() -> None:
    first = begin(Corridor(), 3, goal_moved=False).world
    second = begin(Corridor(), 3, goal_moved=True).world
    assert (first.id, second.id) == ("3 right", "3 left")
    assert second.cluster == first.cluster
    assert begin(Corridor(), 3, goal_moved=True).world == second


def test_worlds_restored_by_replay_keep_the_goal_that_was_set() -> None:
    world = Replayed(Corridor())
    world.reset(1)
    world.set_goal("left")
    world.step("left")
    moment = world.snapshot()
    for _ in range(3):
        outcome = world.step("left")
    assert outcome.terminated
    world.restore(moment)
    assert world.environment.goal == "left"  # type: ignore[attr-defined]
    assert world.environment.cell == 3  # type: ignore[attr-defined]


class Patient(Corridor):
    """The goal on the right gives more time."""

    def task(self) -> Task:
        return Task(objective="Go.", horizon={"left": 5, "right": 50}[self.goal])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_shortest_horizon_under_any_goal_cuts_the_record(seed: int) -> None:
    """Otherwise the length of the scored part would tell the goal."""

    def begun() -> Patient:
        world = Patient()
        world.reset(seed)
        return world

    turns = 0

    def wavering(options: Sequence[str], _: object) -> str:
        nonlocal turns
        turns += 1
        return options[turns % 2]

    with pursuits_of(begun) as pursuits:
        pursuits.walked(wavering)
    assert turns == 5


def test_a_comparison_says_each_verdict_first(
    tmp_path: Path,
) -> None:
    played(Seeker, tmp_path / "a")
    played(Habit, tmp_path / "b", goal_swap=True)
    compared = CliRunner().invoke(
        build_app(), ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--all"]
    )
    printed = compared.output.splitlines()
    first, second, *_ = (line for line in printed if "Goal-directed" in line)
    assert first.startswith("a: Goal-directed, tested against other goals: towards (p")
    assert second.startswith(
        "b: Goal-directed, tested against other goals: not shown (p 1.000)"
    )
    assert "the goal was moved in each world" in " ".join(printed)
