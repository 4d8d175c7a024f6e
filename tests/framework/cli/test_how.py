"""How a run is done, on the command line: never from a plan file or from a run of
others, always from its user.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Done, Gde
from fake_servers import MODEL, Body, Reply, plain, serving

from gde.store.folder import RunFolder

SCRIPTED = ("eval", "--env", "corridor", "--agent", "scripted", "--metric", "success")
ASKING = ("eval", "--env", "grid", "--agent", "gpt-oss", "--set", "env.size=5")


def refused(done: Done) -> str:
    """The one line with which a request is refused."""
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("gde: ")
    return line


@pytest.fixture
def as_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Become another user."""
    monkeypatch.setenv("GDE_STATE", str(tmp_path / ".first"))
    return lambda: monkeypatch.setenv("GDE_STATE", str(tmp_path / ".second"))


def test_a_run_of_others_is_shown_and_then_trusted(
    gde: Gde, as_another: Callable[[], None]
) -> None:
    assert gde(*SCRIPTED, "--episodes", "2", "--out", "r").returncode == 0
    assert gde("resume", "r").returncode == 0
    as_another()
    for command in ("resume", "rescore", "probe", "report"):
        assert "trust it with `gde trust r`" in refused(gde(command, "r"))
    assert gde("view", "r").returncode == 0
    assert gde("report", "r", "--out", "mine").stdout == "mine/report.html\n"

    asked = gde("trust", "r")
    assert (asked.returncode, "environment corridor: gde" in asked.stdout) == (2, True)
    assert asked.stderr == (
        "gde: r is not trusted: answer at a terminal, or add --yes\n"
    )
    assert "gde trust" in refused(gde("resume", "r"))
    done = gde("trust", "r", "--yes", "--json")
    (shown,) = json.loads(done.stdout)["runs"]
    assert (shown["run"], shown["trusted"]) == ("r", False)
    assert "agent scripted: " in " ".join(shown["lines"])
    assert done.stderr == "trusted: r\n"
    for command in ("resume", "rescore", "report"):
        assert gde(command, "r").returncode == 0
    assert "is trusted already" in gde("trust", "r", "--yes").stdout


def test_nobody_is_asked_and_no_key_is_read_before_a_run_is_trusted(
    gde: Gde, as_another: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="needs the extra openai")
    monkeypatch.setenv("MY_KEY", "sk-canary-0123")
    keys = []
    read = os.environ.get

    def watched(name: str, default: object = None) -> object:
        keys.append(name)
        return read(name, default)  # type: ignore[call-overload]

    keys_sent: list[str] = []

    def answer(body: Body) -> Reply:
        keys_sent.append(body["key"])
        return plain(body)

    with serving(answer, (MODEL,)) as server:
        url = ("--model", f"openai:{MODEL}@{server.url}", "--no-preflight")
        key = ("--set", "model.api_key_env=MY_KEY")
        limit = ("--set", "run.max_calls=1")
        stopped = gde(*ASKING, *url, *key, *limit, "--episodes", "2", "--out", "r")
        assert "run.max_calls=1 is spent" in stopped.stderr
        as_another()
        asked = len(server.asked)
        with monkeypatch.context() as patch:
            patch.setattr(os.environ, "get", watched)
            assert "gde trust" in refused(gde("resume", "r"))
            shown = gde("trust", "r", "--yes").stdout
        assert "MY_KEY" not in keys
        assert f"is asked where you say: openai:{MODEL}@URL" in shown
        assert "limits that stay: max_calls=1" in shown
        # Neither its server nor its key has become this user's.
        assert "model.url: wanted a value" in refused(gde("resume", "r"))
        assert len(server.asked) == len(keys_sent) == asked

        again = gde("resume", "r", *url[:2], "--set", "run.max_calls=none")
        assert again.returncode == 0, again.stderr
        assert len(server.asked) > asked
        assert keys_sent[0] == "sk-canary-0123"
        assert "sk-canary-0123" not in keys_sent[asked:]
    recorded = Path("r/plan.toml").read_text()
    assert f'"openai:{MODEL}"' in recorded
    assert "http" not in recorded and "MY_KEY" not in recorded


def test_a_server_that_has_moved_changes_no_plan(gde: Gde) -> None:
    pytest.importorskip("openai", reason="needs the extra openai")
    with serving(plain, (MODEL,)) as first:
        gde(
            *(*ASKING, "--model", f"openai:{MODEL}@{first.url}", "--no-preflight"),
            *("--set", "run.max_calls=1", "--episodes", "2", "--out", "r"),
        )
        assert len(first.asked) == 1
    before = Path("r/plan.toml").read_bytes()
    with serving(plain, (MODEL,)) as second:
        moved = ("--model", f"openai:{MODEL}@{second.url}")
        assert "max_calls=1 is spent" in gde("resume", "r", *moved).stderr
        done = gde("resume", "r", "--set", "run.max_calls=none")
        assert done.returncode == 0, done.stderr
        assert second.asked
    assert Path("r/plan.toml").read_bytes() == before


