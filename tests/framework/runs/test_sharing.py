"""How many workers a run is of use to, and that every episode is the work of one of
them.
"""

from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from gde import Choice, How, Plan
from gde.before.preparing import prepare
from gde.request.catalogue import Catalogue
from gde.runs.sharing import shares
from gde.stages.rollout import episode_keys
from gde.store.journal import Journal

NANO, SERVED = "nano", "openai:http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("model", "episodes", "concurrency", "workers", "n"),
    [
        (SERVED, 40, 32, 2, 2),  # which computes elsewhere
        (SERVED, 3, 32, 8, 3),
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
