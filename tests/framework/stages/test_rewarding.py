"""Every episode is judged once by every reward model; what goes wrong is the reason why
it has no rewards.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from gde import GdeError, Rewards, RunFailed, Transcript
from gde.data.reward import PREFIX_TESTS, READS_AHEAD
from gde.stages.rewarding import Shown, reward, trace
from gde.store.journal import Journal
from gde.store.rewards import read_traces
from gde.testing.samples import sample_evidence

TRAJECTORIES = sample_evidence().trajectories
WITH_TURNS = [one for one in TRAJECTORIES if one.turns]


@dataclass
class Counting:
    """Gives what it is told to give; notes whom it judges, and how many at once."""

    give: Callable[[Transcript], object] = lambda one: np.arange(
        len(one.steps), dtype=float
    )
    judged: list[Transcript] = field(default_factory=list)
    now: int = 0
    most: int = 0

    async def rewards(self, transcript: Transcript) -> Rewards:
        self.judged.append(transcript)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        values = self.give(transcript)
        return Rewards(values=values)  # type: ignore[arg-type]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def judge(
    model: object, journal: Journal, name: str = "judge", concurrency: int = 3
) -> None:
    shown = Shown(name, model)  # type: ignore[arg-type]
    asyncio.run(reward(shown, TRAJECTORIES, concurrency, journal))


def test_every_trajectory_gets_a_trace_under_the_names_of_the_run(
    journal: Journal,
) -> None:
    judge(Counting(), journal)
    found = {each.episode: each for each in read_traces(journal)}
    assert found.keys() == {str(one.key) for one in TRAJECTORIES}
    for one in WITH_TURNS:
        assert found[str(one.key)].values.tolist() == list(range(len(one.turns)))
        assert found[str(one.key)].model == "judge"
    assert found["0/6/0"].failure == "the episode has no turns"


def test_what_is_judged_is_not_judged_again(journal: Journal) -> None:
    model = Counting()
    asyncio.run(reward(Shown("judge", model), TRAJECTORIES[:3], 3, journal))
    judge(model, journal)
    judge(model, journal)
    # The prefix test asks once more about each episode with at least two turns.
    n_asked = len(model.judged)
    assert n_asked == len(TRAJECTORIES) + sum(
        len(one.turns) > 1 for one in TRAJECTORIES
    )
    judge(model, journal, "another")
    assert len(model.judged) == 2 * n_asked
    assert len(read_traces(journal)) == 2 * len(TRAJECTORIES)


@pytest.mark.parametrize("concurrency", [1, 2, 100])
def test_so_many_are_judged_at_once(concurrency: int, journal: Journal) -> None:
    model = Counting()
    judge(model, journal, concurrency=concurrency)
    assert model.most == min(concurrency, len(TRAJECTORIES))


def raising(error: Exception) -> Callable[[Transcript], object]:
    def give(_: Transcript) -> object:
        raise error

    return give


@pytest.mark.parametrize(
    ("give", "reason"),
    [
        (raising(GdeError("no opinion")), "no opinion"),
        (raising(KeyError("lost")), "KeyError: 'lost'"),
        (
            lambda one: np.zeros(len(one.steps) + 1),
            "ValueError: wanted 3 rewards, one a step, got 4",
        ),
        (
            lambda one: np.full(len(one.steps), np.nan),
            "ValueError: step 0: wanted a finite reward, got nan",
        ),
        (
            lambda one: np.zeros((len(one.steps), 1)),
            "ValueError: wanted 3 rewards, one a step, got 3x1",
        ),
        (
            lambda one: np.zeros(len(one.steps), dtype=complex),
            r"ValueError: rewards: wanted one number a step, got array\(\[0",
        ),
    ],
)
def test_what_goes_wrong_is_the_reason(
    give: Callable[[Transcript], object], reason: str
) -> None:
    found = asyncio.run(trace(Shown("judge", Counting(give)), WITH_TURNS[0]))
    assert (found.model, found.episode, found.values.shape) == ("judge", "0/0/0", (0,))
    with pytest.raises(GdeError, match=reason):
        raise GdeError(found.failure)


class Bare(Counting):
    async def rewards(self, transcript: Transcript) -> Rewards:
        return (await super().rewards(transcript)).values  # type: ignore[return-value]


def test_an_array_is_no_rewards() -> None:
    found = asyncio.run(trace(Shown("judge", Bare()), WITH_TURNS[0]))
    assert (found.episode, found.values.shape) == ("0/0/0", (0,))
    assert found.failure.startswith("TypeError: wanted gde.Rewards, got array")


def test_one_failure_costs_no_other_episode(journal: Journal) -> None:
    second = Transcript.of(TRAJECTORIES[1])

    def give(one: Transcript) -> object:
        if one == second:
            raise GdeError("no opinion")
        return np.zeros(len(one.steps))

    judge(Counting(give), journal)
    assert [
        each.episode for each in read_traces(journal) if each.failure == "no opinion"
    ] == ["0/1/0"]


def test_a_full_disk_stops_the_stage_and_is_nobody_s_failure(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = RunFailed(
        "cannot write the journal: full; free disk space, then resume with `gde resume`"
    )
    with pytest.raises(
        RunFailed, match="free disk space"
    ):  # met by the model, when what it asked is to be kept
        judge(Counting(raising(full)), journal)
    monkeypatch.setattr(
        Journal, "write", lambda *_: raising(full)(Transcript.of(WITH_TURNS[0]))
    )
    with pytest.raises(RunFailed, match="free disk space"):  # met by the stage
        judge(Counting(), journal)
    monkeypatch.undo()
    assert read_traces(journal) == ()


def test_a_zero_is_read_whatever_its_sign(journal: Journal) -> None:
    judge(Counting(lambda one: -np.zeros(len(one.steps))), journal)
    assert all(
        (each.values == 0).all() for each in read_traces(journal) if not each.failure
    )


def test_a_model_that_reads_ahead_is_marked(journal: Journal) -> None:
    judge(Counting(), journal, "causal")
    judge(Counting(lambda one: np.full(len(one.steps), len(one.steps))), journal)
    found = {(each.model, each.episode): each for each in read_traces(journal)}
    for one in WITH_TURNS:
        if len(one.turns) > 1:
            key = str(one.key)
            assert found["causal", key].counts == {PREFIX_TESTS: 1}
            assert found["judge", key].counts == {PREFIX_TESTS: 1, READS_AHEAD: 1}
