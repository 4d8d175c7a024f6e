"""The viewer: what it tells of runs, whom it turns away, and that a folder of a
stranger stays data.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

import uvicorn
from starlette.testclient import TestClient

from gde.comparisons.contest import contest
from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.errors import GdeError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.evaluating import evaluate
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder
from gde.store.lock import HOLDER
from gde.studies.study import Study, write_study
from gde_plugins.pages.library import library, state
from gde_plugins.viewer.app import create_app
from gde_plugins.viewer.episodes import COLUMNS, MISSED, REACHED, episodes_of
from gde_plugins.viewer.server import serve

HOSTILE = '<script>document.title = "broken"</script>'


@pytest.fixture(scope="module")
def parts() -> Catalogue:
    return Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, parts: Catalogue) -> Path:
    """Two finished runs, one that has not begun, and a folder that is none."""
    root = tmp_path_factory.mktemp("runs")
    environment = Choice(name="corridor", config={"length": 12})
    metrics = (Choice(name="accuracy"), Choice(name="success"))
    plans = {
        name: Plan(environment=environment, agent=name, episodes=20, metrics=metrics)
        for name in ("scripted", "random")
    }
    contest(plans, root / "contest", parts)
    random = RunFolder.open(root / "contest" / "random").plan()
    RunFolder.create(random, root / "begun", How())
    (root / "begun" / "plan.toml").write_text(
        (root / "begun" / "plan.toml")
        .read_text()
        .replace('use = "random"', f"use = '{HOSTILE}'")
    )
    (root / "empty").mkdir()
    return root


@pytest.fixture
def client(root: Path, parts: Catalogue) -> Iterator[TestClient]:
    with closing(
        TestClient(create_app(root, parts), base_url="http://127.0.0.1")
    ) as client:
        yield client


def test_runs_are_found_beneath_a_folder_and_links_are_not_followed(
    root: Path, tmp_path: Path
) -> None:
    assert {*library(root)} == {"contest/scripted", "contest/random", "begun"}
    assert [*library(root / "begun")] == ["begun"]
    (tmp_path / "link").symlink_to(root)
    assert library(tmp_path) == {}


def test_variants_of_a_contest_stand_together_with_their_page(
    root: Path, client: TestClient
) -> None:
    os.utime(root / "begun" / "run.sqlite", (5e9, 5e9))
    assert next(iter(library(root))) == "begun"
    os.utime(root / "contest" / "random" / "run.sqlite", (6e9, 6e9))
    assert list(library(root)) == ["contest/random", "contest/scripted", "begun"]
    assert state("contest/random", root / "contest" / "random").group == "contest"
    assert state("begun", root / "begun").group == ""
    assert client.get("/").text.count('href="/contest/contest"') == 1
    page = client.get("/contest/contest").text
    assert 'href="/run/contest/scripted"' in page and "2 variants" in page
    for shown in (page, client.get("/run/contest/scripted").text):
        assert '<header><p class="kicker"><a href="/">runs</a></p>' in shown
    for unknown in ("begun", "contest/random", "..%2fcontest", ""):
        assert client.get(f"/contest/{unknown}").status_code == 404


def test_runs_of_a_study_stand_under_its_page(
    root: Path, tmp_path: Path, parts: Catalogue
) -> None:
    run = tmp_path / "study" / "grids"
    shutil.copytree(root / "contest" / "random", run)
    study = Study(
        name="telos",
        scale=0.1,
        folder=tmp_path / "study",
        rows=(),
        figures=(),
        figures_missing="",
        results={"grids": RunFolder.open(run).read_result()},
    )
    write_study(study)
    app = create_app(tmp_path, parts)
    with closing(TestClient(app, base_url="http://127.0.0.1")) as client:
        assert client.get("/").text.count('href="/study/study"') == 1
        assert 'href="/run/study/grids"' in client.get("/study/study").text
        assert client.get("/contest/study").status_code == 404


def test_reading_a_run_does_not_change_its_place(
    root: Path, client: TestClient
) -> None:
    before = list(library(root))
    client.get("/run/contest/random")
    assert list(library(root)) == before


def test_a_line_tells_how_a_run_is(root: Path) -> None:
    scripted = state("it", root / "contest" / "scripted")
    assert (scripted.status, scripted.done, scripted.total, scripted.agent) == (
        "ok",
        20,
        20,
        "scripted",
    )
    assert scripted.found.startswith("Success rate 100.0")
    begun = state("it", root / "begun")
    assert (begun.status, begun.live) == ("unfinished", False)
    (root / "begun" / HOLDER).write_text("process 1")
    assert state("it", root / "begun").live
    (root / "begun" / HOLDER).unlink()


def test_the_list_names_models_and_what_they_took(
    tmp_path: Path, parts: Catalogue
) -> None:
    environment = Choice(name="corridor", config={"length": 5})
    plan = Plan(environment=environment, agent="asking", episodes=2)
    evaluate(plan, tmp_path / "run", parts)
    asked = state("run", tmp_path / "run")
    assert (asked.model, asked.usage.calls) == ("planted", asked.turns)
    app = create_app(tmp_path, parts)
    with closing(TestClient(app, base_url="http://127.0.0.1")) as client:
        text = client.get("/").text
    assert "<small>planted, " in text and "no prices" in text


def test_a_folder_that_cannot_be_read_is_a_line_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("version = 99")
    assert state("it", tmp_path).status == "unreadable"
    assert "wanted version 3" in state("it", tmp_path).found


def test_every_page_is_there_and_holds_nothing_from_elsewhere(
    client: TestClient,
) -> None:
    pages = (
        "/",
        "/run/contest/scripted",
        "/run/begun",
        "/compare?a=contest/scripted&b=contest/random",
        "/episodes",
    )
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert "default-src &#39;none&#39;" in answer.text
        films = re.sub(r'id="films">[^<]*<', "", answer.text)
        assert not re.search(r"https?://|@import|<img|<iframe", films), page
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert HOSTILE not in answer.text


def cells(text: str) -> list[list[str]]:
    """The texts of a table's rows."""
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", row)]
        for row in body.split("</tr>")[:-1]
    ]


