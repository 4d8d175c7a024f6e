"""A worker that dies costs at most the episode that killed it; who it was is found
out.
"""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from own_parts import Counting, Dying, KilledOnce, long_corridor, mined

from gde import How, Plan, RunFailed, evaluate, load_evidence, resume
from gde.before.preparing import prepare
from gde.data.observation import World
from gde.data.trajectory import Turn
from gde.errors import WorkerDied
from gde.request.catalogue import Catalogue
from gde.runs import sharing
from gde.runs.stopping import Stop
from gde.stages.rollout import episode_keys
from gde.store.journal import Journal
from gde.testing.parts import Corridor

pytestmark = pytest.mark.extended

PLAN = Plan(
    environment=mined,
    agent=Counting,
    metrics=["success"],
    episodes=8,
)
HOW = How(concurrency=3, executor="processes")


def harmless() -> Corridor:
    return Corridor(5)


def test_an_episode_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    result = evaluate(PLAN, tmp_path / "run", how=HOW)
    expected = evaluate(
        replace(PLAN, environment=harmless), tmp_path / "harmless", how=How()
    )
    assert expected.status == "ok"
    whole = {
        str(each.key): each
        for each in load_evidence(tmp_path / "harmless").trajectories
    }
    deadly = {key for key, each in whole.items() if each.world.labels["distance"] == 4}
    assert 0 < len(deadly) < len(whole)
    assert result.status == "partial"
    assert {failure.subject for failure in result.failures} == deadly
    reason = "its worker process ended with exit code 7 before its work was done, twice at the same turn"
    assert all(reason in failure.reason for failure in result.failures)
    for each in load_evidence(tmp_path / "run").trajectories:
        if str(each.key) not in deadly:
            assert (each.turns, each.ending) == (
                whole[str(each.key)].turns,
                whole[str(each.key)].ending,
            )


def test_a_worker_that_is_killed_from_outside_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_PARTS_DEADLY", str(tmp_path / "killed"))
    request = replace(PLAN, environment=long_corridor, agent=KilledOnce)
    result = evaluate(request, tmp_path / "run", how=HOW)
    assert (tmp_path / "killed").exists()
    assert (result.status, result.failures) == ("ok", ())
    undisturbed = evaluate(request, tmp_path / "undisturbed", how=How())
    assert result.measurements == undisturbed.measurements
    pairs = zip(
        load_evidence(tmp_path / "run").trajectories,
        load_evidence(tmp_path / "undisturbed").trajectories,
        strict=True,
    )
    assert all(one.turns == other.turns for one, other in pairs)


def test_where_every_episode_is_deadly_the_run_stops_and_can_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue
) -> None:
    deadly = tmp_path / "deadly"
    deadly.touch()
    monkeypatch.setenv("OWN_PARTS_DEADLY", str(deadly))
    monkeypatch.setattr(sharing, "MOST_DEATHS", 3)
    request = replace(PLAN, environment=long_corridor, agent=Dying)
    with pytest.raises(
        RunFailed, match=r"process ended with exit code 7 .* with `gde resume`"
    ) as raised:
        evaluate(request, tmp_path / "run", how=HOW)
    assert raised.value.exit_code == 3
    deadly.unlink()
    result = resume(tmp_path / "run", plan=request, retry_failed=True)
    assert result.status == "ok"
    assert result.subject.retried > 0


def test_only_two_deaths_alone_at_the_same_turn_blame_an_episode(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    """Workers are killed from outside while an episode is alone, again and again."""
    ready = prepare(replace(PLAN, environment=long_corridor), catalogue, HOW)
    path = tmp_path / "run.sqlite"
    died = WorkerDied("was killed by SIGKILL")
    key, *_ = episode_keys(ready, ((),))
    world = World(id="w")
    turn = evaluated_turn(tmp_path)
    with closing(Journal.create(path)) as journal:
        asyncio.run(journal.begin(key, 0, world, {}, 50))
        job = sharing.Sharing(path, Stop())
        (share,) = sharing.shares(ready, ((),), journal, 1)

        # In a crowd, and alone at another turn each time.
        share = job.after_death(share, died)
        assert len(share.suspects) == HOW.concurrency
        for index in range(50):
            asyncio.run(journal.turn(key, replace(turn, index=index)))
            journal.note(share.note, str(key))
            share = job.after_death(share, died)
        assert journal.finished() == set()

        # Between two episodes.
        share = job.after_death(share, died)
        journal.note(share.note, str(key))
        share = job.after_death(share, died)
        assert journal.finished() == set()

        journal.note(share.note, str(key))
        share = job.after_death(share, died)
        assert journal.finished() == {str(key)}

        with pytest.raises(WorkerDied):
            for _ in range(sharing.MOST_DEATHS + 1):
                share = job.after_death(share, died)


def evaluated_turn(folder: Path) -> Turn:
    """Any turn."""
    request = replace(PLAN, environment=harmless, episodes=1)
    evaluate(request, folder / "one", how=How())
    (trajectory,) = load_evidence(folder / "one").trajectories
    return replace(trajectory.turns[0], state=None, optimal=None)