def test_a_begun_run_goes_on_as_its_user_says(gde: Gde) -> None:
    assert gde(*SCRIPTED, "--episodes", "2", "--out", "r").returncode == 0
    before = Path("r/plan.toml").read_bytes()
    more = ("--set", "run.max_calls=9", "--executor", "processes")
    assert gde("resume", "r", *more, "--set", "executor.workers=1").returncode == 0
    how = RunFolder.open(Path("r")).last_how()
    assert (how.max_calls, how.executor.name) == (9, "processes")
    assert how.executor.config["workers"] == 1
    assert Path("r/plan.toml").read_bytes() == before
    for wrong, said in (
        ("run.episodes=9", "run.episodes could change the results of the run"),
        ("env.length=9", "env.length could change the results of the run"),
        ("agent.actions=LEFT", "agent.actions could change the results"),
        ("accuracy.x=9", "unknown part of --set 'accuracy'"),
    ):
        assert said in refused(gde("resume", "r", "--set", wrong))
    assert RunFolder.open(Path("r")).last_how() == how


def test_metrics_and_probes_are_added_where_an_executor_works(gde: Gde) -> None:
    assert gde(*SCRIPTED, "--episodes", "2", "--out", "r").returncode == 0
    added = gde("rescore", "r", "--metric", "length", "--executor", "processes")
    assert added.returncode == 0, added.stderr
    how = RunFolder.open(Path("r")).last_how()
    assert how.executor.name == "processes"
    for command in ("rescore", "probe"):
        nowhere = gde(command, "r", "--executor", "nowhere")
        assert "unknown executor 'nowhere'" in refused(nowhere)
    assert RunFolder.open(Path("r")).last_how() == how
    assert gde("rescore", "r").returncode == 0
    assert RunFolder.open(Path("r")).last_how() == how


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("[executor]\nuse = 'processes'", "give an executor"),
        ("[[report]]\nuse = 'html'", "give a reporter"),
        ("[run]\nconcurrency = 3", "give run.concurrency=3"),
        ("[[model]]\nuse = 'openai:m'\ntimeout = 3", "give openai:m.timeout=VALUE"),
    ],
)
def test_a_plan_file_that_says_how_is_refused(
    text: str, option: str, gde: Gde, tmp_path: Path
) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f"env.use = 'corridor'\nagent.use = 'scripted'\n{text}")
    for command in (("eval", "--plan"), ("check",)):
        line = refused(gde(*command, "plan.toml"))
        assert "says how a run is done, which no plan says: give" in line
        assert option in line and "`gde settings`" in line
    assert [each.name for each in tmp_path.iterdir()] == ["plan.toml"]


def test_a_plan_has_one_hash_however_it_is_run(gde: Gde) -> None:
    hashes = set()
    for more in (
        (),
        ("--concurrency", "1", "--report", "html"),
        ("--executor", "processes", "--set", "executor.workers=1"),
        ("--set", "run.max_calls=99", "--set", "run.turn_seconds=60"),
    ):
        done = gde(*SCRIPTED, "--episodes", "2", "--json", "--quiet", *more)
        hashes.add(json.loads(done.stdout)["plan_hash"])
    assert len(hashes) == 1


def test_settings_are_shown_and_hold_for_every_run(
    gde: Gde, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    monkeypatch.setenv("GDE_SETTINGS", str(file))
    assert gde("settings").stderr == f"defaults: {file} is not there\n"
    file.write_text("concurrency = 3\ntrusted_folders = ['/runs']")
    shown = json.loads(gde("settings", "--json").stdout)
    assert shown["file"] == str(file)
    assert shown["settings"]["concurrency"] == 3
    assert shown["settings"]["trusted_folders"] == ["/runs"]
    # What is shown can be written to the file.
    text = gde("settings").stdout
    file.write_text(text)
    assert gde("settings").stdout == text

    assert gde(*SCRIPTED, "--episodes", "2", "--out", "r").returncode == 0
    assert RunFolder.open(Path("r")).last_how().concurrency == 3
    file.write_text("concurency = 3")
    for command in (("settings",), (*SCRIPTED, "--out", "no")):
        assert "unknown setting in" in refused(gde(*command))
    assert not Path("no").exists()
