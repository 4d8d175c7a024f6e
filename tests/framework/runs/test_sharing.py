"""How many workers a run is of use to, and that every episode is the work of one of
them.
"""

from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, How, Plan, evaluate
from gde.before.preparing import prepare
from gde.errors import WorkerDied
from gde.request.catalogue import Catalogue
from gde.runs.sharing import MOST_DEATHS, Share, Sharing, shares
from gde.runs.stopping import Stop
from gde.stages.rollout import episode_keys
from gde.store.journal import Journal

NANO, SERVED = "nano", "openai:http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("model", "episodes", "concurrency", "workers", "n"),
    [
        (SERVED, 40, 32, 2, 2),  # which computes elsewhere
        (SERVED, 3, 32, 8, 3),
        (NANO, 5, 32, 2, 1),
        (NANO, 32, 32, 2, 1),  # one has them all under way
        (NANO, 63, 32, 2, 1),
        (NANO, 64, 32, 2, 2),
        (NANO, 99, 32, 8, 3),
        (NANO, 33, 4, 8, 8),
        (NANO, 100, 1, 8, 8),
    ],
)
def test_a_worker_has_all_it_can_answer_together_before_another_gets_any(
    model: str,
    episodes: int,
    concurrency: int,
    workers: int,
    n: int,
    tmp_path: Path,
    catalogue: Catalogue,
) -> None:
    agent = Choice(name="gpt-oss", config={"model": model})
    ready = prepare(
        Plan(environment="grid", agent=agent, episodes=episodes),
        catalogue,
        How(concurrency=concurrency),
    )
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        found = shares(ready, ((),), journal, workers)
    assert len(found) == n
    played = [*chain.from_iterable(share.episodes() for share in found)]
    assert sorted(played, key=str) == sorted(episode_keys(ready, ((),)), key=str)


@pytest.fixture
def begun(tmp_path: Path, catalogue: Catalogue) -> Path:
    """A run of four corridors, each with three turns, of which two have ended."""
    plan = Plan(environment="corridor", agent="scripted", episodes=4)
    evaluate(plan, tmp_path / "run", catalogue)
    journal_path = tmp_path / "run" / "run.sqlite"
    with closing(Journal.open(journal_path)) as journal:
        journal.forget(["0/2/0", "0/3/0"])
    return journal_path


def shared(
    path: Path, workers: int, catalogue: Catalogue, **limits: Any
) -> list[Share]:
    plan = Plan(environment="corridor", agent="scripted", episodes=4)
    ready = prepare(plan, catalogue, How(**limits))
    with closing(Journal.open(path)) as journal:
        return shares(ready, ((),), journal, workers)


def test_a_budget_is_divided_among_workers(begun: Path, catalogue: Catalogue) -> None:
    found = shared(begun, 3, catalogue, max_calls=8, max_tokens=9, max_cost=1.5)
    assert [share.most for share in found] == [
        {"max_calls": calls, "max_tokens": 3, "max_cost": 0.5} for calls in (3, 3, 2)
    ]
    (alone,) = shared(begun, 1, catalogue, max_calls=8)
    assert alone.most is None
    assert [share.most for share in shared(begun, 2, catalogue)] == [None, None]


def test_who_was_alone_twice_at_the_same_turn_has_failed(
    begun: Path, catalogue: Catalogue
) -> None:
    (share,) = shared(begun, 1, catalogue, concurrency=2)
    died = WorkerDied("was killed by SIGKILL")
    sharing = Sharing(begun, Stop())
    first = sharing.after_death(share, died)
    # All that were under way are suspects, and nobody is accused.
    assert [str(key) for key in first.suspects] == ["0/2/0", "0/3/0"]
    assert (first.accused, first.deaths) == (None, 1)

    for deaths in (2, 3):
        with closing(Journal.open(begun)) as journal:
            journal.note(share.note, "0/2/0")
        first = sharing.after_death(first, died)
        assert first.deaths == deaths
        with closing(Journal.open(begun)) as journal:
            assert journal.noted(share.note) is None
            failed = "0/2/0" in journal.finished()
        assert failed == (deaths == 3)
    assert [str(key) for key in first.suspects] == ["0/3/0"]


def test_deaths_are_counted_since_the_last_progress(
    begun: Path, catalogue: Catalogue
) -> None:
    (share,) = shared(begun, 1, catalogue)
    died = WorkerDied("was killed by SIGKILL")
    sharing = Sharing(begun, Stop())
    share = sharing.after_death(replace(share, deaths=7), died)
    assert share.deaths == 1 and share.progress > 0
    last = sharing.after_death(replace(share, deaths=MOST_DEATHS - 1), died)
    assert last.deaths == MOST_DEATHS
    with pytest.raises(WorkerDied):
        sharing.after_death(last, died)
    # Another turn is progress.
    again = sharing.after_death(replace(last, progress=last.progress - 1), died)
    assert again.deaths == 1