def test_the_episodes_of_all_runs_are_filtered_and_sorted(
    client: TestClient, root: Path
) -> None:
    every = cells(client.get("/episodes").text)
    assert len(every) == 40
    place = COLUMNS.index
    recorded = load_evidence(root / "contest" / "random").trajectories
    own = [row for row in every if row[0] == "contest/random"]
    assert [row[place("episode")] for row in own] == [str(one.key) for one in recorded]
    assert [row[place("world")] for row in own] == [one.world.id for one in recorded]
    assert [int(row[place("turns")]) for row in own] == [
        len(one.turns) for one in recorded
    ]
    outcomes = [REACHED if one.succeeded else MISSED for one in recorded]
    assert [row[place("outcome")] for row in own] == outcomes

    missed = cells(client.get("/episodes?agent=random&outcome=not+reached").text)
    assert len(missed) == outcomes.count(MISSED) > 0
    turns = [
        int(row[place("turns")])
        for row in cells(client.get("/episodes?sort=-turns").text)
    ]
    assert turns == sorted(turns, reverse=True)
    world = quote(recorded[0].world.id)
    same = cells(client.get(f"/episodes?world={world}").text)
    assert {row[place("world")] for row in same} == {recorded[0].world.id}
    assert "0 episodes" in client.get("/episodes?agent=nobody").text
    # What is no column or page is not taken for one.
    assert cells(client.get("/episodes?sort=__class__&page=x&foo=1").text) == every
    assert cells(client.get(f"/episodes?page={'9' * 30}").text) == every


