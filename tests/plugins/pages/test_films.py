"""The player is given every episode, or as many as fit, whole."""

import json
from base64 import b64decode
from dataclasses import replace
from gzip import decompress
from typing import Any

import pytest

from gde.data.completion import Completion, Message
from gde.data.evidence import Evidence
from gde.data.trajectory import Decision
from gde_plugins.pages.episodes import Films, films, spread


def unpacked(made: Films | None) -> list[dict[str, Any]]:
    assert made is not None
    told: list[dict[str, Any]] = json.loads(decompress(b64decode(made.packed)))
    return told


def test_every_episode_is_told_turn_by_turn(evidence: Evidence) -> None:
    told = unpacked(films(evidence))
    played = [one for one in evidence.trajectories if one.turns]
    assert [film["key"] for film in told] == [str(one.key) for one in played]
    for film, one in zip(told, played, strict=True):
        assert [frame["shown"] for frame in film["turns"]] == [
            turn.observation.text for turn in one.turns
        ]
        assert ("goal not reached" in film["marks"]) == (not one.succeeded)
        assert ("unusable answers" in film["marks"]) == any(
            turn.decision.action is None for turn in one.turns
        )
        stray = any(
            turn.decision.action not in (turn.optimal or ())
            for turn in one.turns
            if turn.decision.action
        )
        assert ("not optimal" in film["marks"]) == stray
    assert any(
        frame.get("decoded", "").startswith("<svg")
        for film in told
        for frame in film["turns"]
    )


def test_a_world_that_is_drawn_as_text_is_told_as_that_text(evidence: Evidence) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    told = replace(
        first,
        world=replace(
            first.world, facts={**first.world.facts, "view": "a lamp stands here"}
        ),
    )
    (film,) = unpacked(films(replace(evidence, trajectories=(told,))))
    assert {frame["drawn"] for frame in film["turns"]} == {"a lamp stands here"}
    assert "truth" not in film["turns"][0]


def test_what_a_metric_remarks_of_a_turn_is_told_with_it(evidence: Evidence) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    remarks = {(str(first.key), 0): "plan: 9 steps"}
    told = unpacked(films(replace(evidence, remarks=remarks)))
    said = [frame.get("why") for film in told for frame in film["turns"]]
    assert told[0]["turns"][0]["why"] == "plan: 9 steps"
    assert said.count(None) == len(said) - 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"action": "UP"}', "UP"),
        ("UP leads to a wall.\nGo up.", "up"),
        # The last place of these letters is another word.
        ("UP, not UPWARD", ""),
        ("\u2191", ""),
    ],
)
def test_what_was_read_is_marked_where_the_answer_last_says_it(
    evidence: Evidence, text: str, read: str
) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    answer = Completion(text=text, reasoning=None, finish="stop")
    turn = replace(first.turns[0], decision=Decision.act("UP", answer))
    told = replace(evidence, trajectories=(replace(first, turns=(turn,)),))
    (film,) = unpacked(films(told))
    assert film["turns"][0].get("read", "") == read


def test_a_large_run_is_shown_by_episodes_evenly_spread(evidence: Evidence) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    many = tuple(
        replace(first, key=replace(first.key, world=world)) for world in range(95)
    )
    whole = replace(evidence, trajectories=many)
    made = films(spread(whole, most=10), len(many))
    assert [film["key"] for film in unpacked(made)] == [
        f"0/{world}/0" for world in range(0, 95, 10)
    ]
    assert made is not None and made.intro.startswith("10 of 95 episodes")


def test_what_does_not_fit_is_left_out_and_counted(evidence: Evidence) -> None:
    made = films(evidence, room=1)
    assert made is not None
    assert made.intro.startswith(f"1 of {len(evidence.trajectories)} episodes")


def test_runs_without_turns_have_no_player() -> None:
    assert films(Evidence(trajectories=())) is None


