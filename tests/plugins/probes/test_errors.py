"""Causes of errors: agents that err in one known way are found to err in that way."""

import base64
import gzip
import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gde import Choice, Evidence, Plan, evaluate, load_evidence
from gde.data.cell_map import KINDS, CellMap, Position, decoded_classes
from gde.data.completion import Completion
from gde.data.probe import Fit, ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Decision, Trajectory, Turn
from gde.data.verdict import Verdict
from gde.errors import GdeError
from gde_plugins.probes.config import ErrorsConfig
from gde_plugins.probes.errors.attribution import CAUSES, erring_turns
from gde_plugins.probes.errors.metric import Errors
from gde_plugins.probes.maps.beliefs import beliefs

CLASSES = decoded_classes(KINDS)
SIZE = 9
MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
FIT = Fit(probe="cogmap", variant="mlp", layer=0, position="pre")
Seen = tuple[CellMap, Turn, np.random.Generator]
errors = Errors(ErrorsConfig())


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    plan = Plan(
        environment=Choice(name="grid", config={"size": SIZE, "density": 0.5}),
        agent=Choice(name="random"),
        metrics=(Choice(name="success"),),
        episodes=10,
    )
    folder = tmp_path_factory.mktemp("walked") / "run"
    evaluate(plan, folder)
    return load_evidence(Path(folder))


def steps_from(walls: NDArray[np.bool_], goal: Position) -> dict[Position, int]:
    """Breadth-first search, written apart from the code under test."""
    steps = {goal: 0}
    queue = deque([goal])
    while queue:
        row, column = queue.popleft()
        for down, right in MOVES.values():
            there = (row + down, column + right)
            if not walls[there] and there not in steps:
                steps[there] = steps[row, column] + 1
                queue.append(there)
    return steps


def after(place: Position, action: str) -> Position:
    down, right = MOVES[action]
    return place[0] + down, place[1] + right


def first_steps(true: CellMap, goal: Position) -> list[str]:
    steps = steps_from(true.where("wall"), goal)
    agent = true.place_of("agent")
    here = steps.get(agent, 0)
    return [name for name in MOVES if steps.get(after(agent, name), here) < here]


def somewhere(true: CellMap, rng: np.random.Generator) -> Position:
    free = np.argwhere(true.where("empty"))
    row, column = free[rng.integers(len(free))].tolist()
    return row, column


def told(place: Position) -> str:
    return f"{place[0]},{place[1]}"


def reasoning(true: CellMap, goal: Position, path: Sequence[Position] = ()) -> str:
    way = f" path {' '.join(map(told, path))}" if path else ""
    return f"A {told(true.place_of('agent'))} G {told(goal)}{way}"


def thinking(action: str, thought: str) -> Decision:
    completion = Completion(text=action, finish="stop", reasoning=thought)
    return Decision.act(action, completion)


def way(true: CellMap, first: str) -> list[Position]:
    """A path that begins with an action and then is shortest."""
    goal = true.place_of("goal")
    steps = steps_from(true.where("wall"), goal)
    path = [true.place_of("agent"), after(true.place_of("agent"), first)]
    while path[-1] != goal:
        nexts = [after(path[-1], name) for name in MOVES]
        path.append(min(nexts, key=lambda cell: steps.get(cell, 10**6)))
    return path


def garbled(seen: Seen) -> Decision:
    return Decision.unusable("unparsable", "wanted an action, got 'hm'")


def towards_a_wrong_goal(seen: Seen) -> Decision:
    """Acts on a goal that only its activations show."""
    true, _, rng = seen
    place = somewhere(true, rng)
    best = first_steps(true, place)
    return replace(Decision.act(best[0]), detail=told(place))


def naming_a_wrong_goal(seen: Seen) -> Decision:
    true, _, rng = seen
    place = somewhere(true, rng)
    return thinking(first_steps(true, place)[0], reasoning(true, place))


def naming_no_wall(seen: Seen) -> Decision:
    """Walks straight on, through a wall."""
    true, _, _ = seen
    agent = true.place_of("agent")
    bumps = [name for name in MOVES if true.where("wall")[after(agent, name)]]
    if not bumps:
        return Decision.act(first_steps(true, true.place_of("goal"))[0])
    action = bumps[0]
    goal = true.place_of("goal")
    return thinking(action, reasoning(true, goal, (agent, after(agent, action))))


