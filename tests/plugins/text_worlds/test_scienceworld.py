"""ScienceWorld's tasks, in the words in which its actions are listed."""

import os
import shutil
from functools import partial

import pytest
from conftest import Make, followed, fresh

from gde.errors import GdeError
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.scienceworld.simulator import ScienceWorldSimulator
from gde_plugins.text_worlds.scienceworld.wording import settled, things

SMALL = {"task": "lifespan-longest-lived", "variations": 2, "listed": False}
TRIED = ("look around", "go to outside", "dance with the agent")


@pytest.mark.skipif("GDE_SOAK" not in os.environ, reason="starts three Java machines: nox -s soak")
def test_the_contract_is_kept(context: PlainContext) -> None:
    make = partial(fresh, context, "scienceworld", **SMALL)
    check_environment(make, seeds=(0,), turns=3, actions=TRIED, gives={"demonstration", "worlds"})


def test_the_gold_path_is_followed_in_listed_words_to_the_full_score(made: Make) -> None:
    environment = made("scienceworld", task="find-non-living-thing", variations=1)
    assert environment.worlds() == ("find-non-living-thing 225",)
    outcomes = followed(environment, 0)
    assert outcomes[-1].success == 1
    assert outcomes[-1].terminated
    assert sum(one.reward for one in outcomes) == 100
    with pytest.raises(GdeError, match=r"unknown env\.task 'brew'; known: boil"):
        environment._host.ask("variations", "brew", "test", seconds=60)


def test_a_missed_goal_ends_the_episode_without_a_negative_score(made: Make) -> None:
    environment = made("scienceworld", **SMALL)
    shown = environment.reset(0)
    assert shown.actions is None
    assert environment.demonstration()
    outcome = environment.step("dance with the agent")
    assert "No known action matches" in outcome.observation.text
    environment.step("go to outside")
    assert (outcome.success, outcome.terminated) == (0.0, False)
    missed = environment.step("focus on outside")
    assert missed.terminated
    assert missed.success == 0
    assert missed.reward <= 0


def test_without_java_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(GdeError, match="scienceworld needs Java, there is no program java: install Java 17"):
        ScienceWorldSimulator(listed=True, play_on=False)


def test_an_action_is_read_in_every_way() -> None:
    assert things("pour tea in cup in sink", ["pour ", " in ", ""]) == [["tea", "cup in sink"], ["tea in cup", "sink"]]
    assert things("open door", ["open ", ""]) == [["door"]]
    assert things("wait", ["wait"]) == [[]]
    assert things("wait1", ["wait"]) == []
    assert things("close door", ["open ", ""]) == []


def test_what_is_asked_back_about_is_one_action_with_its_number() -> None:
    asked = "Ambiguous request: Please enter the number"
    told = [("wait", "Time passes."), ("move seed to pot", asked), ("0", "You move the seed."), ("1", "Nothing.")]
    assert [*settled(told)] == [("wait", "Time passes."), ("move seed to pot", "You move the seed."), ("1", "Nothing.")]
    assert [*settled([("move seed", asked), ("2", asked), ("0", "Done.")])] == [("move seed", "Done.")]
    assert [*settled([("move seed", asked), ("look", "A room.")])] == [("look", "A room.")]