def test_the_table_of_episodes_has_pages_that_keep_what_was_asked_for(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = cells(client.get("/episodes?agent=random&sort=turns").text)
    monkeypatch.setattr("gde_plugins.viewer.episodes.ROWS", 15)
    first = client.get("/episodes?agent=random&sort=turns").text
    assert "page 1 of 2" in first and cells(first) == every[:15]
    (later,) = re.findall(r'<a href="([^"]*)">later</a>', first)
    second = client.get(unescape(later)).text
    assert "page 2 of 2" in second and cells(second) == every[15:]
    # A column's name turns its order round.
    (other,) = re.findall(r'<a href="([^"]*)">turns</a>', second)
    turned = cells(client.get(unescape(other)).text)
    place = COLUMNS.index("turns")
    assert turned[0][place] == every[-1][place]


def test_a_run_that_cannot_be_read_has_no_episodes(tmp_path: Path) -> None:
    assert episodes_of("nowhere", tmp_path) == ()


def test_two_runs_stand_side_by_side_with_their_differences(client: TestClient) -> None:
    text = client.get("/compare?a=contest/scripted&b=contest/random").text
    assert (
        "contest/random \u2212 contest/scripted" in text
        and 'href="/run/contest/scripted"' in text
    )
    for bad in (
        "a=contest/scripted&b=contest/scripted",
        "a=contest/scripted&b=nothing",
        "a=begun&b=contest/random",
        "",
    ):
        answer = client.get(f"/compare?{bad}")
        assert answer.status_code == 404 and "\n" not in answer.text


def test_turns_come_after_the_one_that_was_told_last(client: TestClient) -> None:
    now = client.get("/live/contest/scripted?after=0").json()
    assert now["over"] and now["done"] == 20 and now["turns"]
    assert (
        client.get(f"/live/contest/scripted?after={now['last']}").json()["turns"] == []
    )
    assert client.get("/live/contest/scripted?after=-1%20OR%201").status_code == 200


@pytest.mark.parametrize(
    "name", ["../contest/scripted", "..%2f..%2fetc/passwd", "contest", "empty", "/etc"]
)
def test_what_is_no_run_beneath_the_folder_is_not_read(
    client: TestClient, name: str
) -> None:
    assert client.get(f"/run/{name}").status_code == 404


def test_strangers_are_turned_away(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    assert (
        client.get("/", headers={"host": "127.0.0.1.evil.example:80"}).status_code
        == 400
    )
    for site in ("cross-site", "same-site"):
        assert client.get("/", headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200
    assert client.post("/").status_code == 405


def test_nothing_is_written(client: TestClient, root: Path) -> None:
    def seen() -> dict[Path, tuple[int, int]]:
        files = (
            path
            for path in root.rglob("*")
            if path.is_file() and not path.name.endswith(("-wal", "-shm"))
        )
        return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = seen()
    for page in (
        "/",
        "/run/contest/random",
        "/compare?a=contest/scripted&b=contest/random",
    ):
        client.get(page)
    assert seen() == before


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GdeError, match=r"is no folder. Name a folder with runs"):
        serve(tmp_path / "nothing", 0, print)


@pytest.mark.outside
def test_a_browser_shows_the_list_and_follows_a_run(
    root: Path, parts: Catalogue, tmp_path: Path
) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(root, parts), port=0, log_level="error", lifespan="off"
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        for page, wanted in (
            ("", "contest/scripted"),
            ("run/begun", "unfinished"),
            ("episodes?agent=random", "not reached"),
            ("run/contest/scripted", "Turn 1"),
        ):
            command = [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ]
            command += [
                f"--user-data-dir={tmp_path / 'profile'}",
                "--virtual-time-budget=2500",
                "--dump-dom",
            ]
            address = f"http://127.0.0.1:{port}/{page}"
            shown = subprocess.run(
                [*command, address],
                check=True,
                capture_output=True,
                timeout=120,
                text=True,
            ).stdout
            assert wanted in shown
            assert "<title>broken" not in shown
    finally:
        server.should_exit = True
        thread.join()
