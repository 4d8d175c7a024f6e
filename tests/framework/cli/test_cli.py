"""The command line as a user meets it: data on stdout, messages on stderr, exit codes
that can be relied on.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Done, Gde

from gde.cli.main import COMMANDS

SCRIPTED = ("eval", "--env", "corridor", "--agent", "scripted", "--metric", "success")
GOOD = (*SCRIPTED, "--episodes", "3")


def refused(done: Done) -> str:
    """The one line with which a request is refused."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("gde: ")
    return line


def test_no_summary_of_a_command_is_cut(
    monkeypatch: pytest.MonkeyPatch, gde: Gde
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = gde("--help")
    assert done.returncode == 0
    lines = done.stdout.partition("Commands:")[2].splitlines()
    commands = [line.split()[0] for line in lines if line.strip()]
    assert {*COMMANDS} <= {*commands}
    assert not [line for line in lines if line.endswith("...")]
    assert gde("-h").stdout == done.stdout
    for name in COMMANDS:
        assert gde(name, "-h").stdout == gde(name, "--help").stdout


def test_a_missing_command_is_told_with_the_plugins_that_are_off(
    monkeypatch: pytest.MonkeyPatch, gde: Gde
) -> None:
    monkeypatch.setenv("GDE_DISABLE_PLUGINS", "viewer")
    said = "No such command 'view'. Plugins that are off: viewer"
    assert said in refused(gde("view", "run"))


def test_a_run_without_the_plugin_of_reports_says_so_and_is_reported_later(
    monkeypatch: pytest.MonkeyPatch, gde: Gde
) -> None:
    off = "no plugin writes one. Plugins that are off: pages"
    run = ("eval", "--env", "corridor", "--agent", "scripted", "--episodes", "2")
    with monkeypatch.context() as patch:
        patch.setenv("GDE_DISABLE_PLUGINS", "pages")
        done = gde(*run, "--out", "run")
        assert done.returncode == 0
        assert done.stderr.count(off) == 1
        assert off in refused(gde("report", "run"))
    assert gde("report", "run").stdout == "run/report.html\n"


def test_shells_complete_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, gde: Gde
) -> None:
    monkeypatch.setenv("_GDE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "gde re")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert gde().stdout.split() == [
        "resume",
        "rescore",
        "report",
        "reproduce",
        "rewardbench",
    ]


