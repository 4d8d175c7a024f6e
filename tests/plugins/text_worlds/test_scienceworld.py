"""ScienceWorld's tasks, in the words in which its actions are listed."""

import os
import shutil
from collections.abc import Sequence
from functools import partial

import pytest
from conftest import Make, followed, fresh

from gde.errors import GdeError
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.scienceworld.simulator import ScienceWorldSimulator
from gde_plugins.text_worlds.scienceworld.wording import (
    Told,
    Wording,
    numbers,
    settled,
    things,
)

SMALL = {"task": "lifespan-longest-lived", "variations": 2, "listed": False}
TRIED = ("look around", "go to outside", "dance with the agent")


@pytest.mark.skipif(
    "GDE_SOAK" not in os.environ, reason="starts three Java machines: nox -s soak"
)
def test_the_contract_is_kept(context: PlainContext) -> None:
    make = partial(fresh, context, "scienceworld", **SMALL)
    check_environment(
        make, seeds=(0,), turns=3, actions=TRIED, gives={"demonstration", "worlds"}
    )


@pytest.mark.extended
def test_the_gold_path_is_followed_in_listed_words_to_the_full_score(
    made: Make,
) -> None:
    environment = made("scienceworld", task="find-non-living-thing", variations=1)
    assert environment.worlds() == ("find-non-living-thing 225",)
    outcomes = followed(environment, 0)
    assert outcomes[-1].success == 1
    assert outcomes[-1].terminated
    assert sum(one.reward for one in outcomes) == 100
    with pytest.raises(GdeError, match=r"unknown env\.task 'brew'; known: boil"):
        environment._host.ask("variations", "brew", "test")


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
    with pytest.raises(
        GdeError,
        match="scienceworld needs Java, but there is no program java: apt install openjdk-17-jre",
    ):
        ScienceWorldSimulator(listed=True, play_on=False)


def test_an_action_is_read_in_every_way() -> None:
    assert things("pour tea in cup in sink", ["pour ", " in ", ""]) == [
        ["tea", "cup in sink"],
        ["tea in cup", "sink"],
    ]
    assert things("open door", ["open ", ""]) == [["door"]]
    assert things("wait", ["wait"]) == [[]]
    assert things("wait1", ["wait"]) == []
    assert things("close door", ["open ", ""]) == []


def test_what_is_asked_back_about_is_one_action_with_its_number() -> None:
    asked = "Ambiguous request: Please enter the number"

    def read(*told: tuple[str, str]) -> list[tuple[str, str, bool]]:
        gold = (Told(action=action, answer=answer) for action, answer in told)
        return [(one.action, one.answer, one.asked_back) for one in settled(gold)]

    told = (
        ("wait", "Time passes."),
        ("move seed to pot", asked),
        ("0", "You move the seed."),
        ("1", "Nothing."),
    )
    moved = ("move seed to pot", "You move the seed.", True)
    assert read(*told) == [
        ("wait", "Time passes.", False),
        moved,
        ("1", "Nothing.", False),
    ]
    assert read(("move seed", asked), ("2", asked), ("0", "Done.")) == [
        ("move seed", "Done.", True)
    ]
    assert read(("move seed", asked), ("look", "A room.")) == [
        ("look", "A room.", False)
    ]


def test_the_likeliest_of_what_is_asked_back_about_comes_first() -> None:
    question = "Ambiguous request:\n0:\tfocus on seed (in jar)\n1:\tfocus on seed (in pot, in room)\n2:\tfocus on bee\n"
    assert numbers(question, "focus on seed in pot") == ["1", "0", "2"]
    assert numbers("Ambiguous request", "focus on seed") == []


class Kitchen:
    """A game of two cups and two seeds, of which things have other names than in the
    gold path.
    """

    LISTED = (
        "pour yellow cup into big cup",
        "pour red mug into big cup",
        "take seed",
        "wait1",
    )

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.asked = False

    def get_possible_actions_with_IDs(self) -> list[dict[str, object]]:
        forms = ("pour OBJ in OBJ", "take OBJ", "wait1")
        return [
            {"action_example": form, "template_id": n} for n, form in enumerate(forms)
        ]

    def get_all_object_ids_types_referents_LUTJSON(self) -> dict[str, object]:
        return {
            "1": {"referents": ["red mug", "red cup"]},
            "2": {"referents": ["yellow cup", "cup"]},
        }

    def act(self, action: str) -> str:
        if self.asked and action.isdecimal():
            self.asked = False
            self.seen.append(f"seed {action}")
            return "You take the seed."
        if action == "take seed":
            self.asked = True
            return (
                "Ambiguous request:\n0:\ttake seed (in jar)\n1:\ttake seed (in pot)\n"
            )
        if action.startswith("pour"):
            self.seen.append(action.split()[1])
            return "You pour it."
        return "Time passes." if action == "wait1" else "What?"

    def restart(self, actions: Sequence[str]) -> tuple[str, ...]:
        self.seen, self.asked = [], False
        for action in actions:
            self.act(action)
        return self.LISTED

    go_back = restart

    def listed(self) -> tuple[str, ...]:
        return self.LISTED

    def view(self) -> tuple[str, ...]:
        return tuple(self.seen)

    def said(self, *gold: Told) -> list[str]:
        return Wording(self, self).of(gold)


def test_the_action_that_leaves_behind_what_looks_the_same_is_taken() -> None:
    poured = Told(
        action="pour red cup in big cup", answer="You pour it.", view=("red",)
    )
    taken = Told(
        action="take seed in pot", answer="You take the seed.", view=("red", "seed 1")
    )
    nothing = Told(action="pour it away", answer="It is empty.", view=("red", "seed 1"))
    assert Kitchen().said(poured, taken, nothing) == [
        "pour red mug into big cup",
        "take seed",
        "1",
        "wait1",
    ]


def test_an_action_that_is_answered_alike_will_do_in_a_game_that_has_gone_another_way() -> (
    None
):
    elsewhere = Told(
        action="pour blue cup in big cup", answer="You pour it.", view=("blue",)
    )
    again = Told(
        action="pour yellow cup in big cup",
        answer="You pour it.",
        view=("blue", "yellow"),
    )
    unknown = Told(action="dance", answer="You dance.", view=("dancing",))
    assert Kitchen().said(unknown, again) == ["wait1", "pour yellow cup into big cup"]
    assert Kitchen().said(elsewhere, again)[0].startswith("pour ")
