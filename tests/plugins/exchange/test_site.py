"""Runs as a site and a dataset, and datasets of strangers."""

import json
import os
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, resume
from gde.comparisons.contest import contest
from gde.errors import ConfigError, GdeError
from gde.runs.verifying import verify
from gde.store.folder import RunFolder
from gde_plugins.exchange.site.dataset import CARD, CHECKSUMS, import_dataset
from gde_plugins.exchange.site.site import publish

pytest.importorskip("pyarrow", reason="needs the extra parquet")
OPEN = {"size": 5, "density": 0.0}


def plan(agent: str) -> Plan:
    environment = Choice(name="grid", config=OPEN)
    return Plan(environment=environment, agent=agent, metrics=["success"], episodes=6)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest of two agents and a run of its own."""
    folder = tmp_path_factory.mktemp("published")
    contest({"a": plan("optimal"), "b": plan("random")}, folder / "duel")
    evaluate(plan("noisy"), folder / "single")
    assert publish([folder / "single", folder / "duel"], folder / "site", "mit") == 3
    return folder / "site"


def test_every_link_of_the_site_leads_to_a_file(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) == 5
    found = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for address in re.findall(r'href="([^"#]+)"', text):
            if not address.startswith("http"):
                found += 1
                assert (page.parent / address).is_file(), (page, address)
    assert found > 10


def test_runs_in_the_same_worlds_are_ranked_together(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "3 variants in grid by success rate" in index
    assert index.index("duel/a") < index.index("duel/b")
    assert str(site.parent) not in index


def test_a_contest_is_compared_once(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(*_: object) -> None:
        raise AssertionError("its own page has compared the runs")

    monkeypatch.setattr("gde_plugins.exchange.site.site.compare_runs", twice)
    publish([site.parent / "duel"], tmp_path / "site")
    index = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "2 variants in grid by success rate" in index


def test_a_site_is_not_written_over_and_not_left_half_done(
    site: Path, tmp_path: Path
) -> None:
    with pytest.raises(GdeError, match="exists: choose another folder"):
        publish([site.parent / "single"], site)
    with pytest.raises(GdeError, match="holds none"):
        publish([tmp_path], tmp_path / "site")
    assert [*tmp_path.iterdir()] == []


def test_a_published_run_says_the_same_and_is_trusted_by_nobody_yet(
    site: Path, tmp_path: Path
) -> None:
    runs = import_dataset(site / "dataset", tmp_path / "mine")
    assert [*runs] == ["duel/a", "duel/b", "single"]
    for name, path in runs.items():
        folder = RunFolder.open(path)
        original = RunFolder.open(site.parent / name).read_result()
        assert not folder.is_trusted
        assert verify(path) == ()
        assert folder.plan() == RunFolder.open(site.parent / name).plan()
        with pytest.raises(GdeError, match="`gde trust"):
            resume(path)
        assert folder.read_result().measurements == original.measurements
    assert (tmp_path / "mine" / "duel" / "contest.toml").is_file()


@pytest.mark.parametrize("name", ["Index.html", "dataset", "a|b", "a\nb"])
def test_names_that_a_site_cannot_have_are_refused(
    name: str, site: Path, tmp_path: Path
) -> None:
    shutil.copytree(site.parent / "single", tmp_path / name)
    with pytest.raises(ConfigError, match="rename the folder"):
        publish([tmp_path / name], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_runs_whose_tables_would_have_one_name_are_refused(
    site: Path, tmp_path: Path
) -> None:
    shutil.copytree(site.parent / "single", tmp_path / "duel.a")
    with pytest.raises(ConfigError, match="two runs are called duel/a"):
        publish([tmp_path / "duel.a", site.parent / "duel"], tmp_path / "site")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def relist(dataset: Path, change: Callable[[dict[str, str]], object]) -> None:
    path = dataset / CHECKSUMS
    sums = json.loads(path.read_text())
    change(sums)
    path.write_text(json.dumps(sums))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a flipped bit": lambda at: flip(at / "runs/single/run.sqlite"),
    "a cut file": lambda at: os.truncate(at / "runs/single/run.sqlite", 5000),
    "another plan": lambda at: flip(at / "runs/single/plan.toml"),
    "another table": lambda at: flip(at / "turns/single.parquet"),
    "another card": lambda at: flip(at / CARD),
    "a missing file": lambda at: (at / "runs/single/manifest.json").unlink(),
    "an added file": lambda at: (at / "runs/single/run.sqlite-journal").touch(),
    "a link": lambda at: (at / "runs/other").symlink_to(at / "runs/single"),
    "no list": lambda at: (at / CHECKSUMS).unlink(),
    "a list of nothing": lambda at: relist(at, dict.clear),
    "a list of elsewhere": lambda at: relist(
        at, lambda sums: sums.update({"../x": "0"})
    ),
    "a list that is none": lambda at: (at / CHECKSUMS).write_text("[" * 100_000),
    "no runs": lambda at: shutil.rmtree(at / "runs"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_dataset_is_refused(damage: str, site: Path, tmp_path: Path) -> None:
    shutil.copytree(site / "dataset", tmp_path / "dataset")
    DAMAGES[damage](tmp_path / "dataset")
    with pytest.raises(GdeError):
        import_dataset(tmp_path / "dataset", tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_lists_made_anew_do_not_hide_a_changed_record(
    site: Path, tmp_path: Path
) -> None:
    """Whoever lists the digests anew has still to forge the record."""
    dataset = shutil.copytree(site / "dataset", tmp_path / "dataset")
    result = dataset / "runs" / "single" / "result.json"
    result.write_text(result.read_text().replace('"value": 1.0', '"value": 0.5'))
    digest = sha256(result.read_bytes()).hexdigest()
    relist(dataset, lambda sums: sums.update({"runs/single/result.json": digest}))
    with pytest.raises(GdeError, match=r"result\.json"):
        import_dataset(dataset, tmp_path / "mine")
