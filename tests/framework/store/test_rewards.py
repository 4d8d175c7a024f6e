"""Reward traces are read as they were written, failures with their reason."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gde import RewardTrace
from gde.store.journal import Journal
from gde.store.rewards import judged, read_traces, write_trace


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def trace(
    episode: str, *values: float, model: str = "m", failure: str = ""
) -> RewardTrace:
    return RewardTrace(
        model=model,
        episode=episode,
        values=np.array(values, dtype=float),
        failure=failure,
    )


def plain(one: RewardTrace) -> tuple[str, str, list[float], str]:
    return one.model, one.episode, one.values.tolist(), one.failure


def test_traces_come_back(journal: Journal) -> None:
    traces = [
        trace("0/0/0", 0.1, -3.0, 1e300),
        trace("0/1/0", failure="no opinion"),
        trace("0/2/0", *range(12)),
        trace("0/0/0", 1.0, model="other"),
    ]
    for one in reversed(traces):
        write_trace(one, journal)
    assert sorted(map(plain, read_traces(journal))) == sorted(map(plain, traces))
    assert judged(journal, "m") == {"0/0/0", "0/1/0", "0/2/0"}
    assert judged(journal, "nobody") == set()


def test_values_of_a_failure_are_not_kept(journal: Journal) -> None:
    write_trace(trace("0/0/0", 1.0, 2.0, failure="no opinion"), journal)
    assert plain(read_traces(journal)[0]) == ("m", "0/0/0", [], "no opinion")


def test_an_episode_without_turns_is_judged_and_says_so(journal: Journal) -> None:
    write_trace(trace("0/0/0"), journal)
    assert plain(read_traces(journal)[0]) == (
        "m",
        "0/0/0",
        [],
        "the episode has no turns",
    )
    assert judged(journal, "m") == {"0/0/0"}


def test_a_run_without_reward_models_has_no_traces(journal: Journal) -> None:
    assert read_traces(journal) == ()


def test_how_rewards_came_about_is_kept_with_values_and_with_failures(
    journal: Journal,
) -> None:
    for one in (
        trace("0/0/0", 1.0),
        trace("0/1/0", failure="no opinion"),
        trace("0/2/0", 1.0),
    ):
        told = (
            {"made_by": "rules", "counts": {"asked again": 2}}
            if one.episode != "0/2/0"
            else {}
        )
        write_trace(replace(one, **told), journal)  # type: ignore[arg-type]
    found = {one.episode: (one.made_by, one.counts) for one in read_traces(journal)}
    assert found["0/0/0"] == found["0/1/0"] == ("rules", {"asked again": 2})
    assert found["0/2/0"] == ("", {})