def detouring(seen: Seen) -> Decision:
    true, turn, _ = seen
    agent = true.place_of("agent")
    for action in MOVES:
        there = after(agent, action)
        if action not in (turn.optimal or ()) and not true.where("wall")[there]:
            path = way(true, action)
            return thinking(action, reasoning(true, true.place_of("goal"), path))
    return Decision.act(turn.optimal[0] if turn.optimal else "UP")


def slipping(seen: Seen) -> Decision:
    _, turn, rng = seen
    best = (turn.optimal or ("UP",))[0]
    other = [*MOVES][rng.integers(4)]
    odds = dict.fromkeys(MOVES, 0.1) | {best: 0.7}
    return replace(Decision.act(other), probabilities=odds)


def saying_otherwise(seen: Seen) -> Decision:
    true, turn, rng = seen
    path = way(true, (turn.optimal or ("UP",))[0])
    other = [*MOVES][rng.integers(4)]
    return thinking(other, reasoning(true, true.place_of("goal"), path))


def erring(evidence: Evidence, decide: Callable[[Seen], Decision]) -> Evidence:
    """The same states with the decisions of another agent, and its decoded maps."""
    rng = np.random.default_rng(0)
    played = []
    rows = []
    decoded = []
    for trajectory in evidence.trajectories:
        turns = []
        for turn in trajectory.turns:
            assert turn.state is not None
            true = CellMap.from_record(trajectory.world, turn.state)
            decision = decide((true, turn, rng))
            turns.append(replace(turn, decision=decision))
            cells = true.padded(SIZE).copy()
            if decide is towards_a_wrong_goal:
                row, column = map(int, decision.detail.split(","))
                cells[true.place_of("goal")] = CLASSES.index("empty")
                cells[row, column] = CLASSES.index("goal")
            rows.append((str(trajectory.key), turn.index))
            decoded.append(np.eye(len(CLASSES), dtype=np.float32)[cells])
        played.append(replace(trajectory, turns=tuple(turns)))
    report = ProbeReport(
        fit=FIT,
        measurements=(),
        n_train=1,
        n_test=len(rows),
        rows=tuple(rows),
        decoded=np.array(decoded),
        classes=CLASSES,
    )
    return replace(evidence, trajectories=played, probe_reports=(report,))


def values(found: Sequence[Measurement], fit: str | None) -> Mapping[str, float | None]:
    return {one.name: one.value for one in found if one.where.get("fit") == fit}


@pytest.mark.parametrize(
    ("decide", "cause"),
    [
        (garbled, "unreadable"),
        (towards_a_wrong_goal, "belief"),
        (naming_a_wrong_goal, "stated"),
        (naming_no_wall, "stated"),
        (detouring, "plan"),
        (slipping, "slip"),
        (saying_otherwise, "slip"),
    ],
)
def test_planted_errors_are_attributed_rightly(
    walked: Evidence, decide: Callable[[Seen], Decision], cause: str
) -> None:
    found = values(errors(erring(walked, decide)), "none")
    assert (found[f"errors.{cause}"] or 0) >= 0.9
    shares = [found.get(f"errors.{each}") or 0 for each in CAUSES]
    assert sum(shares) == pytest.approx(1)


def test_the_first_cause_that_explains_a_turn_has_it(walked: Evidence) -> None:
    def slipping_too(seen: Seen) -> Decision:
        decision = naming_a_wrong_goal(seen)
        odds = dict.fromkeys(MOVES, 0.3) | {decision.action or "": 0.1}
        return replace(decision, probabilities=odds)

    found = values(errors(erring(walked, slipping_too)), "none")
    assert found["errors.stated"] == 1
    assert found["errors.slip"] == 0


def test_a_false_statement_that_the_action_does_not_follow_explains_nothing(
    walked: Evidence,
) -> None:
    def saying_one_thing(seen: Seen) -> Decision:
        true, turn, rng = seen
        place = somewhere(true, rng)
        wrong = {*MOVES} - {*first_steps(true, place)} - {*(turn.optimal or ())}
        return thinking(sorted(wrong)[0], reasoning(true, place))

    found = values(errors(erring(walked, saying_one_thing)), "none")
    assert found["errors.stated"] == 0
    assert found["errors.unexplained"] == 1


