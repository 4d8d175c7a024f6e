"""The journal: what is written is read again, together or alone, by one process or
several.
"""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gde import Completion, Decision, Observation, RunFailed, State, Trajectory
from gde.data.activations import Intervention
from gde.data.completion import Message
from gde.data.trajectory import Ending, EpisodeKey
from gde.errors import RunFolderError
from gde.store import rows, schema
from gde.store.copying import DistantJournal, copied
from gde.store.database import Statement
from gde.store.journal import TURNS_AT_ONCE, Journal
from gde.testing.samples import sample_evidence

EPISODES = [one for one in sample_evidence(3).trajectories if one.turns]
TEXT = st.text(st.characters(codec="utf-8"), max_size=200)
TOKENS = st.lists(st.integers(0, 2**31 - 1), max_size=9).map(tuple)
COMPLETIONS = st.builds(
    Completion,
    text=TEXT,
    reasoning=st.none() | TEXT,
    finish=st.sampled_from(("stop", "length", "refusal")),
    prompt_tokens=TOKENS,
    tokens=TOKENS,
    positions=st.dictionaries(st.sampled_from(("pre", "post")), TOKENS),
    n_prompt=st.integers(0, 10**9),
    n_completion=st.integers(0, 10**9),
    request=st.text("0123456789abcdef", min_size=8),
    model=TEXT,
    effort=st.none() | TEXT,
    logprobs=st.lists(st.floats(-1024, 0, width=32), max_size=9).map(tuple),
    prompt=st.lists(
        st.builds(
            Message, role=st.sampled_from(("system", "user", "assistant")), content=TEXT
        )
    ).map(tuple),
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


async def write(journal: Journal, one: Trajectory) -> None:
    await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
    for turn in one.turns:
        if (completion := turn.decision.completion) is not None:
            await journal.call(str(one.key), turn.index, completion)
        await journal.turn(one.key, turn)
    await journal.end(one.key, one.ending, one.failure, one.final_state)


def test_an_episode_is_read_as_it_was_written(journal: Journal) -> None:
    async def all_at_once() -> None:
        await asyncio.gather(*(write(journal, one) for one in reversed(EPISODES)))

    asyncio.run(all_at_once())
    assert [*journal.trajectories()] == EPISODES
    assert journal.trajectory("0/1/0") == EPISODES[1]
    assert journal.finished() == {str(one.key) for one in EPISODES}


def test_the_most_frequent_classes_of_unusable_answers_have_their_first_example(
    journal: Journal,
) -> None:
    template = EPISODES[0]
    statuses = ("empty", "unparsable", "refusal", "unparsable", "truncated", "refusal")

    def of(world: int, ending: Ending) -> Trajectory:
        turns = [
            replace(
                template.turns[0],
                index=i,
                decision=Decision.unusable(
                    status, f"{status} {world} {i} {'x ' * 200}"
                ),
            )
            for i, status in enumerate(statuses)
        ]
        key = EpisodeKey(condition=0, world=world)
        return replace(template, key=key, turns=tuple(turns), ending=ending)

    # In another order than that of the plan; what failed does not count.
    for one in (of(2, "horizon"), of(1, "horizon"), of(0, "failed")):
        asyncio.run(write(journal, one))
    classes = journal.unusable_classes()
    assert [(each.status, each.answers) for each in classes] == [
        ("refusal", 4),
        ("unparsable", 4),
        ("empty", 2),
    ]
    assert classes[0].example.startswith("refusal 1 2 x x")
    assert classes[0].example.endswith("...")
    assert len(classes[0].example) <= 240


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    completion=COMPLETIONS,
    text=TEXT,
    action=TEXT,
    value=st.floats(allow_nan=False),
    facts=st.dictionaries(TEXT, TEXT),
)
def test_any_text_any_token_and_any_value_come_back(
    completion: Completion,
    text: str,
    action: str,
    value: float,
    facts: dict[str, str],
    tmp_path: Path,
) -> None:
    (turn, *_) = EPISODES[0].turns
    turn = replace(
        turn,
        observation=Observation(text=text, actions=None),
        decision=replace(
            Decision.act(action, completion), probabilities={action: 0.25}
        ),
        optimal=(action,),
        value=value,
        state=State(facts=facts),
    )
    one = replace(EPISODES[0], turns=(turn,))
    (tmp_path / "run.sqlite").unlink(missing_ok=True)
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        asyncio.run(write(journal, one))
        assert journal.trajectory("0/0/0") == one
        assert journal.calls("0/0/0") == {completion.request: completion}
        (decision,) = journal.decisions("0/0/0")
        assert (decision.status, decision.action, decision.completion) == (
            "ok",
            action,
            None,
        )


