"""One episode: what is true and best before a decision, decisions that cannot be used,
and deadlines.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from recipe_world import Recipe

from gde import (
    Choice,
    Decision,
    GdeError,
    How,
    Observation,
    Outcome,
    Plan,
    RunFailed,
    evaluate,
    load_evidence,
    resume,
)
from gde.data.observation import Optimum
from gde.data.result import Result
from gde.data.trajectory import Trajectory
from gde.request.catalogue import Catalogue
from gde.stages import judging
from gde.stages.failing import reason_of
from gde.stages.judging import Judge
from gde.store.journal import Journal
from gde.testing.parts import Corridor, ScriptedAgent

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=4)


def played(
    plan: Plan, folder: Path, catalogue: Catalogue, how: How | None = None
) -> tuple[Result, list[Trajectory]]:
    result = evaluate(plan, folder, catalogue, how=how)
    return result, [*load_evidence(folder, catalogue).trajectories]


class Knowing(Corridor):
    """Knows better than its decision process."""

    def optimum(self) -> Optimum:
        return Optimum(actions=("LEFT",), value=-7.0, means="says so")


def test_the_environment_s_own_word_goes_before_the_solution() -> None:
    own, solved = Knowing(), Corridor()
    own.reset(0), solved.reset(0)
    assert Judge().moment(own).optimum == own.optimum()
    found = Judge().moment(solved).optimum
    assert found == Optimum(
        actions=("RIGHT",), value=float(solved.at - 2), means="solved"
    )


def test_an_optimum_needs_neither_state_nor_process() -> None:
    recipe = Recipe()
    recipe.reset(0)
    moment = Judge().moment(recipe)
    assert moment.state is None
    assert moment.optimum == recipe.optimum()


def test_a_process_is_solved_once_and_again_when_it_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved: list[object] = []
    solve = judging.solve
    monkeypatch.setattr(judging, "solve", lambda mdp: solved.append(mdp) or solve(mdp))
    corridor, judge = Corridor(5), Judge()
    corridor.reset(0)
    mdp = corridor.mdp()
    monkeypatch.setattr(Corridor, "mdp", lambda _: mdp)
    judge.moment(corridor), judge.moment(corridor)
    assert len(solved) == 1
    mdp = replace(mdp)
    judge.moment(corridor)
    assert len(solved) == 2


@dataclass
class Answers(ScriptedAgent):
    """Is silent in every other turn."""

    async def act(self, observation: Observation) -> Decision:
        decision = await super().act(observation)
        return Decision.unusable("empty", "silence") if self._turn % 2 else decision


def test_an_unusable_decision_leaves_the_world_and_its_success_as_they_are(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN,
        environment=Choice(name="recipe"),
        agent=Choice.of(lambda: Answers(("STEP0", "STEP1"))),
    )
    _, trajectories = played(plan, tmp_path / "run", catalogue)
    silent = 0
    for one in trajectories:
        for before, turn in zip(one.turns, one.turns[1:], strict=False):
            if turn.decision.action is None:
                silent += 1
                assert (turn.success, turn.reward, turn.terminated) == (
                    before.success,
                    0.0,
                    False,
                )
    assert silent
    assert any(0 < (one.success or 0) < 1 for one in trajectories)


def test_a_changed_completion_is_recorded_as_it_was_given(
    tmp_path: Path, asking: Catalogue
) -> None:
    result, trajectories = played(
        replace(PLAN, agent=Choice(name="editor")), tmp_path / "run", asking
    )
    assert result.status == "ok"
    for turn in (turn for one in trajectories for turn in one.turns):
        assert turn.decision.status == "ok"
        assert turn.decision.completion is not None
        assert (turn.decision.completion.text, turn.decision.completion.model) == (
            "RIGHT",
            "planted",
        )
        assert turn.decision.completion.tokens


def test_a_completion_from_nowhere_is_an_error_that_says_so(
    tmp_path: Path, asking: Catalogue
) -> None:
    result, trajectories = played(
        replace(PLAN, agent=Choice(name="forger")), tmp_path / "run", asking
    )
    assert result.status == "failed"
    for one in trajectories:
        assert (one.ending, one.turns[-1].decision.status) == ("failed", "error")
        assert one.failure.startswith("the decision's completion is in no journal: ")
        assert "Decide by a completion of context.model(...)" in one.failure
    assert {each.reason for each in result.failures} == {
        one.failure for one in trajectories
    }


@pytest.mark.parametrize("agent", ["asking", "careless"])
def test_a_full_disk_is_no_error_of_the_agent(
    agent: str, tmp_path: Path, asking: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, call = replace(PLAN, agent=Choice(name=agent)), Journal.call

    async def full(self: Journal, scope: str, *rest: object) -> None:
        if scope == "0/1/0":
            raise RunFailed("cannot write the journal: full")
        await call(self, scope, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Journal, "call", full)
    with pytest.raises(RunFailed, match="cannot write the journal"):
        evaluate(plan, tmp_path / "run", asking)
    monkeypatch.undo()
    assert resume(tmp_path / "run", asking).status == "ok"


class Dawdling(ScriptedAgent):
    """Thinks for ever in worlds that begin in the first cell."""

    async def act(self, observation: Observation) -> Decision:
        if observation.text.startswith("#A"):
            await asyncio.sleep(3600)
        return await super().act(observation)


@pytest.mark.parametrize(
    ("plan", "how", "reason"),
    [
        (
            replace(PLAN, agent=Dawdling()),
            How(turn_seconds=0.2),
            "turn 0: more than run.turn_seconds=0.2",
        ),
        (
            replace(PLAN, agent=Dawdling()),
            How(episode_seconds=0.3),
            "episode: more than run.episode_seconds=0.3",
        ),
        (
            replace(PLAN, environment="trap"),
            How(turn_seconds=0.3),
            "turn [01]: more than run.turn_seconds=0.3",
        ),
        (
            replace(PLAN, environment="trap"),
            How(episode_seconds=0.4),
            "episode: more than run.episode_seconds=0.4",
        ),
    ],
    ids=["agent-turn", "agent-episode", "world-turn", "world-episode"],
)
def test_what_takes_too_long_fails_its_episode_and_stops_no_other(
    plan: Plan, how: How, reason: str, tmp_path: Path, asking: Catalogue
) -> None:
    result, trajectories = played(
        replace(plan, episodes=8), tmp_path / "run", asking, how
    )
    late = [one for one in trajectories if one.ending == "failed"]
    assert result.status == "partial"
    assert 0 < len(late) < len(trajectories) == 8
    for one in late:
        with pytest.raises(GdeError, match=f"^{reason}$"):
            raise GdeError(one.failure)
    assert {one.ending for one in trajectories if one not in late} == {"terminated"}


def test_a_run_that_takes_too_long_stops_and_can_go_on(
    tmp_path: Path, asking: Catalogue
) -> None:
    plan = replace(PLAN, environment=Choice(name="trap"), episodes=8)
    with pytest.raises(
        RunFailed, match=r"run\.run_seconds=1 are over; resume with `gde resume`"
    ):
        evaluate(plan, tmp_path / "run", asking, how=How(run_seconds=1.0))
    kept = load_evidence(tmp_path / "run", asking).trajectories
    assert 0 < len(kept) < 8
    assert {one.ending for one in kept} == {"terminated"}


class Silent(Corridor):
    """Says nothing of what an action led to."""

    def step(self, action: str) -> Outcome:
        return None  # type: ignore[return-value]


class Mute(ScriptedAgent):
    """Decides nothing."""

    async def act(self, observation: Observation) -> Decision:
        return None  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"environment": Choice.of(Silent)},
            "TypeError: step must give an Outcome, got None",
        ),
        (
            {"agent": Choice.of(Mute)},
            "Mute.act must give the name of an action (LEFT, RIGHT) or a Decision, got None",
        ),
    ],
)
def test_what_is_no_outcome_or_decision_is_named(
    change: dict[str, Choice], reason: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    result, _ = played(replace(PLAN, **change), tmp_path / "run", catalogue)  # type: ignore[arg-type]
    assert {each.reason for each in result.failures} == {reason}


def test_a_reason_is_one_line_with_its_type_where_it_was_not_expected() -> None:
    assert reason_of(GdeError("the server is gone")) == "the server is gone"
    assert reason_of(KeyError("lost")) == "KeyError: 'lost'"
