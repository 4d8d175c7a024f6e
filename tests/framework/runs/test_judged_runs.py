"""A judge that asks a language model, through a whole run: counted, kept, gone on with,
and held against the truth.
"""

import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_servers import MODEL, said, serving

from gde import (
    Choice,
    GdeError,
    How,
    Plan,
    Result,
    evaluate,
    load_evidence,
    rescore,
    resume,
)
from gde.request.catalogue import Catalogue
from gde.request.forms import METHODS

N = 6
STOP = "ASKING_PARTS_STOP"


def plan(
    log: Path,
    *rewards: Choice | str,
    agent: Choice | str = "scripted",
    **change: object,
) -> Plan:
    judge = Choice(
        name="progress-judge", alias="judge", config={"model": f"noted:{log}"}
    )
    wanted = Plan(
        environment=Choice(name="corridor", config={"length": 6}),
        agent=agent,  # type: ignore[arg-type]
        rewards=(judge, *rewards),  # type: ignore[arg-type]
        metrics=(Choice(name="success"), Choice(name="epic")),
        episodes=N,
    )
    return replace(wanted, **change)  # type: ignore[arg-type]


def asked(log: Path) -> Counter[str]:
    return Counter(log.read_text().splitlines() if log.exists() else ())


def distances(result: Result) -> dict[object, float | None]:
    return {
        one.where["reward"]: one.value
        for one in result.measurements
        if one.name == "epic"
    }


def traces(folder: Path) -> dict[tuple[str, str], list[float]]:
    return {
        (one.model, one.episode): one.values.tolist()
        for one in load_evidence(folder).reward_traces
    }


def test_a_judge_is_asked_about_every_observation_once(
    tmp_path: Path, asking: Catalogue
) -> None:
    log = tmp_path / "log"
    result = evaluate(plan(log), tmp_path / "run", asking)
    assert result.status == "ok"
    evidence = load_evidence(tmp_path / "run", asking)
    seen = {
        turn.observation.text for one in evidence.trajectories for turn in one.turns
    }
    assert len(asked(log)) == asked(log).total() == len(seen)
    for one in evidence.trajectories:
        cells = [
            turn.state.index
            for turn in one.turns
            if turn.state and turn.state.index is not None
        ]
        assert np.allclose(
            traces(tmp_path / "run")["judge", str(one.key)],
            np.array(cells) / 5,
            atol=1e-3,
        )
    assert distances(result)["judge"] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(1, marks=pytest.mark.extended),
        3,
        pytest.param(4, marks=pytest.mark.extended),
    ],
)
def test_a_judge_that_is_interrupted_asks_nothing_twice(
    after: int,
    tmp_path: Path,
    asking: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    log, undisturbed = tmp_path / "log", tmp_path / "other"
    whole = evaluate(plan(undisturbed, "monotonic"), tmp_path / "whole", asking)
    monkeypatch.setenv(STOP, str(after))
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan(log, "monotonic"), tmp_path / "run", asking)
    gc.collect()
    assert not [each for each in caplog.messages if "never retrieved" in each]
    assert asked(log).total() == after
    monkeypatch.delenv(STOP)
    result = resume(tmp_path / "run", asking)
    assert asked(log) == asked(undisturbed)
    assert (result.status, result.measurements) == ("ok", whole.measurements)
    assert traces(tmp_path / "run") == traces(tmp_path / "whole")


def test_agent_and_judge_of_one_run_have_one_model_and_answers_of_their_own(
    tmp_path: Path, asking: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    agent = Choice(name="asking", config={"model": f"noted:{log}"})
    monkeypatch.setenv(STOP, "9")
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan(log, agent=agent), tmp_path / "run", asking)
    monkeypatch.delenv(STOP)
    result = resume(tmp_path / "run", asking)
    evidence = load_evidence(tmp_path / "run", asking)
    turns = [turn for one in evidence.trajectories for turn in one.turns]
    assert result.status == "ok"
    assert len(asked(log)) == len(turns) + len(
        {turn.observation.text for turn in turns}
    )
    assert (
        asked(log).total() - len(asked(log)) <= 2
    )  # only what was in flight is asked again
    assert list(result.provenance["models"]) == [f"noted:{log}"]  # type: ignore[arg-type, call-overload]