@pytest.mark.parametrize("value", [-inf, 0.0, None])
def test_a_value_out_of_reach_is_kept(value: float | None, journal: Journal) -> None:
    one = replace(EPISODES[0], turns=(replace(EPISODES[0].turns[0], value=value),))
    asyncio.run(write(journal, one))
    assert journal.trajectory("0/0/0").turns[0].value == value


class Word(StrEnum):
    """Actions as an enumeration."""

    UP = "up"


def test_a_distant_worker_gives_the_digests_that_a_near_one_gives(
    journal: Journal, tmp_path: Path
) -> None:
    one = max(EPISODES, key=lambda each: len(each.turns))
    first, *others = one.turns
    assert others

    async def begin() -> None:
        await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
        await journal.turn(one.key, first)

    async def go_on(distant: Journal) -> None:
        for turn in others:
            await distant.turn(one.key, turn)
        await distant.end(one.key, one.ending, one.failure, one.final_state)

    def found(of: Journal) -> list[list[bytes]]:
        assert not [*of.damaged()]
        queries = (
            "SELECT digest FROM turns ORDER BY turn",
            "SELECT digest FROM episodes",
        )
        return [[row["digest"] for row in of.query(each)] for each in queries]

    asyncio.run(begin())
    with (
        closing(DistantJournal.create(tmp_path / "distant.sqlite")) as distant,
        closing(Journal.create(tmp_path / "whole.sqlite")) as whole,
    ):
        distant.write(copied(journal, {str(one.key)}))
        distant.send = journal.write
        asyncio.run(go_on(distant))
        asyncio.run(write(whole, one))
        assert found(journal) == found(distant) == found(whole)


def test_values_of_other_types_are_kept_as_what_they_say(journal: Journal) -> None:
    """What NumPy and enumerations give is no plain text or number, and would not be
    kept like one.
    """
    (first, *_) = EPISODES[0].turns
    decisions = [Decision.act(action) for action in (np.str_("up"), Word.UP, "up")]
    odd: Any = {
        "reward": np.float32(0.5),
        "success": 1,
        "value": np.int64(-3),
        "terminated": np.bool_(False),
    }
    turns = tuple(
        replace(first, index=i, decision=each, **odd)
        for i, each in enumerate(decisions)
    )
    asyncio.run(write(journal, replace(EPISODES[0], turns=turns)))
    assert not [*journal.damaged()]
    for turn in journal.trajectory("0/0/0").turns:
        assert (type(turn.decision.action), turn.decision.action) == (str, "up")
        assert (turn.reward, turn.success, turn.value, turn.terminated) == (
            0.5,
            1.0,
            -3.0,
            False,
        )


@pytest.mark.parametrize("odd", [{"success": nan}, {"value": nan}, {"value": "much"}])
def test_values_that_are_no_numbers_are_refused(
    odd: dict[str, Any], journal: Journal
) -> None:
    one = replace(EPISODES[0], turns=(replace(EPISODES[0].turns[0], **odd),))
    with pytest.raises((TypeError, ValueError)):
        asyncio.run(write(journal, one))
    assert not [*journal.damaged()]
    assert journal.last_turn() == 0


