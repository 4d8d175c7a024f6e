"""The blocks world as agents meet it."""

import tarfile
from itertools import pairwise
from pathlib import Path

import pytest

from gde.data.plan import Choice, Plan
from gde.offers import Capability
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.environment import BlocksworldEnvironment
from gde_plugins.blocksworld.plugin import gde_environments

PLANBENCH = (
    Path(__file__).parents[4] / "shared" / "data" / "planbench-blocksworld.tar.xz"
)


def world(**config: object) -> BlocksworldEnvironment:
    return BlocksworldEnvironment(BlocksworldConfig(**config))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "config",
    [{"blocks": 2}, {"blocks": 7}, {"blocks": 3, "play_on": True}],
    ids=str,
)
def test_it_keeps_every_promise(config: dict[str, object]) -> None:
    (offer,) = gde_environments()
    gives = offer.gives
    assert {Capability.OPTIMUM, Capability.DEMONSTRATION} <= gives
    check_environment(
        lambda: offer.made(build(offer.config, config, "env"), PlainContext()),
        gives=gives,
    )


def test_every_seed_is_another_problem_that_is_not_solved() -> None:
    played, ids = world(blocks=6), set()
    for seed in range(30):
        played.reset(seed)
        ids.add(played.world().id)
        assert played.optimum().value == -float(played.world().labels["distance"]) < 0
    assert len(ids) == 30


def test_what_is_shown_is_what_is_true() -> None:
    played = world(blocks=5)
    shown = played.reset(4)
    for action in played.demonstration():
        facts = played.state().facts
        towers, view = facts["towers"], facts["view"]
        assert isinstance(towers, list)
        assert isinstance(view, str)
        for tower in towers:
            assert f"block {tower[0]} is on the table" in shown.text.lower()
            assert all(
                f"Block {upper} is on block {lower}." in shown.text
                for lower, upper in pairwise(tower)
            )
        assert (
            ("The hand is empty." in shown.text)
            == (facts["hand"] is None)
            == ("hand: empty" in view)
        )
        shown = played.step(action).observation


def test_a_demonstration_is_as_long_as_promised_and_ends_the_episode() -> None:
    for seed in range(10):
        played = world(blocks=8)
        played.reset(seed)
        plan = played.demonstration()
        outcomes = [played.step(action) for action in plan]
        assert [one.reward for one in outcomes] == [0.0] * (len(plan) - 1) + [1.0]
        assert len(plan) == played.world().labels["distance"]
        with pytest.raises(ValueError, match="the episode is over"):
            played.step(plan[-1])


PROBLEM = """(define (problem p) (:domain blocksworld-4ops) (:objects a b c d)
(:init (handempty) (ontable a) (ontable c) (ontable d) (on b c) (clear a) (clear b) (clear d))
(:goal (and (on c b) (on a c))))"""


def test_planbench_wording_is_that_of_its_translator(tmp_path: Path) -> None:
    (tmp_path / "p.pddl").write_text(PROBLEM)
    played = world(problems=tmp_path, text="planbench")
    on_table = "the red block is on the table, the orange block is on the table"
    assert played.reset(0).text == (
        "the red block is clear, the blue block is clear, the yellow block is clear, "
        "the hand is empty, the blue block is on top of the orange block, "
        f"{on_table} and the yellow block is on the table"
    )
    assert played.task().objective == (
        "My goal is to have that the red block is on top of the orange block and "
        "the orange block is on top of the blue block."
    )
    assert [*played.demonstration()] == [
        "unstack the blue block from on top of the orange block",
        "put down the blue block",
        "pick up the orange block",
        "stack the orange block on top of the blue block",
        "pick up the red block",
        "stack the red block on top of the orange block",
    ]
    assert "holding blue block, the red" in (
        played.step(played.demonstration()[0]).observation.text
    )


def test_playing_on_success_is_that_of_the_moment() -> None:
    played = world(blocks=3, play_on=True)
    played.reset(0)
    for action in played.demonstration():
        outcome = played.step(action)
    assert (outcome.terminated, outcome.success) == (False, 1.0)
    assert played.demonstration() == []
    outcome = played.step((outcome.observation.actions or ())[0])
    assert outcome.success == (0.0 if played.demonstration() else 1.0)


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no env\.blocks with env\.problems"):
        BlocksworldConfig(problems=tmp_path, blocks=5)


@pytest.mark.extended
@pytest.mark.skipif(
    not PLANBENCH.is_file(), reason="the shared problems of PlanBench are not here"
)
def test_published_problems_are_solved_by_the_expert(tmp_path: Path) -> None:
    with tarfile.open(PLANBENCH) as packed:
        packed.extractall(tmp_path, filter="data")
    plan = Plan(
        environment=Choice(
            name="blocksworld", config={"problems": str(tmp_path / "blocksworld")}
        ),
        agent=Choice(name="expert"),
        episodes=25,
    )
    result = evaluate(plan, tmp_path / "run")
    found = {one.name: one.value for one in result.measurements}
    assert (result.status, found["success"], found["accuracy"]) == ("ok", 1.0, 1.0)
