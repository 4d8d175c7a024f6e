"""A third party's reward model, from its skeleton to its row in all five domains."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from gde_plugins.reward_prediction.domains import DOMAINS
from gde_plugins.reward_prediction.study import TABLE

SIMULATORS = ("textworld", "alfworld", "scienceworld")


@pytest.mark.extended
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    not all(map(find_spec, SIMULATORS)) or which("java") is None,
    reason="needs the text worlds: pip install 'gde-eval[text-worlds]'",
)
def test_a_skeleton_has_a_row_in_every_domain_by_its_name_alone(tmp_path: Path) -> None:
    def gde(*words: str) -> str:
        environment = {
            **os.environ,
            "GDE_LOAD_PLUGINS": "gde_mine",
            "PYTHONPATH": os.pathsep.join(
                [str(tmp_path / "gde-mine"), os.environ.get("PYTHONPATH", "")]
            ),
        }
        if words[0] == "new-plugin":
            del environment["GDE_LOAD_PLUGINS"]
        done = subprocess.run(
            [sys.executable, "-m", "gde", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    gde("new-plugin", "mine", "--kind", "reward-model")
    gde("check", "gde-mine")
    told = gde(
        *("reproduce", "rewardbench", "--scale", "0.005", "--json"),
        *("--set", "study.domains=all", "--set", "study.ablations=false"),
        *("--reward", "mine"),
    )

    rows = [
        row
        for row in json.loads(told)["rows"]
        if row["table"] == TABLE and row["quantity"].startswith("mine, ")
    ]
    titles = [domain.title for domain in DOMAINS.values()]
    assert [row["quantity"] for row in rows] == [
        *(f"mine, {title}" for title in titles),
        "mine, overall",
    ]
    for row in rows:
        # It rewards an action that no domain has, so it is constant.
        assert row["ours"]["value"] == pytest.approx(0.5**0.5)