def test_one_writer_s_mistake_costs_no_other(journal: Journal) -> None:
    """A turn that is there already cannot be written; what came in the same tick is."""
    asyncio.run(write(journal, EPISODES[0]))

    async def both() -> list[BaseException | None]:
        twice = journal.turn(EPISODES[0].key, EPISODES[0].turns[0])
        return await asyncio.gather(
            twice, write(journal, EPISODES[1]), return_exceptions=True
        )

    mistake, fine = asyncio.run(both())
    assert isinstance(mistake, sqlite3.IntegrityError)
    assert fine is None
    assert [*journal.trajectories()] == EPISODES[:2]


def long(n: int) -> Trajectory:
    """An episode of n turns that asked no model."""
    one = EPISODES[0]
    turn = replace(one.turns[0], decision=Decision(status="ok", action="RIGHT"))
    turns = tuple(replace(turn, index=i) for i in range(n))
    return replace(one, turns=turns, horizon=n)


@pytest.fixture
def commits(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of statements in each transaction of a rollout."""
    found: list[int] = []
    written = journal.write

    def counting(statements: Sequence[Statement]) -> None:
        found.append(len(statements))
        written(statements)

    monkeypatch.setattr(journal, "write", counting)
    journal.together = True
    return found


def test_turns_wait_for_others_but_not_long(
    journal: Journal, commits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = long(2 * TURNS_AT_ONCE)
    asyncio.run(write(journal, one))
    # The beginning is one of the first hundred, and the last turn comes with the end.
    assert commits == [TURNS_AT_ONCE, TURNS_AT_ONCE, 1 + 2]
    assert [*journal.trajectories()] == [one]

    commits.clear()
    clock = iter(range(99))
    monkeypatch.setattr("gde.store.journal.monotonic", lambda: next(clock))
    other = replace(long(3), key=EPISODES[1].key)
    asyncio.run(write(journal, other))
    assert commits[:-1] == [1] * 4


def test_what_waits_of_an_episode_is_written_with_its_answers(
    journal: Journal, commits: list[int]
) -> None:
    one = long(3)
    answer = Completion(
        text="RIGHT", reasoning=None, finish="stop", request="0123abcd", model="m"
    )

    async def some() -> None:
        await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
        await journal.turn(one.key, one.turns[0])
        assert commits == []
        await journal.reserve("0/0/0", "0123abcd", "m", (1, 1))
        await journal.turn(one.key, one.turns[1])
        await journal.call("0/0/0", 2, answer)
        await journal.turn(one.key, one.turns[2])

    asyncio.run(some())
    assert len(commits) == 2
    assert (len(journal.decisions("0/0/0")), {*journal.calls("0/0/0")}) == (
        2,
        {"0123abcd"},
    )


def test_an_episode_that_is_played_again_has_nothing_twice(
    journal: Journal, commits: list[int]
) -> None:
    one = long(3)

    async def again() -> None:
        await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
        await journal.turn(one.key, one.turns[0])
        await write(journal, one)

    asyncio.run(again())
    assert len(commits) == 1
    assert [*journal.trajectories()] == [one]


def test_a_turn_that_cannot_be_written_costs_none_before_it(
    journal: Journal, commits: list[int]
) -> None:
    one = long(3)
    odd = replace(one.turns[2], observation=Observation(text="\ud800"))

    async def badly() -> None:
        await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
        for turn in (*one.turns[:2], odd):
            await journal.turn(one.key, turn)
        try:
            await journal.end(one.key, "horizon", "", None)
        except UnicodeEncodeError as error:
            await journal.end(one.key, "failed", str(error), None)

    asyncio.run(badly())
    assert commits
    (read,) = journal.trajectories()
    assert (read.turns, read.ending) == (one.turns[:2], "failed")


def test_an_episode_that_has_begun_keeps_its_beginning(journal: Journal) -> None:
    one = EPISODES[0]

    async def twice() -> None:
        await journal.begin(one.key, one.seed, one.world, {}, 9)
        await journal.begin(one.key, 99, replace(one.world, id="other"), {}, 8)

    asyncio.run(twice())
    assert journal.world("0/0/0") == one.world.id
    assert journal.world("0/1/0") is None
    assert journal.finished() == set()


def test_an_episode_without_a_world_fails_with_its_reason(journal: Journal) -> None:
    asyncio.run(journal.fail(EPISODES[1].key, 5, "no such corridor"))
    assert journal.failed_episodes() == [("0/1/0", "no such corridor")]
    (one,) = journal.trajectories()
    assert (one.ending, one.turns, one.world.id) == ("failed", (), "unmade 0/1/0")


def test_turns_are_numbered_as_they_come(journal: Journal) -> None:
    asyncio.run(write(journal, EPISODES[0]))
    last = journal.last_turn()
    assert journal.turns_since(last) == (last, [])
    asyncio.run(write(journal, EPISODES[1]))
    now, turns = journal.turns_since(last)
    assert [(episode, turn.index) for episode, turn in turns] == [
        ("0/1/0", turn.index) for turn in EPISODES[1].turns
    ]
    assert now == journal.last_turn() > last


def test_notes_are_replaced_and_mappings_are_added_to(journal: Journal) -> None:
    assert journal.noted("a") is None
    journal.note("a", [1])
    journal.note("a", {"x": {"é": None}})
    assert journal.noted("a") == {"x": {"é": None}}
    journal.add_note("models", {"a:b": {"notice": "", "versions": {"v": "1"}}})
    journal.add_note("models", {"c.d": {"notice": "n"}})
    journal.add_note("models", {"a:b": {"notice": "later"}})
    assert journal.noted("models") == {
        "a:b": {"notice": "later", "versions": {"v": "1"}},
        "c.d": {"notice": "n"},
    }


def test_several_processes_add_to_a_note_and_lose_none(
    journal: Journal, tmp_path: Path
) -> None:
    def add(i: int) -> None:
        with closing(Journal.open(tmp_path / "run.sqlite")) as own:
            own.add_note("models", {f"model{i}": {"notice": ""}})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert len(journal.noted("models")) == 24


def test_nothing_is_half_written(journal: Journal) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        journal.write(
            [
                ("INSERT INTO facts VALUES ('a', '1')", ()),
                ("INSERT INTO facts VALUES ('a', '2')", ()),
            ]
        )
    assert journal.noted("a") is None


def test_a_full_disk_is_said_with_what_to_do(journal: Journal) -> None:
    (pages,) = journal.query("PRAGMA page_count")[0]
    journal.query(f"PRAGMA max_page_count={pages}")
    with pytest.raises(
        RunFailed,
        match=r"cannot write the journal: .*full; free disk space, then resume with `gde resume`",
    ):
        journal.note("much", "x" * 100_000)
    assert journal.noted("much") is None


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        RunFolderError, match=r"is no run folder: wanted a file run\.sqlite in it"
    ):
        Journal.open(tmp_path / "run.sqlite")


def test_a_failure_is_told_once_and_without_secrets(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OWN_KEY", "sk-0123456789")
    journal.secrets.keep_out(["OWN_KEY"])
    for episode in range(3):
        journal.tell_failure(f"episode {episode}", "refused sk-0123456789", "")
    journal.tell_failure("episode 3", "another", "")
    assert caplog.messages == ["episode 0: refused ***", "episode 3: another"]
    assert {one.name.partition(".")[0] for one in caplog.records} == {"gde"}


@pytest.mark.parametrize("place", ["residual", "head:7"])
def test_a_change_is_read_again_as_it_was_made(place: str) -> None:
    change = Intervention(
        layer=3, position="pre", kind="add", vector=np.ones((2, 4)), place=place
    )
    columns = schema.tables()["interventions"].columns
    row = dict(zip(columns, rows.intervention_row(change), strict=True))
    assert rows.read_intervention(row) == change  # type: ignore[arg-type]