def test_what_was_sent_how_probable_actions_were_and_the_time_are_told_where_they_are_known(
    evidence: Evidence,
) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    sent = (
        Message(role="system", content="Be brief."),
        Message(role="user", content=first.turns[0].observation.text),
    )
    answer = Completion(
        text="UP", reasoning=None, finish="stop", prompt=sent, seconds=1.25
    )
    told = Decision.act("UP", answer)
    turn = replace(
        first.turns[0], decision=replace(told, probabilities={"LEFT": 0.25, "UP": 0.75})
    )
    plain = replace(
        turn,
        decision=replace(
            told, completion=replace(answer, prompt=sent[1:], seconds=None)
        ),
    )
    (film,) = unpacked(
        films(replace(evidence, trajectories=(replace(first, turns=(turn, plain)),)))
    )
    frame, bare = film["turns"]
    assert frame["sent"].startswith("system:\nBe brief.\n\nuser:\n")
    assert frame["odds"] == "UP 75\u00a0%, LEFT 25\u00a0%" and frame["facts"].endswith(
        "1.25 s"
    )
    assert "sent" not in bare and "odds" not in bare, (
        "what was shown is not shown twice"
    )


def test_a_long_conversation_is_shown_from_its_task_to_the_present(
    evidence: Evidence,
) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    sent = [
        Message(role="user", content="The task."),
        Message(role="tool", content="x"),
    ]
    sent += [Message(role="assistant", content="y" * 5000)]
    sent += [Message(role="tool", content="Now.")]
    answer = Completion(text="UP", reasoning=None, finish="stop", prompt=tuple(sent))
    turn = replace(first.turns[0], decision=Decision.act("UP", answer))
    (film,) = unpacked(
        films(replace(evidence, trajectories=(replace(first, turns=(turn,)),)))
    )
    shown = film["turns"][0]["sent"]
    assert shown.startswith("user:\nThe task.\n\ntool:\nx")
    assert " more characters) " in shown
    assert shown.endswith("tool:\nNow.")


def test_long_texts_are_cut_and_say_so(evidence: Evidence) -> None:
    first = next(one for one in evidence.trajectories if one.turns)
    turn = replace(
        first.turns[0],
        observation=replace(first.turns[0].observation, text="x" * 5_000_000),
    )
    (film,) = unpacked(
        films(replace(evidence, trajectories=(replace(first, turns=(turn,)),)))
    )
    assert film["turns"][0]["shown"].endswith("(4996000 more characters)")


def test_print_shows_the_worst_the_middle_and_the_best_episode(
    evidence: Evidence,
) -> None:
    made = films(evidence)
    assert made is not None
    assert len(made.stills) == 3
    assert all(one.picture.startswith("<svg") for one in made.stills)
    worst, _, best = (one.caption for one in made.stills)
    assert ": did not reach the goal" in worst
    assert ": reached the goal after" in best and best.count("turn ") == 0


def test_maps_that_are_decoded_at_several_positions_are_told_in_their_order(
    evidence: Evidence,
) -> None:
    before = next(
        one for one in evidence.probe_reports if one.fit.control == "none" and one.rows
    )
    # The last map of another position is missing there.
    goal = replace(
        before,
        fit=replace(before.fit, position="course-goal"),
        rows=before.rows[:-1],
        decoded=before.decoded[:-1, :, ::-1],
    )
    of_others = [
        replace(goal, fit=replace(goal.fit, position="x", control="untrained")),
        replace(goal, fit=replace(goal.fit, position="y", layer=goal.fit.layer + 1)),
    ]
    reports = (before, *of_others, goal)
    told = {
        (film["key"], index): frame
        for film in unpacked(films(replace(evidence, probe_reports=reports)))
        for index, frame in enumerate(film["turns"])
    }
    *several, last = [told[row] for row in before.rows]
    for frame in several:
        first, second = frame["moments"]
        assert (first["at"], second["at"]) == ("before reasoning", "course-goal")
        assert first["decoded"] == frame["decoded"] != second["decoded"]
        assert first["note"] == frame["decoded_note"]
    assert [one["at"] for one in last["moments"]] == ["before reasoning"]

    alone = unpacked(films(replace(evidence, probe_reports=(before,))))
    frames = [frame for film in alone for frame in film["turns"]]
    assert not any("moments" in frame for frame in frames)
