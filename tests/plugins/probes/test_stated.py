"""Maps stated in words, beside true and decoded ones: planted answers of known truth."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gde import Choice, Evidence, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, CellMap, decoded_classes
from gde.data.completion import ChatRequest
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.stated_map import answer_noted, noted
from gde.data.trajectory import Trajectory, Turn
from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, ModelOffer, NoConfig
from gde.request.catalogue import Catalogue, load_plugins
from gde.testing.parts import ScriptedModel
from gde_plugins.probes.maps.held_out import true_map
from gde_plugins.probes.maps.stated import stated

CLASSES = decoded_classes(KINDS)
SIZE = 5
PADDED = 7
FIT = Fit(probe="cogmap", variant="mlp", layer=0, position="pre")
WORDS = {"#": "wall", "_": "empty", "A": "agent", "G": "goal"}
ROW = re.compile(r"^\d+ +((?:[#_AG] *)+)$", re.MULTILINE)


def script(request: ChatRequest) -> str:
    """Walk down, and copy the map out of the prompt when asked for it."""
    if len(request.messages) == 1:
        return json.dumps({"action": "DOWN"})
    shown = request.messages[0].content.rpartition("Current state:")[2]
    rows = []
    for row in ROW.findall(shown):
        rows.append([WORDS[symbol] for symbol in row.split()])
    return json.dumps({"map": rows})


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """A model that can tell the map that it is shown."""
    return (
        ModelOffer(
            name="teller",
            summary="walks down and tells the map",
            config=NoConfig,
            make=lambda _, __: ScriptedModel(script),
        ),
    )


def planned(query: bool, age: int = 0) -> Plan:
    agent = {"model": "teller", "map_query": query, "map_query_age": age}
    return Plan(
        environment=Choice(name="grid", config={"size": SIZE, "density": 0.5}),
        agent=Choice(name="gpt-oss", config=agent),
        metrics=(Choice(name="stated"),),
        episodes=8,
    )


def played(folder: Path, query: bool, age: int = 0) -> Evidence:
    catalogue = Catalogue(load_plugins(modules=(__name__,)))
    evaluate(planned(query, age), folder, catalogue=catalogue)
    return load_evidence(folder)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return played(tmp_path_factory.mktemp("asked") / "run", query=True)


def answering(evidence: Evidence, answers: Mapping[int, str]) -> Evidence:
    """The evidence with other answers, by the number of the world."""
    changed = []
    for one in evidence.trajectories:
        turns = list(one.turns)
        if one.key.world in answers:
            detail = noted("", answers[one.key.world])
            turns = [_with_detail(turn, detail) for turn in turns]
        changed.append(replace(one, turns=tuple(turns)))
    return replace(evidence, trajectories=tuple(changed))


def _with_detail(turn: Turn, detail: str) -> Turn:
    return replace(turn, decision=replace(turn.decision, detail=detail))


def telling(
    evidence: Evidence,
    tells: Callable[[int, NDArray[np.int64]], NDArray[np.int64] | None],
) -> Evidence:
    """The evidence with what a function of the number of the world and the true map
    states in every turn; None for nothing.
    """
    changed = []
    for one in evidence.trajectories:
        turns = []
        for turn in one.turns:
            assert turn.state is not None
            true = CellMap.from_record(one.world, turn.state).codes
            cells = tells(one.key.world, true)
            answer = ""
            if cells is not None:
                answer = json.dumps({"map": np.array(KINDS)[cells].tolist()})
            turns.append(_with_detail(turn, noted("", answer)))
        changed.append(replace(one, turns=tuple(turns)))
    return replace(evidence, trajectories=tuple(changed))


def decoding(evidence: Evidence, shift: int = 0) -> Evidence:
    """The evidence with the true maps of the last four episodes as decoded, rolled to
    the right.
    """
    rows = []
    maps = []
    for one in [*evidence.trajectories][-4:]:
        for turn in one.turns:
            rows.append((str(one.key), turn.index))
            cells = true_map(one, turn, PADDED)
            cells[:SIZE, :SIZE] = np.roll(cells[:SIZE, :SIZE], shift, axis=1)
            maps.append(cells)
    report = ProbeReport(
        fit=FIT,
        measurements=(),
        n_train=1,
        n_test=len(rows),
        rows=tuple(rows),
        decoded=np.eye(len(CLASSES), dtype=np.float32)[np.array(maps)],
        classes=CLASSES,
    )
    return replace(evidence, probe_reports=(report,))


def named(measurements: Sequence[Measurement]) -> Mapping[str, Measurement]:
    return {one.name: one for one in measurements}


def test_answers_are_recorded_in_the_trajectory(asked: Evidence) -> None:
    for one in asked.trajectories:
        assert one.turns
        for turn in one.turns:
            assert turn.decision.action == "DOWN"
            answer = answer_noted(turn.decision.detail)
            assert answer is not None
            assert len(json.loads(answer.answer)["map"]) == SIZE


def test_a_model_that_tells_what_it_is_shown_is_right(asked: Evidence) -> None:
    found = named(stated(asked))
    for name in ("stated.answered", "stated.accuracy", "stated.agent", "stated.goal"):
        assert found[name].value == 1
        low, _ = found[name].interval or (1, 1)
        assert low < 1
    n_turns = sum(len(one.turns) for one in asked.trajectories)
    assert found["stated.accuracy"].n == n_turns
    assert not [name for name in found if name.startswith("stated.flaw")]


def test_a_model_that_remembers_nothing_states_the_present(tmp_path: Path) -> None:
    """It walks down until a wall stops it, and is asked for the map before."""
    evidence = played(tmp_path / "run", query=True, age=1)
    stays = []
    for one in evidence.trajectories:
        maps = [true_map(one, turn, PADDED) for turn in one.turns]
        stays += [np.array_equal(now, then) for then, now in pairwise(maps)]
        assert answer_noted(one.turns[0].decision.detail) is None
    found = named(stated(evidence))
    assert found["stated.present"].value == found["stated.goal"].value == 1
    assert 0 < np.mean(stays) < 1
    assert found["stated.agent"].value == pytest.approx(np.mean(stays))
    assert found["stated.agent"].n == len(stays)


def test_an_earlier_map_is_held_against_the_earlier_truth(asked: Evidence) -> None:
    remembering = []
    for one in asked.trajectories:
        told = [answer_noted(turn.decision.detail) for turn in one.turns]
        later = [
            _with_detail(turn, noted("", before.answer, age=1))
            for before, turn in zip(told, one.turns[1:], strict=False)
        ]
        turns = (_with_detail(one.turns[0], noted("", "", age=1)), *later)
        remembering.append(replace(one, turns=turns))
    found = named(stated(replace(asked, trajectories=tuple(remembering))))
    assert found["stated.accuracy"].value == found["stated.agent"].value == 1
    assert (found["stated.present"].value or 0) < 1


def test_a_map_of_before_the_episode_is_none(asked: Evidence) -> None:
    first = asked.trajectories[0]
    told = answer_noted(first.turns[0].decision.detail)
    assert told is not None
    turn = _with_detail(first.turns[0], noted("", told.answer, age=1))
    alone = replace(asked, trajectories=(replace(first, turns=(turn,)),))
    assert named(stated(alone))["stated.answered"].value is None


def test_wrong_cells_and_places_are_counted(asked: Evidence) -> None:
    """Four of eight worlds tell a map of walls with an agent in the corner."""
    rows = [["wall"] * SIZE for _ in range(SIZE)]
    rows[0][0] = "agent"
    wrong = json.dumps({"map": rows})
    evidence = answering(asked, dict.fromkeys(range(4), wrong))
    found = named(stated(evidence))
    halves = [one for one in evidence.trajectories if one.key.world >= 4]
    n_right = sum(len(one.turns) for one in halves)
    share = n_right / found["stated.agent"].n
    assert found["stated.answered"].value == 1
    assert found["stated.agent"].value == found["stated.goal"].value == share
    assert share < (found["stated.accuracy"].value or 0) < 1


def test_an_agent_stated_twice_is_not_stated_rightly(asked: Evidence) -> None:
    first: Trajectory = asked.trajectories[0]
    answer = answer_noted(first.turns[0].decision.detail)
    assert answer is not None
    twice = answer.answer.replace('"wall"', '"agent"', 1)
    evidence = replace(
        asked,
        trajectories=(
            replace(first, turns=(_with_detail(first.turns[0], noted("", twice)),)),
        ),
    )
    found = named(stated(evidence))
    assert found["stated.agent"].value == 0
    assert found["stated.goal"].value == 1
    assert found["stated.accuracy"].value == pytest.approx(1 - 1 / SIZE**2)


def test_answers_without_a_map_are_counted_by_flaw_and_not_as_errors(
    asked: Evidence,
) -> None:
    flawed = {
        0: "",
        1: '{"action": "UP"}',
        2: '{"map": [["wall"]]}',
        3: json.dumps({"map": [["tree"] * SIZE] * SIZE}),
    }
    found = named(stated(answering(asked, flawed)))
    shares = []
    for flaw in ("empty", "form", "size", "words"):
        shares.append(found[f"stated.flaw.{flaw}"].value or 0)
    assert min(shares) > 0
    assert sum(shares) + (found["stated.answered"].value or 0) == pytest.approx(1)
    assert found["stated.accuracy"].value == 1
    assert found["stated.accuracy"].n < found["stated.answered"].n


def test_where_no_answer_tells_a_map_there_is_a_reason(asked: Evidence) -> None:
    refused = answering(asked, dict.fromkeys(range(8), '{"action": "UP"}'))
    found = named(stated(decoding(refused)))
    assert found["stated.answered"].value == 0
    for name in ("stated.accuracy", "stated.agent", "stated.goal", "stated.agreement"):
        assert found[name].value is None
        assert "wanted a JSON object" in found[name].reason


def test_stated_maps_agree_with_equal_decoded_ones(asked: Evidence) -> None:
    found = named(stated(decoding(asked)))
    for name in ("agreement", "agreement.agent", "agreement.goal", "decoded"):
        assert found[f"stated.{name}"].value == 1
        assert found[f"stated.{name}"].where["fit"] == "none"
        # Four worlds are too few for an interval.
        assert found[f"stated.{name}"].interval is None


def test_a_shifted_decoded_map_does_not_agree(asked: Evidence) -> None:
    found = named(stated(decoding(asked, shift=1)))
    assert found["stated.accuracy"].value == 1
    assert found["stated.agreement.agent"].value == 0
    assert found["stated.agreement.goal"].value == 0
    assert found["stated.agreement"].value == found["stated.decoded"].value
    assert (found["stated.decoded"].value or 0) < 1


def n_turns(evidence: Evidence, *worlds: int) -> int:
    return sum(
        len(one.turns) for one in evidence.trajectories if one.key.world in worlds
    )


def test_agreement_is_with_what_is_decoded_whatever_is_true(asked: Evidence) -> None:
    """The maps of worlds 6 and 7 are stated as they are decoded, which is wrong."""

    def tells(world: int, true: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.roll(true, 1, axis=1) if world >= 6 else true

    usual = named(stated(decoding(asked, shift=1)))
    found = named(stated(decoding(telling(asked, tells), shift=1)))
    share = n_turns(asked, 6, 7) / n_turns(asked, 4, 5, 6, 7)
    assert found["stated.agreement.agent"].value == pytest.approx(share)
    assert found["stated.agreement.goal"].value == pytest.approx(share)
    assert found["stated.decoded"].value == usual["stated.decoded"].value
    assert (found["stated.agreement"].value or 0) > (
        usual["stated.agreement"].value or 0
    )


def test_only_turns_with_a_stated_map_are_compared(asked: Evidence) -> None:
    def tells(world: int, true: NDArray[np.int64]) -> NDArray[np.int64] | None:
        return None if world in (4, 6) else np.roll(true, 1, axis=1)

    found = named(stated(decoding(telling(asked, tells), shift=1)))
    for name in ("agreement", "agreement.agent", "agreement.goal"):
        assert found[f"stated.{name}"].value == 1
        assert found[f"stated.{name}"].n == n_turns(asked, 5, 7)


def test_a_thing_stated_twice_agrees_with_no_place(asked: Evidence) -> None:
    def tells(_: int, true: NDArray[np.int64]) -> NDArray[np.int64]:
        twice = true.copy()
        twice[0, 0] = KINDS.index("agent")
        return twice

    found = named(stated(decoding(telling(asked, tells))))
    assert found["stated.agreement.agent"].value == 0
    assert found["stated.agreement.goal"].value == 1


def test_a_thing_that_was_never_trained_on_agrees_with_nothing(
    asked: Evidence,
) -> None:
    (report,) = decoding(asked).probe_reports
    decoded = report.decoded.copy()
    decoded[..., CLASSES.index("goal")] = 0
    evidence = replace(asked, probe_reports=(replace(report, decoded=decoded),))
    found = named(stated(evidence))
    assert "no goal cell" in found["stated.agreement.goal"].reason
    assert found["stated.agreement.agent"].value == 1


def test_cells_of_larger_maps_count_for_as_many(asked: Evidence) -> None:
    """Half of the worlds are wider, and those alone are stated rightly."""
    wider = []
    for one in asked.trajectories:
        world = one.world
        if one.key.world < 4:
            rows = [f"{row}####" for row in world.facts["rows"]]  # type: ignore[union-attr]
            world = replace(world, facts={**world.facts, "rows": rows})
        wider.append(replace(one, world=world))

    def tells(world: int, true: NDArray[np.int64]) -> NDArray[np.int64]:
        return true if world < 4 else (true + 1) % len(KINDS)

    evidence = telling(replace(asked, trajectories=tuple(wider)), tells)
    found = named(stated(evidence))
    n_right = n_turns(asked, 0, 1, 2, 3) * SIZE * (SIZE + 4)
    n_wrong = n_turns(asked, 4, 5, 6, 7) * SIZE * SIZE
    assert found["stated.accuracy"].value == pytest.approx(
        n_right / (n_right + n_wrong)
    )


def test_the_reason_is_that_of_most_answers(asked: Evidence) -> None:
    answers = {**dict.fromkeys(range(8), '{"action": "UP"}'), 7: ""}
    found = named(stated(answering(asked, answers)))
    assert "wanted a JSON object" in found["stated.accuracy"].reason


def test_failed_episodes_do_not_count_and_parts_have_no_decoded_maps(
    asked: Evidence,
) -> None:
    first, *others = answering(asked, {0: ""}).trajectories
    failed = replace(first, ending="failed", failure="no more memory")
    evidence = replace(asked, trajectories=(failed, *others))
    assert named(stated(evidence))["stated.answered"].value == 1

    found = stated(replace(decoding(asked), part={"size": SIZE}))
    assert not [one for one in found if one.name.startswith("stated.agreement")]


def test_worlds_of_one_cluster_count_as_one(asked: Evidence) -> None:
    changed = []
    for one in asked.trajectories:
        world = replace(one.world, base=f"base {one.key.world // 2}")
        changed.append(replace(one, world=world))
    found = named(stated(replace(asked, trajectories=tuple(changed))))
    assert found["stated.accuracy"].clusters == 4


def test_turns_without_a_decoded_map_are_no_comparison(asked: Evidence) -> None:
    decoded = decoding(asked)
    (report,) = decoded.probe_reports
    other = replace(report, rows=(), decoded=report.decoded[:0], n_test=0)
    found = named(stated(replace(decoded, probe_reports=(other,))))
    assert "no held-out turn" in found["stated.agreement"].reason


def test_an_agent_that_was_not_asked_is_a_reason(tmp_path: Path) -> None:
    evidence = played(tmp_path / "run", query=False)
    (one,) = stated(evidence)
    assert one.value is None
    assert "set agent.map_query=true" in one.reason