def test_eval_prints_one_json_object(gde: Gde, tmp_path: Path) -> None:
    done = gde(*GOOD, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    result = json.loads(done.stdout)
    assert result.keys() >= {
        "schema",
        "run",
        "status",
        "plan_hash",
        "measurements",
        "failures",
    }
    assert (result["schema"], result["status"], result["failures"]) == (2, "ok", [])
    (success,) = result["measurements"]
    assert success.keys() >= {"name", "value", "unit", "n", "interval", "where"}
    assert (success["name"], success["value"], success["n"], success["where"]) == (
        "success",
        1.0,
        3,
        {},
    )
    assert (tmp_path / result["run"]).parent == tmp_path / "runs"


def test_data_goes_to_stdout_and_messages_to_stderr(gde: Gde, tmp_path: Path) -> None:
    done = gde(*GOOD, "--out", "r")
    assert "Success rate" in done.stdout and "Success rate" not in done.stderr
    assert "episodes: 3/3" in done.stderr and "ok: r" in done.stderr


def test_a_run_is_told_on_one_screen_and_all_of_it_when_asked(
    gde: Gde, tmp_path: Path
) -> None:
    asking = (
        "eval",
        "--env",
        "corridor",
        "--agent",
        "asking",
        "--probe",
        "where",
        "--set",
        "env.length=5,6,7",
    )
    done = gde(*asking, "--episodes", "4", "--out", "r")
    talk = [
        line
        for line in done.stderr.splitlines()
        if not line.startswith(("episodes:", "activations:", "probes:", "metrics:"))
    ]
    shown = [*done.stdout.splitlines(), *talk]
    assert len(shown) <= 24 and max(map(len, shown)) <= 80, shown
    assert "asking with planted \u00b7 corridor \u00b7 7 worlds" in done.stdout.replace(
        "\n", " "
    )
    assert "Success rate by condition" in done.stdout
    assert "Accuracy by" not in done.stdout, "other breakdowns are left to --all"
    assert "where (centroid, layer 1" in done.stdout and "random weights" in done.stdout
    measured = json.loads((tmp_path / "r" / "result.json").read_text())["measurements"]
    assert f"ok: r (all {len(measured)} numbers: --all)" in done.stderr
    everything = gde("rescore", "r", "--all").stdout.strip().splitlines()
    assert everything[0].startswith("asking with planted \u00b7 ")
    assert len(everything) == len(measured) + 3


def test_a_run_with_failures_exits_with_three(gde: Gde, tmp_path: Path) -> None:
    done = gde(
        "eval", "--env", "trapdoor", "--agent", "scripted", "--episodes", "6", "--json"
    )
    assert done.returncode == 3
    result = json.loads(done.stdout)
    assert result["status"] == "partial"
    failed = {
        (one["stage"], one["subject"], one["reason"]) for one in result["failures"]
    }
    assert ("rollout", "0/1/0", "RuntimeError: the floor gave way") in failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("eval",), "wanted --env NAME (or --plan FILE), got none"),
        (("eval", "--env", "corridor"), "wanted --agent NAME (or --plan FILE)"),
        (
            ("eval", "--env", "coridor", "--agent", "scripted"),
            "unknown environment 'coridor'. Did you mean corridor",
        ),
        (
            (*GOOD, "--set", "env.lenght=3"),
            "unknown field of env 'lenght'. Did you mean length",
        ),
        ((*GOOD, "--set", "env.length=0"), "env.length: wanted"),
        (
            (*GOOD, "--set", "envy.length=4"),
            "unknown part of --set 'envy'. Did you mean env",
        ),
        (
            (*GOOD, "--set", "run.repeats=many"),
            "run.repeats: wanted a whole number, got 'many'",
        ),
        ((*SCRIPTED, "--episodes", "x"), "--episodes: wanted a whole number"),
        (("view", "x", "--serve", "--port", "99999"), "--port: wanted"),
        (("view", "x", "0/0/0", "--serve"), "no run folder"),
        (("evil",), "No such command 'evil'"),
        ((*GOOD, "--metric", ""), "unknown metric ''. Known: "),
        ((*GOOD, "--probe", ""), "unknown probe ''. Known: "),
        ((*GOOD, "--reward", ""), "unknown reward model ''. Known: "),
        ((*GOOD, "--executor", ""), "unknown executor ''. Known: "),
        (
            ("eval", "--env", "", "--agent", "scripted"),
            "unknown environment ''. Known: ",
        ),
        (
            ("eval", "--env", "corridor", "--agent", ""),
            "--agent: wanted names with commas in between, got ''",
        ),
        (("show", "metric", ""), "unknown metric ''. Known: "),
        (("view",), "Missing argument 'RUN'"),
        (
            (*SCRIPTED, "--episodes", "0"),
            "run.episodes: wanted greater than or equal to 1, got 0",
        ),
        (
            (*GOOD, "--probe", "where"),
            "where needs an agent whose language model gives activations",
        ),
        ((*GOOD, "--plan", "nowhere.toml"), "plan: nowhere.toml"),
        (("resume", "nowhere"), "no run folder nowhere"),
        (("report", "nowhere"), "no run folder nowhere"),
        (("compare", "nowhere", "nowhere"), "no run folder nowhere"),
        (("list", "things"), "unknown kind 'things'. Known: agents"),
        (("show", "agent", "scripte"), "Did you mean scripted"),
        (("reproduce", "nothing"), "unknown reproduction 'nothing'"),
        (("check", "nowhere.toml"), "plan: nowhere.toml"),
        (
            ("new-plugin", "mine", "--out", ""),
            "--out: wanted the name of a file or folder, got none",
        ),
        ((*GOOD, "--out", " "), "--out: wanted the name of a file or folder, got none"),
        (("new-plugin", "My Plugin"), "NAME: wanted lower-case letters"),
    ],
)
def test_a_wrong_request_is_one_line_and_leaves_nothing(
    gde: Gde, arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    assert message in refused(gde(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where_errors_and_failures_were_raised(
    gde: Gde, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "GDE_DEBUG", ""
    )  # and whatever a command makes of it is gone after the test
    trapdoor = (
        "eval",
        "--env",
        "trapdoor",
        "--agent",
        "scripted",
        "--episodes",
        "3",
        "--metric",
        "success",
    )
    assert "Traceback" not in gde(*trapdoor).stderr
    assert (
        "Traceback" not in gde("eval", "--env", "nowhere", "--agent", "scripted").stderr
    )
    shown = gde("--debug", *trapdoor)
    assert shown.returncode == 3 and shown.stderr.count("Traceback") == 1
    assert (
        'raise RuntimeError("the floor gave way")' in shown.stderr
        and "Traceback" not in shown.stdout
    )
    refused = gde("--debug", "eval", "--env", "nowhere", "--agent", "scripted")
    assert refused.returncode == 2 and "Traceback" in refused.stderr
    assert refused.stderr.splitlines()[-1].startswith(
        "gde: unknown environment 'nowhere'"
    )


def test_what_parts_print_is_no_data(gde: Gde) -> None:
    parts = [
        "--env",
        "chatty",
        "--agent",
        "scripted",
        "--metric",
        "success",
        "--metric",
        "talkative",
    ]
    wanted = ["eval", *parts, "--episodes", "2", "--out", "run"]
    for arguments in (wanted, ["rescore", "run", "--metric", "talkative"]):
        done = gde(*arguments, "--json")
        assert json.loads(done.stdout)["status"] == "ok"
        assert "a metric" in done.stderr


def test_flags_and_options_that_may_be_repeated_are_given_twice(gde: Gde) -> None:
    twice = gde(
        *GOOD,
        "--metric",
        "accuracy",
        "--set",
        "env.length=3",
        "--set",
        "agent.x=1",
        "--json",
        "--json",
    )
    assert "unknown field of agent 'x'" in refused(twice)


def test_dry_run_prints_a_plan_that_can_be_run(gde: Gde, tmp_path: Path) -> None:
    plan = gde(*GOOD, "--set", "env.length=3,4", "--dry-run")
    (tmp_path / "plan.toml").write_text(plan.stdout)
    checked = json.loads(gde("check", "plan.toml", "--json").stdout)
    assert (checked["episodes"], checked["conditions"]) == (6, 2)
    ran = json.loads(gde("eval", "--plan", "plan.toml", "--json").stdout)
    assert ran["plan_hash"] == checked["plan_hash"]
    assert {
        measurement["where"].get("length") for measurement in ran["measurements"]
    } == {None, 3, 4}


def test_another_model_over_a_saved_plan_brings_its_own_settings(
    gde: Gde, tmp_path: Path
) -> None:
    asking = (
        "eval",
        "--env",
        "corridor",
        "--agent",
        "asking-logged",
        "--episodes",
        "1",
        "--metric",
        "success",
    )
    assert (
        gde(
            *asking,
            "--set",
            "agent.model=logged:first",
            "--set",
            f"model.log={tmp_path / 'log'}",
        ).returncode
        == 0
    )
    (run,) = (tmp_path / "runs").iterdir()
    plan = gde(
        "eval",
        "--plan",
        str(run / "plan.toml"),
        "--set",
        "agent.model=logged:second",
        "--dry-run",
    ).stdout
    assert 'source = "second"' in plan and "first" not in plan
    assert (
        gde(
            "eval", "--plan", str(run / "plan.toml"), "--agent", "random", "--dry-run"
        ).returncode
        == 0
    )
    clash = gde(
        *asking, "--set", "agent.model=logged:first", "--set", "model.source=second"
    )
    assert "model.source: wanted 'first' as agent.model says, got 'second'" in refused(
        clash
    )


def test_reading_commands_agree_with_the_run(gde: Gde, tmp_path: Path) -> None:
    assert gde(*GOOD, "--out", "r").returncode == 0
    episodes = json.loads(gde("view", "r", "--json").stdout)["episodes"]
    assert [each["episode"] for each in episodes] == ["0/0/0", "0/1/0", "0/2/0"]
    turns = json.loads(gde("view", "r", "0/1/0", "--json").stdout)["turns"]
    assert len(turns) == episodes[1]["turns"]
    lines = gde("export", "r").stdout.splitlines()
    assert [json.loads(line)["episode"] for line in lines] == [
        "0/0/0",
        "0/1/0",
        "0/2/0",
    ]
    messages = gde("export", "r", "--format", "messages").stdout.splitlines()
    assert len(messages) == sum(each["turns"] for each in episodes)
    assert (
        gde("export", "r", "--format", "csv")
        .stdout.splitlines()[1]
        .startswith("success,Success rate,1.0")
    )
    assert gde("export", "r", "--format", "csv", "--out", "r.csv").returncode == 0
    assert "--out r.csv: File exists" in refused(gde("export", "r", "--out", "r.csv"))
    log = gde("export", "r", "--format", "inspect", "--out", "r.txt")
    assert "wanted a name that ends in .eval or .json" in refused(log)
    assert "unknown episode '9/9/9'" in refused(gde("view", "r", "9/9/9"))
    assert json.loads(gde("rescore", "r", "--json").stdout)["status"] == "ok"


def test_a_run_without_probes_is_probed_with_one_that_is_named(
    gde: Gde, tmp_path: Path
) -> None:
    assert gde(*GOOD, "--out", "r").returncode == 0
    before = (tmp_path / "r" / "result.json").read_bytes()
    said = refused(gde("probe", "r", "--quiet"))
    assert (
        said == "gde: r has no probes to fit anew: name one to add (`gde list probes`)"
    )
    assert (tmp_path / "r" / "result.json").read_bytes() == before


def test_compare_pairs_worlds_and_corrects(gde: Gde, tmp_path: Path) -> None:
    corridor = (
        "eval",
        "--env",
        "corridor",
        "--set",
        "env.length=9",
        "--episodes",
        "20",
        "--metric",
        "accuracy",
    )
    gde(*corridor, "--agent", "scripted", "--out", "a")
    gde(*corridor, "--agent", "random", "--out", "b")
    rows = {
        row["name"]: row
        for row in json.loads(gde("compare", "a", "b", "--json").stdout)["rows"]
    }
    accuracy = rows["accuracy"]
    assert accuracy["a"] == 1.0
    assert accuracy["difference"] == pytest.approx(accuracy["b"] - 1.0)
    assert accuracy["p"] < 0.05
    (tmp_path / "link").symlink_to("a")
    assert "a run is named twice" in refused(gde("compare", "a", "link"))
    worlds = gde("compare", "a", "b", "--episodes", "accuracy")
    assert "Accuracy, %: A is better in " in worlds.stdout
    told = json.loads(
        gde("compare", "a", "b", "--episodes", "accuracy", "--json").stdout
    )
    assert {one["better"] for one in told["worlds"]["worlds"]} == {"a"}
    shown = gde("compare", "a", "b").stdout
    assert gde("compare", "a", "b", "--fail-if-worse", "accuracy").returncode == 3
    better = gde("compare", "b", "a", "--fail-if-worse", "accuracy", "--json")
    assert better.returncode == 0
    assert [one["passed"] for one in json.loads(better.stdout)["checks"]] == [True]
    assert shown.startswith(
        "b against a \u00b7 corridor \u00b7 7 worlds\na (100 %) leads"
    )
    assert re.search(r"^Accuracy .* a 100 \u25bc worse by ", shown, re.MULTILINE)
    shown = gde("compare", "a", "b", "--all").stdout
    assert "shared worlds: 7" in shown
    assert re.search(r"^ Accuracy, % +100\.0 ", shown, re.MULTILINE)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    assert (
        "equal in every world: Accuracy" in gde("compare", "a", "copy", "--all").stdout
    )
    other = (
        "eval",
        "--env",
        "corridor",
        "--set",
        "env.length=4",
        "--episodes",
        "2",
        "--agent",
        "random",
    )
    gde(*other, "--out", "c")
    assert "share no world" in refused(gde("compare", "a", "c"))


def test_listing_shows_what_is_missing_without_importing_it(
    gde: Gde, tmp_path: Path
) -> None:
    offers = {
        each["name"]: each
        for each in json.loads(gde("list", "agents", "--json").stdout)["offers"]
    }
    assert (
        offers["needs-absent"]["install"]
        == "missing not_there: pip install 'odd_parts[x]'"
    )
    assert offers["scripted"]["install"] == ""
    fields = json.loads(gde("show", "environment", "corridor", "--json").stdout)[
        "fields"
    ]
    measures = json.loads(gde("show", "metric", "success", "--json").stdout)["measures"]
    told = [(each["name"], each["title"], each["better"]) for each in measures]
    assert told[0] == ("success", "Success rate", "more")
    assert "Success rate" in gde("show", "metric", "success").stdout
    assert fields == [
        {
            "field": "length",
            "type": "int",
            "default": 3,
            "help": "Cells; the goal is in the last.",
        },
    ]


def test_plugins_and_doctor_tell_of_a_broken_plugin(gde: Gde, tmp_path: Path) -> None:
    (tmp_path / "shattered.py").write_text("raise RuntimeError('in pieces')")
    environment = {
        **os.environ,
        "GDE_LOAD_PLUGINS": "shattered",
        "PYTHONPATH": str(tmp_path),
    }
    for command, code in (("plugins", 0), ("doctor", 2)):
        done = subprocess.run(
            [sys.executable, "-m", "gde", command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code
        assert "RuntimeError: in pieces" in done.stdout


def test_a_group_is_shown_as_what_is_in_it(gde: Gde) -> None:
    shown = json.loads(gde("show", "metric", "meg", "--json").stdout)
    assert shown["group"] == "meg"
    assert {"meg-known", "meg-unknown"} <= {each["name"] for each in shown["offers"]}
    assert "meg stands for all of these metrics" in gde("show", "metric", "meg").stdout
    assert (
        json.loads(gde("show", "metric", "meg-known", "--json").stdout)["name"]
        == "meg:meg-known"
    )


def test_the_version_is_that_of_the_package(gde: Gde) -> None:
    import gde as package

    done = gde("--version")
    wanted = rf"gde {package.__version__}( \(commit [0-9a-f]{{12}}(-dirty)?\))?\n"
    assert done.returncode == 0 and re.fullmatch(wanted, done.stdout)


def test_a_new_plugin_works_at_once(gde: Gde, tmp_path: Path) -> None:
    assert gde("new-plugin", "mine").returncode == 0
    assert "exists: choose another folder" in refused(gde("new-plugin", "mine"))
    (tmp_path / "file").write_text("data")
    assert "cannot write file/x: Not a directory; name another" in refused(
        gde("new-plugin", "m", "--out", "file/x")
    )
    environment = {
        **os.environ,
        "GDE_LOAD_PLUGINS": "gde_mine",
        "PYTHONPATH": str(tmp_path / "gde-mine"),
    }
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--env",
        "grid",
        "--agent",
        "mine",
        "--episodes",
        "2",
        "--json",
    ]
    done = subprocess.run(
        command,
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["status"] == "ok"
    tested = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "gde-mine/tests",
    ]
    assert (
        subprocess.run(
            tested, env=environment, cwd=tmp_path, capture_output=True, check=False
        ).returncode
        == 0
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "eval --episodes many",
            "gde: --episodes: wanted a whole number, got 'many'; see `",
        ),
        (
            "reproduce meg-cliffworld --scale x",
            "gde: --scale: wanted a number, got 'x'; see `",
        ),
        (
            "view . --serve --port 70000",
            "gde: --port: wanted less than or equal to 65535, got ",
        ),
        (
            "eval --env grid --agent random,",
            "gde: --agent: wanted names with commas in between, got 'random,'",
        ),
        (
            "eval --env grid --agent gpt-oss --set agent.model=",
            "gde: agent.model: wanted some text, got ''",
        ),
        (
            "eval --env grid --agent random --agent optimal",
            "gde: --agent is given twice and takes one value: Agent, e.g. gpt-oss; several with commas; see `gde eval",
        ),
        (
            "eval --env grid --agent random --episodes 2 --episodes=3",
            "gde: --episodes is given twice and takes one",
        ),
        (
            "babyai dataset --task plan --out a --seeds 1 --seeds 2",
            "gde: --seeds is given twice and takes one value: ",
        ),
        (
            "rescore . --set accuracy.x=1",
            "gde: --set accuracy: unknown metric; add it with --metric",
        ),
        ("check .", "gde: . is a folder: wanted a plan file or a distribution"),
        (
            "rewardbench",
            "gde: gde rewardbench wants one of its commands; see `gde rewardbench --help`",
        ),
    ],
)
def test_what_is_misread_is_told_in_a_line(gde: Gde, words: str, said: str) -> None:
    done = gde(*words.split())
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert done.stderr.startswith(said), done.stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("report", ""), "RUN"),
        (("eval", "--env", "grid", "--agent", "random", "--out="), "--out"),
        (("eval", "--plan", " "), "--plan"),
        (("compare", "a", ""), "RUN..."),
    ],
)
def test_an_empty_word_is_no_path(gde: Gde, words: tuple[str, ...], name: str) -> None:
    """As of a variable of the shell that is not set: it would be the present folder."""
    done = gde(*words)
    told = f"gde: {name}: wanted the name of a file or folder, got none; see `gde {words[0]} --help`"
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(told), (
        done.stderr
    )
