"""BabyAI's rooms as its texts tell them, held against what the records of the same
episodes say.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.evidence import Evidence
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde_plugins.statefactory.embedding import HashedWords
from gde_plugins.statefactory.routing import Vectors, fulfilment
from gde_plugins.statefactory.rules.baby_mission import stages
from gde_plugins.statefactory.rules.extractor import RulesExtractor
from gde_plugins.statefactory.rules.room_memory import Rooms
from gde_plugins.statefactory.rules.room_texts import Moment, moment
from gde_plugins.statefactory.rules.rooms import RULES

FORMATS = ("structured", "narrative", "json")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Missions of every kind, in all formats and views, with and without what the
    published texts leave out.
    """
    pytest.importorskip("minigrid")
    config = {
        "level": ["PutNextLocal", "SynthSeq"],
        "search": 0,
        "horizon": 60,
        "seeds": [3],
    }
    swept = {
        "format": [*FORMATS],
        "view": ["full", "partial"],
        "details": [True, False],
    }
    plan = Plan(
        environment=Choice(name="babyai", config={**config, **swept}),  # type: ignore[arg-type]
        agent=Choice(name="omnibot", config={"noise": 0.3}),
        rewards=("statefactory",),  # type: ignore[arg-type]
        metrics=("success",),  # type: ignore[arg-type]
        episodes=1,
    )
    run = tmp_path_factory.mktemp("rooms") / "run"
    assert evaluate(plan, run).status == "ok"
    return load_evidence(run)


@pytest.mark.extended
def test_every_episode_is_read_whatever_its_format_and_view(evidence: Evidence) -> None:
    assert len(evidence.reward_traces) == 24
    assert {one.made_by for one in evidence.reward_traces} == {
        "rules for rooms, level 4; embedder words"
    }
    for one in evidence.reward_traces:
        assert not one.failure
        assert np.all((one.values >= 0) & (one.values <= 1))
        assert np.ptp(one.values) > 0


@pytest.mark.extended
def test_formats_tell_the_same(evidence: Evidence) -> None:
    told: dict[tuple[object, ...], set[Moment | None]] = {}
    for one in evidence.trajectories:
        first = one.turns[0].observation.text
        told.setdefault(
            (one.labels["level"], "field" in first, _says_hands(one)), set()
        ).add(moment(first))
    assert [len(each) for each in told.values()] == [1] * 8
    assert None not in set().union(*told.values())


def _says_hands(one: Trajectory) -> bool:
    return "carr" in one.turns[0].observation.text.replace("can be carried", "")


@pytest.mark.extended
def test_things_are_where_the_record_has_them(evidence: Evidence) -> None:
    n_carried = 0
    for one in evidence.trajectories:
        rooms = None
        for turn, action in zip(
            one.turns, ["", *(turn.decision.action for turn in one.turns)], strict=False
        ):
            now = moment(turn.observation.text)
            assert now is not None
            assert turn.state is not None
            if rooms is None:
                rooms = Rooms(now)
            else:
                rooms.see(now, action or "")
            there, held = _recorded(turn.state.facts, rooms)
            n_carried += bool(held)
            assert bool(rooms.held) == bool(held)
            known = {
                (str(each), each.place)
                for name, each in rooms.things.items()
                if name != rooms.held
            }
            assert known <= there
            if "field" not in one.turns[0].observation.text:
                assert known == there
    assert n_carried > 20


def _recorded(
    facts: object, rooms: Rooms
) -> tuple[set[tuple[str, tuple[int, int]]], object]:
    """Things that lie in the grid, by what they are and (x, y), and what is carried."""
    told = {
        name: fact
        for name, fact in facts.items()
        if isinstance(fact, dict) and name != "agent"
    }  # type: ignore[attr-defined]
    lying = {
        (" ".join(name.split()[:2]), (fact["place"][1], fact["place"][0]))
        for name, fact in told.items()
    }
    assert rooms.things
    return lying, facts["carrying"]  # type: ignore[index]


