"""A key goes to the server that its user names, and is written nowhere."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gde import (
    Choice,
    ConfigError,
    Evidence,
    GdeError,
    How,
    Measurement,
    Plan,
    evaluate,
    rescore,
    resume,
)
from gde.data.json import Json
from gde.request.howfile import with_settings
from gde.request.secrets import Secrets, host_of
from gde.runs.trusting import trust_run
from gde.store.folder import RunFolder
from gde.store.journal import Journal

pytest.importorskip("openai", reason="needs the extra openai")

from gde_plugins.language_models.config import OpenAIConfig

KEY = 'sk-canary/"0123456789'


class Echo(BaseHTTPRequestHandler):
    """Says the key again in every place there is, and refuses every fourth request in
    its name.
    """

    asked: ClassVar[list[str]] = []
    headers_of: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        key = (self.headers["authorization"] or "").removeprefix("Bearer ")
        Echo.asked.append(key)
        Echo.headers_of.append(self.headers["x-org"])
        status = 400 if len(Echo.asked) % 4 == 0 else 200
        message = {
            "role": "assistant",
            "content": json.dumps({"action": "UP", "why": key}),
            "reasoning": f"I saw {key}, which begins {key[:12]} and ends {key[-12:]}",
        }
        good = {
            "model": key,
            "choices": [{"index": 0, "message": message, "finish_reason": key}],
            "created": 0,
        }
        body = json.dumps(
            good if status == 200 else {"error": {"message": f"not with {key}"}}
        ).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Echo.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


class Telling:
    """A metric that fails with what it has seen."""

    def __call__(self, evidence: Evidence) -> list[Measurement]:
        raise RuntimeError(f"I was told {KEY}")


def plan(url: str) -> Plan:
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(
            name="gpt-oss", config={"model": f"openai:m@{url}", "strict": False}
        ),
        models=[Choice(name="", config={"retries": 0, "api_key_env": "CANARY_KEY"})],
        metrics=("success", Telling()),
        episodes=3,
    )


def leaks(run: Path) -> list[str]:
    forms = {KEY.encode(), json.dumps(KEY)[1:-1].encode(), b"sk-canary", b"23456789"}
    return [
        str(file)
        for file in run.rglob("*")
        if file.is_file() and any(form in file.read_bytes() for form in forms)
    ]


def test_a_key_that_is_sent_back_is_in_no_artefact(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CANARY_KEY", KEY)
    result = evaluate(plan(url), tmp_path / "run", how=How(concurrency=2))
    assert set(Echo.asked) == {KEY} and len(result.failures) >= 2
    assert leaks(tmp_path / "run") == []
    assert "sk-canary" not in str(result)
    assert "sk-canary" not in "".join(capfd.readouterr())


def forget_episodes(run: Path) -> None:
    """Leave all of the run's episodes to play."""
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.forget(journal.finished())
        journal.write([("DELETE FROM calls", ())])


def play_as_another_user(
    url: str, run: Path, monkeypatch: pytest.MonkeyPatch, **how: Json
) -> None:
    """Receive a run of another user, of which all episodes are left to play."""
    wanted = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": f"openai:m@{url}"}),
        models=[Choice(name="", config={"retries": 0, **how})],
        metrics=("success",),
        episodes=2,
    )
    monkeypatch.setenv("GDE_STATE", str(run.parent / "theirs"))
    evaluate(wanted, run)
    forget_episodes(run)
    monkeypatch.setenv("GDE_STATE", str(run.parent / "mine"))
    Echo.asked = []
    Echo.headers_of = []


def test_a_received_run_contacts_nobody_before_its_user_names_server_and_key(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CANARY_KEY", raising=False)
    run = tmp_path / "run"
    play_as_another_user(url, run, monkeypatch, api_key_env="CANARY_KEY")
    monkeypatch.setenv("CANARY_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with pytest.raises(GdeError, match=f"`gde trust {run}`"):
        resume(run)
    trust_run(run)
    # Trust is in the plan, which says neither where the model is nor with which key.
    with pytest.raises(GdeError, match=r"model\.url: wanted a value"):
        resume(run)
    assert Echo.asked == []

    served = RunFolder.open(run).last_how()
    served = with_settings(served, {"openai:m": {"url": url, "retries": 0}})
    resume(run, how=served)
    assert set(Echo.asked) == {""}

    forget_episodes(run)
    Echo.asked = []
    named = {"openai:m": {"api_key_env": "CANARY_KEY"}}
    resume(run, how=with_settings(served, named))
    assert set(Echo.asked) == {KEY}
    assert leaks(run) == []
    rescore(run, ["length"])  # what asks nobody needs no key


def test_a_received_run_sends_no_header_of_its_makers(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    play_as_another_user(url, run, monkeypatch, headers={"X-Org": "theirs"})
    assert b"theirs" not in (run / "plan.toml").read_bytes()
    trust_run(run)
    own = with_settings(
        RunFolder.open(run).last_how(), {"openai:m": {"url": url, "retries": 0}}
    )
    resume(run, how=own)
    assert set(Echo.headers_of) == {None}

    forget_episodes(run)
    Echo.headers_of = []
    resume(run, how=with_settings(own, {"openai:m": {"headers": {"X-Org": "mine"}}}))
    assert set(Echo.headers_of) == {"mine"}


def test_a_password_in_a_url_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ConfigError, match="wanted a URL without a password"):
        OpenAIConfig(url="https://me:hunter2@models.example/v1")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/v1", "api.example.com"),
        ("https://API.example.com:8443/v1", "api.example.com:8443"),
        ("http://localhost:8000/v1", "localhost:8000"),
        ("http://api.example.com/v1", "http://api.example.com"),
        ("https://api.example.com@evil.example/v1", "evil.example"),
    ],
)
def test_hosts_are_what_keys_go_to(url: str, host: str) -> None:
    assert host_of(url) == host


def test_what_is_too_short_for_a_key_is_left_in_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHORT_KEY", "none")
    secrets = Secrets()
    assert secrets.give("SHORT_KEY") == "none"
    assert secrets.scrubbed("none of it") == "none of it"
