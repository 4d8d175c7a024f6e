"""A model that is not one and the same, or reads half of a prompt, is told."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from commands import Done, Gde
from fake_servers import MODEL, Answer, Body, Reply, answer_for, plain, said, serving

pytest.importorskip("openai", reason="needs the extra openai")


def run(gde: Gde, answer: Answer, out: Path, *more: str) -> Done:
    with serving(answer) as server:
        done = gde(
            *("eval", "--env", "grid", "--set", "env.size=5", "--agent", "gpt-oss"),
            *("--model", f"openai:{MODEL}@{server.url}", "--no-preflight"),
            *(
                "--set",
                "run.concurrency=1",
                "--episodes",
                "3",
                "--out",
                str(out),
                *more,
            ),
        )
    assert done.returncode == 0, done.stderr
    return done


def told(out: Path) -> tuple[str, dict[str, Any]]:
    """The notice of a result, and its model."""
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    (model,) = result["models"]
    return result["provenance"]["notice"], model


def halfway(**fields: str) -> Answer:
    """Tells other fields from the third answer on."""
    requests = count()

    def answer(body: Body) -> Reply:
        reply = plain(body)
        if next(requests) > 1:
            reply.body.update(fields)
        else:
            reply.body.update(dict.fromkeys(fields, "first"))
        return reply

    return answer


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("model", "model"),
        ("provider", "provider"),
        ("system_fingerprint", "system fingerprint"),
    ],
)
def test_a_change_in_mid_run_is_told(
    gde: Gde, tmp_path: Path, field: str, name: str
) -> None:
    done = run(gde, halfway(**{field: "second"}), tmp_path / "run")
    begun = f"ore than one {name} answered agent gpt-oss"
    notice, _ = told(tmp_path / "run")
    assert f"{begun}: first" in notice and "second" in notice
    # The screen wraps its lines.
    screen = " ".join(f"{done.stdout} {done.stderr}".split())
    assert f"Limits: m{begun}" in screen


def test_numbers_are_also_those_of_each_model_that_answered(
    gde: Gde, tmp_path: Path
) -> None:
    def answer(body: Body) -> Reply:
        """The second model begins with the second conversation, and never moves."""
        prompts.append(body["messages"][0]["content"])
        changed = len({*prompts}) > 1
        reply = said("UP?" if changed else answer_for(body))
        reply.body["model"] = "second" if changed else "first"
        return reply

    prompts: list[str] = []
    run(gde, answer, tmp_path / "run", "--set", "agent.history=all")
    result = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    found = {
        one["where"].get("served"): (one["value"], one["n"])
        for one in result["measurements"]
        if one["name"] == "success"
    }
    assert found["first"] == (1.0, 1) and found["second"] == (0.0, 2)
    assert found[None] == (pytest.approx(1 / 3), 3)
    (model,) = result["models"]
    assert sum(model["answered_by"].values()) == model["usage"]["calls"]
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert "served\xa0second" in page


def test_a_comparison_tells_of_a_model_that_changed(gde: Gde, tmp_path: Path) -> None:
    run(gde, halfway(provider="second"), tmp_path / "a")
    run(gde, plain, tmp_path / "b")
    done = gde("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert done.returncode == 0, done.stderr
    told_of = "More than one provider answered agent gpt-oss: first, second."
    assert told_of in " ".join(done.stderr.split())


def test_one_server_is_recorded_without_a_notice(gde: Gde, tmp_path: Path) -> None:
    def answer(body: Body) -> Reply:
        reply = plain(body)
        reply.body["provider"] = "Together"
        reply.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 60}
        return reply

    run(gde, answer, tmp_path / "run")
    notice, model = told(tmp_path / "run")
    assert notice == ""
    assert model["served"] == {"provider": ["Together"]}
    assert model["usage"]["prompt_cached"] == 60 * model["usage"]["calls"] > 0
    shown = gde("show", str(tmp_path / "run")).stdout
    assert "provider Together" in shown and "from its cache" in shown


@pytest.mark.parametrize("window", [None, 700])
@pytest.mark.parametrize("history", ["0", "all"])
def test_a_prompt_that_the_server_cuts_is_told(
    gde: Gde, tmp_path: Path, window: int | None, history: str
) -> None:
    def answer(body: Body) -> Reply:
        reply = plain(body)
        n = 2 * sum(len(message["content"].split()) for message in body["messages"])
        reply.body["usage"]["prompt_tokens"] = n if window is None else min(n, window)
        return reply

    run(gde, answer, tmp_path / "run", "--set", f"agent.history={history}")
    notice, _ = told(tmp_path / "run")
    is_cut = window is not None and history == "all"
    assert ("The server seems to cut prompts of agent gpt-oss" in notice) is is_cut


def test_another_conversation_may_have_fewer_tokens(gde: Gde, tmp_path: Path) -> None:
    begun: list[str] = []

    def answer(body: Body) -> Reply:
        reply = plain(body)
        messages = body["messages"]
        if len(messages) == 1:
            begun.append(messages[0]["content"])
        n = 1000 + len(messages) if messages[0]["content"] in begun else 900
        reply.body["usage"]["prompt_tokens"] = n
        return reply

    run(gde, answer, tmp_path / "run", "--set", "agent.history=1")
    assert told(tmp_path / "run")[0] == ""