def test_two_models_of_one_agent_are_told_apart(
    tmp_path: Path, asking: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    config = {"model": f"noted:{first}", "adviser": f"noted:{second}"}
    wanted = plan(
        tmp_path / "judge", agent=Choice(name="advised", config=config), rewards=()
    )
    wanted = replace(
        wanted,
        models=[Choice(name="", config={"note": "of the first"})],
        metrics=(Choice(name="success"),),
    )
    monkeypatch.setenv(STOP, "4")
    with pytest.raises(KeyboardInterrupt):
        evaluate(wanted, tmp_path / "run", asking)
    monkeypatch.delenv(STOP)
    result = resume(tmp_path / "run", asking)
    turns = [
        turn
        for one in load_evidence(tmp_path / "run", asking).trajectories
        for turn in one.turns
    ]
    assert len(asked(first)) == len(asked(second)) == len(turns)
    assert {
        turn.decision.completion.model for turn in turns if turn.decision.completion
    } == {f"noted:{first}"}
    assert set(result.provenance["models"]) == {f"noted:{first}", f"noted:{second}"}  # type: ignore[arg-type]


def test_activations_are_those_of_the_model_that_is_probed(
    tmp_path: Path, asking: Catalogue
) -> None:
    """The broken counterfactual of an advised agent hands on the adviser's words, which
    the first model never said.
    """
    for agent, probed in (("advised", True), ("parrot", False)):
        config = {"model": "planted", "adviser": f"noted:{tmp_path / agent}"}
        wanted = plan(
            tmp_path / "log",
            agent=Choice(name=agent, config=config),
            rewards=(),
            probes=["where"],
        )
        result = evaluate(
            replace(wanted, metrics=("success",)), tmp_path / f"run-{agent}", asking
        )
        values = [
            one.value for one in result.measurements if one.name.startswith("where")
        ]
        assert any(value is not None for value in values) == probed
        if not probed:
            assert {
                one.reason for one in result.measurements if one.name == "where"
            } >= {"no turn has activations at position 'pre' of layer 1"}


@pytest.mark.parametrize(
    ("counterfactual", "failures"),
    [
        ("sloppy", {f"0/{world}/0": "ValueError: wanted" for world in range(N)}),
        ("moody-judge", {"0/4/0": "no opinion"}),
        (Choice(name="progress-judge", alias="deaf", config={"model": "planted"}), dict.fromkeys(
            (f"0/{world}/0" for world in range(N)), "turn 0: wanted a number from 0 to 1, got 'RIGHT'"
        )),
    ],
    ids=["sloppy", "moody", "deaf"],
)  # fmt: skip
def test_a_bad_judge_is_a_failure_with_a_reason_and_costs_no_other(
    counterfactual: Choice | str,
    failures: dict[str, str],
    tmp_path: Path,
    asking: Catalogue,
) -> None:
    choice = (
        counterfactual
        if isinstance(counterfactual, Choice)
        else Choice(name=counterfactual, config={"model": "appraising"})
    )
    result = evaluate(plan(tmp_path / "log", choice), tmp_path / "run", asking)
    found = {
        one.subject: one.reason for one in result.failures if one.stage == "reward"
    }
    assert result.status == "partial"
    assert found.keys() == {f"{choice.label} on {episode}" for episode in failures}
    for episode, reason in failures.items():
        assert found[f"{choice.label} on {episode}"].startswith(reason)
    assert distances(result)["judge"] == pytest.approx(0, abs=0.01)
    unjudged = {
        one.where["reward"]: one.value
        for one in result.measurements
        if one.name == "epic.unjudged"
    }
    assert unjudged["judge"] == 0
    assert (unjudged[choice.label] == 1) == (len(failures) == N)


def test_a_metric_asks_once_and_is_rescored_without_asking(
    tmp_path: Path, asking: Catalogue
) -> None:
    log = tmp_path / "log"
    poll = Choice(name="poll", config={"model": f"noted:{log}"})
    wanted = plan(tmp_path / "judge", metrics=(poll,), rewards=())
    first = evaluate(wanted, tmp_path / "run", asking)
    assert [(one.name, one.value) for one in first.measurements] == [("poll", 0.5)]
    assert (
        rescore(tmp_path / "run", catalogue=asking).measurements == first.measurements
    )
    assert asked(log).total() == 1


def test_a_run_is_rescored_for_its_rewards_later(
    tmp_path: Path, asking: Catalogue
) -> None:
    result = evaluate(
        plan(tmp_path / "log", metrics=("success",)), tmp_path / "run", asking
    )
    assert distances(result) == {}
    assert distances(rescore(tmp_path / "run", ["epic"], asking)).keys() == {"judge"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": ()}, "epic needs a reward model; add one"),
        (
            {"environment": "silent"},
            "epic needs an environment with certified optimal actions or .*'silent'",
        ),
        (
            {
                "rewards": (
                    Choice(
                        name="progress-judge", alias="judge", config={"model": "oracle"}
                    ),
                )
            },
            "unknown language model 'oracle'",
        ),
        ({"rewards": ("oracle", "oracle")}, "reward model 'oracle' is listed twice"),
    ],
)
def test_rewards_that_cannot_be_had_or_held_against_anything_are_refused(
    change: dict[str, object], message: str, tmp_path: Path, asking: Catalogue
) -> None:
    silent: Callable[[], object] = type(
        "Silent", (), dict.fromkeys(METHODS["environment"])
    )
    if change.get("environment") == "silent":
        change = {"environment": Choice(name="silent", alias="silent", part=silent)}
    with pytest.raises(GdeError, match=message):
        evaluate(plan(tmp_path / "log", **change), tmp_path / "run", asking)
    assert not (tmp_path / "run").exists()


def test_a_plan_says_on_resuming_where_its_judge_is_served(tmp_path: Path) -> None:
    with serving(lambda _: said("score: 0.5")) as server:
        config = {"model": f"openai:{MODEL}@{server.url}"}
        wanted = Plan(
            environment="grid",
            agent="random",
            rewards=(Choice(name="judge", config=config),),
            metrics=("epic",),
            episodes=1,
        )
        done = evaluate(wanted, tmp_path / "run", how=How())
        again = resume(tmp_path / "run", plan=wanted, how=How())
    assert (done.status, again.status) == ("ok", "ok")