@pytest.mark.extended
def test_doors_are_followed_where_they_are_not_told_to_be_open(
    evidence: Evidence,
) -> None:
    n_open = 0
    for one in evidence.trajectories:
        told = RULES.read(Transcript.of(one), one.world.objective)
        assert told is not None
        for turn, state in zip(one.turns, told.states, strict=True):
            assert turn.state is not None
            opened = {
                item.name for item in state if item.attributes.get("door") == "open"
            }
            really = [
                fact
                for fact in turn.state.facts.values()
                if isinstance(fact, dict) and fact["note"] == "open"
            ]
            assert len(opened) <= len(really)
            n_open += len(opened)
            if "field" not in one.turns[0].observation.text:
                assert len(opened) == len(really)
    assert n_open > 20


@pytest.mark.parametrize(
    ("mission", "found"),
    [
        ("go to the red ball", [["go to"]]),
        ("pick up a box on your left and open the grey door", [["pick up", "open"]]),
        (
            "open a door, then put the red key next to an object behind you",
            [["open"], ["put"]],
        ),
        (
            "go to a key after you pick up the blue box and open a door",
            [["pick up", "open"], ["go to"]],
        ),
        ("", None),
        ("go to the moon", None),
        ("put the red ball", None),
        ("go to the red ball next to the key", None),
        ("go to the red ball, then", None),
        ("go to the red ball and", None),
    ],
)
def test_missions_are_clauses_in_stages(
    mission: str, found: list[list[str]] | None
) -> None:
    read = stages(mission)
    assert (read and [[clause.verb for clause in stage] for stage in read]) == found


FAR = "- Size of each room (including walls): 8x8\n- Total grid size: 8x8\n- Agent position: ({0}, 3)\n"
SEEN = (
    FAR
    + "- Agent facing direction: east (toward ({1}, 3))\n- Agent carries: {2}\n- Objects in environment:\n{3}"
)


def text(x: int, carries: str = "nothing", *things: str) -> str:
    return SEEN.format(x, x + 1, carries, "\n".join(f"  - {thing}" for thing in things))


def worth(read: Sequence[object]) -> list[float]:
    states, goals = read
    texts = [
        text for items in (*states, *goals) for item in items for text in item.texts()
    ]  # type: ignore[misc]
    vectors = Vectors(texts, HashedWords())
    return [
        fulfilment(state, goal, vectors)
        for state, goal in zip(states, goals, strict=True)
    ]  # type: ignore[call-overload]


def acted(one: Transcript, *actions: str) -> Transcript:
    steps = [
        replace(step, action=action)
        for step, action in zip(one.steps, ["", *actions], strict=True)
    ]
    return replace(one, steps=tuple(steps))


def test_reward_grows_with_every_step_of_a_mission_and_stays(
    episode: Callable[..., Transcript],
) -> None:
    ball, box = "ball, color=red, position=({}, 3)", "box, color=blue, position=(6, 3)"
    one = episode(
        "put the red ball next to the blue box, then go to the blue box",
        text(1, "nothing", ball.format(4), box),
        text(2, "nothing", ball.format(4), box),
        text(3, "nothing", ball.format(4), box),
        text(3, "red ball", box),
        text(4, "red ball", box),
        text(4, "nothing", ball.format(5), box),
    )
    read = RULES.read(
        acted(one, "forward", "forward", "pickup", "forward", "drop"),
        one.objective,
    )
    assert read is not None
    values = worth((read.states, read.goals))
    assert values == sorted(values)
    assert len(set(values)) == len(values)
    done = {
        item.name: item.attributes["status"]
        for item in read.states[-1]
        if "status" in item.attributes
    }
    assert [*done.values()] == ["fulfilled", "to do"]


def test_what_is_no_mission_or_no_room_is_left_to_others(
    episode: Callable[..., Transcript],
) -> None:
    assert (
        RULES.read(
            episode("go to the red ball", "no room at all"), "go to the red ball"
        )
        is None
    )
    assert RULES.read(episode("go home", text(1)), "go home") is None
    for broken in (
        '{"agent_pos": [1',
        "{}",
        '{"room_size_incl_walls": 8}',
        "{" * 10**5,
        "[" * 10**5,
        "{\x00",
    ):
        assert moment(broken) is None
    hostile = text(
        1,
        "nothing",
        *["ball, color=red, position=(4, 3)"] * 2000,
        "ball, color=, position=(9999999999, 0)",
    )
    reading = RulesExtractor(4).reading(episode("go to the red ball", hostile))
    assert not reading.failure
    assert reading.made_by.startswith("rules for rooms")