def test_a_path_that_stops_before_the_goal_or_leaves_the_map_is_no_plan(
    walked: Evidence,
) -> None:
    def stopping(seen: Seen) -> Decision:
        decision = detouring(seen)
        thought = decision.completion.reasoning if decision.completion else None
        if thought is None:
            return decision
        return thinking(decision.action or "", thought.rpartition(" ")[0])

    def leaving(seen: Seen) -> Decision:
        true, turn, _ = seen
        wrong = sorted({*MOVES} - {*(turn.optimal or ())})[0]
        path = (true.place_of("agent"), (99, 99))
        return thinking(wrong, reasoning(true, true.place_of("goal"), path))

    for decide in (stopping, leaving):
        found = values(errors(erring(walked, decide)), "none")
        assert not found["errors.plan"]


def test_random_actions_are_those_that_are_not_optimal(walked: Evidence) -> None:
    trajectory = next(one for one in walked.trajectories if len(one.turns) > 1)
    for one in erring_turns(trajectory, ErrorsConfig().reasoning):
        optimal = trajectory.turns[one.index].optimal or ()
        assert {*one.wrong} == {*MOVES} - {*optimal}


def with_lure(evidence: Evidence) -> Evidence:
    """Every world with a thing to be drawn to, and an agent that always is."""
    rng = np.random.default_rng(1)
    played = []
    for trajectory in evidence.trajectories:
        turns = []
        for turn in trajectory.turns:
            assert turn.state is not None
            true = CellMap.from_record(trajectory.world, turn.state)
            place = somewhere(true, rng)
            things = {"agent": {"kind": "agent"}, "goal": {"kind": "goal"}, "lure": {}}
            facts = {**turn.state.facts, "things": things, "lure": [*place]}
            decision = Decision.act(first_steps(true, place)[0])
            state = replace(turn.state, facts=facts)
            turns.append(replace(turn, state=state, decision=decision))
        played.append(replace(trajectory, turns=tuple(turns)))
    return replace(evidence, trajectories=played)


def test_a_lure_is_found_and_random_actions_would_be_lured_less(
    walked: Evidence,
) -> None:
    found = values(errors(with_lure(walked)), None)
    assert found["errors.goal"] == 1
    assert (found["errors.goal.random"] or 0) < 0.5


def test_an_earlier_goal_is_another_goal(walked: Evidence) -> None:
    """The goal moves after the first turn, and the agent goes on towards the old one."""
    found: list[str] = []
    for trajectory in walked.trajectories:
        if len(trajectory.turns) < 2:
            continue
        first, second, *_ = trajectory.turns
        assert first.state is not None
        true = CellMap.from_record(trajectory.world, first.state)
        moved = somewhere(true, np.random.default_rng(2))
        state = replace(first.state, facts={**first.state.facts, "goal": [*moved]})
        now = CellMap.from_record(trajectory.world, state)
        old = first_steps(true, true.place_of("goal"))
        stale = [name for name in old if name not in first_steps(now, moved)]
        if not stale:
            continue
        optimal = tuple(first_steps(now, moved))
        later = replace(
            second, state=state, optimal=optimal, decision=Decision.act(stale[0])
        )
        one = replace(trajectory, turns=(first, later))
        remarks = errors.remarks(replace(walked, trajectories=[one]))
        found.append(remarks[str(one.key), second.index])
    assert found
    assert all(each.startswith("goal: optimal towards the earlier") for each in found)


def test_what_a_random_agent_does_is_no_more_than_what_random_actions_would(
    walked: Evidence,
) -> None:
    """Its beliefs explain nothing beyond the maps of other worlds."""
    rng = np.random.default_rng(3)

    def strolling(seen: Seen) -> Decision:
        return Decision.act([*MOVES][rng.integers(4)])

    evidence = erring(walked, towards_a_wrong_goal)
    strolled = erring(walked, strolling)
    mixed = replace(evidence, trajectories=strolled.trajectories)
    found = {one.name: one for one in errors(mixed) if one.where.get("fit") == "none"}
    belief = found["errors.belief"]
    assert belief.interval is not None
    low, high = belief.interval
    assert low <= (found["errors.belief.random"].value or 0) <= high


def test_own_maps_explain_more_than_those_of_other_worlds(walked: Evidence) -> None:
    found = values(errors(erring(walked, towards_a_wrong_goal)), "none")
    assert found["errors.belief"] == 1
    assert (found["errors.belief.shuffled"] or 1) < 0.6


def with_random_weights(evidence: Evidence, n_draws: int, own: int) -> Evidence:
    """Beside a control of so many draws, of which the first ones decode as the probe,
    the others maps of other turns.
    """
    (report,) = evidence.probe_reports
    n_turns = len(report.decoded)
    draws = []
    for draw in range(n_draws):
        by = 0 if draw < own else n_turns // 2 + draw
        draws.append(np.roll(report.decoded, by, axis=0))
    control = replace(
        report,
        fit=replace(report.fit, control="untrained"),
        decoded=draws[0],
        further=tuple(draws[1:]),
    )
    return replace(evidence, probe_reports=(report, control))


@pytest.mark.parametrize("metric", [errors, beliefs])
def test_beliefs_that_are_acted_on_are_beyond_those_of_random_weights(
    walked: Evidence, metric: Callable[[Evidence], Sequence[Measurement]]
) -> None:
    names = {"errors.belief", "beliefs.recovery", "beliefs.accuracy.decoded"}
    evidence = erring(walked, towards_a_wrong_goal)

    def verdicts(n_draws: int, own: int) -> list[Verdict]:
        found = metric(with_random_weights(evidence, n_draws, own))
        return [one.verdict for one in found if one.name in names and one.verdict]

    for one in verdicts(19, own=0):
        assert one.outcome == "better" and one.outside and one.draws == 19
        assert one.difference > 0.3
    # One initialisation that explains as much is enough to doubt.
    assert {one.outcome for one in verdicts(19, own=1)} == {"none"}
    assert {one.outcome for one in verdicts(4, own=0)} == {"untested"}


def test_recovery_stands_beside_maps_of_other_worlds_and_chance(
    walked: Evidence,
) -> None:
    found = values(beliefs(erring(walked, towards_a_wrong_goal)), "none")
    assert found["beliefs.recovery"] == 1
    assert (found["beliefs.recovery.shuffled"] or 1) < 0.6
    assert (found["beliefs.recovery.random"] or 1) < 0.6
    assert found["beliefs.accuracy.decoded"] == 1
    assert (found["beliefs.accuracy.decoded.shuffled"] or 1) < 0.6


def test_the_page_tells_why_a_turn_was_not_optimal(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="random"),
        metrics=(Choice(name="errors"),),
        episodes=2,
    )
    evaluate(plan, tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    (packed,) = re.findall(r'id="films">(.+?)</script>', page)
    films = json.loads(gzip.decompress(base64.b64decode(packed)))
    whys = {
        frame.get("why")
        for film in films
        for frame in film["turns"]
        if frame["verdict"] == "not optimal"
    }
    assert whys == {"unexplained"}


def test_what_cannot_be_told_has_a_reason(walked: Evidence) -> None:
    reasons = {one.name: one.reason for one in errors(walked)}
    assert reasons["errors.belief"].startswith("no probe")
    assert "errors.reasoning" in reasons["errors.stated"]
    assert reasons["errors.goal"] == "no world has anything but the goal to go to"
    assert "agent.probabilities=true" in reasons["errors.slip"]
    assert not reasons["errors.unexplained"]


def test_without_an_error_or_an_optimum_there_is_a_reason(walked: Evidence) -> None:
    def perfect(one: Trajectory) -> Trajectory:
        turns = []
        for turn in one.turns:
            best = Decision.act((turn.optimal or ("UP",))[0])
            turns.append(replace(turn, decision=best))
        return replace(one, turns=tuple(turns))

    flawless = [perfect(one) for one in walked.trajectories]
    (only,) = errors(replace(walked, trajectories=flawless))
    assert only.reason == "every action with a certified optimum was optimal"

    unknown = [
        replace(one, turns=tuple(replace(turn, optimal=None) for turn in one.turns))
        for one in walked.trajectories
    ]
    (only,) = errors(replace(walked, trajectories=unknown))
    assert only.reason == "no turn has certified optimal actions"


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(GdeError, match=r"errors\.reasoning: '\(' is no regular"):
        ErrorsConfig(reasoning="(")
