"""What is written to an address is what would have been written here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from typer.testing import CliRunner, Result

import gde
from gde.cli.main import build_app
from gde.errors import ConfigError
from gde_plugins.exchange.addresses import fetched, sending


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("addresses") / "run"
    plan = gde.Plan(environment="grid", agent="random", metrics=["success"], episodes=3)
    gde.evaluate(plan, folder)
    return folder


@pytest.fixture(autouse=True)
def bucket() -> Iterator[MemoryFileSystem]:
    yield MemoryFileSystem()
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


def command(*words: object) -> Result:
    return CliRunner().invoke(build_app(), [str(word) for word in words])


def test_an_export_goes_to_an_address(
    run: Path, bucket: MemoryFileSystem, tmp_path: Path
) -> None:
    assert command("export", run, "--out", tmp_path / "here.jsonl").exit_code == 0
    done = command("export", run, "--out", "memory://lab/there.jsonl", "--json")
    assert done.exit_code == 0 and "memory://lab/there.jsonl" in done.output
    here = (tmp_path / "here.jsonl").read_bytes()
    assert here and bucket.cat("/lab/there.jsonl") == here
    again = command("export", run, "--out", "memory://lab/there.jsonl")
    assert isinstance(again.exception, ConfigError)
    assert str(again.exception).startswith("memory://lab/there.jsonl: File exists")


def test_a_site_goes_to_an_address_whole(run: Path, bucket: MemoryFileSystem) -> None:
    assert command("publish", run, "--out", "memory://lab/site").exit_code == 0
    assert bucket.exists("/lab/site/index.html")
    assert bucket.glob("/lab/site/dataset/**/*.parquet")


def test_a_site_is_imported_from_its_address(run: Path, tmp_path: Path) -> None:
    assert command("publish", run, "--out", "memory://lab/site").exit_code == 0
    out = tmp_path / "imported"
    done = command("import", "memory://lab/site/dataset", "--out", out)
    assert done.exit_code == 0, done.output
    [copy] = out.iterdir()
    assert gde.open(copy).result.measurements == gde.open(run).result.measurements


def test_a_folder_comes_back_as_it_was_sent(
    bucket: MemoryFileSystem, tmp_path: Path
) -> None:
    with sending(Path("memory://lab/site")) as site:
        (site / "a").mkdir(parents=True)
        (site / "a" / "page.html").write_text("<p>")
    with fetched(Path("memory://lab/site")) as copy:
        assert (copy / "a" / "page.html").read_text() == "<p>"
    with fetched(tmp_path) as same:
        assert same == tmp_path


def test_what_is_sent_in_part_is_taken_away(
    bucket: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(files: MemoryFileSystem, local: str, place: str, **_: Any) -> None:
        files.pipe(f"{place}/first", b"half")
        raise OSError("the line\n went dead")

    monkeypatch.setattr(MemoryFileSystem, "put", breaks)
    with (
        pytest.raises(ConfigError, match=r"^memory://lab/site: the line went dead$"),
        sending(Path("memory://lab/site")) as site,
    ):
        site.mkdir()
    assert not bucket.exists("/lab/site")


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("file:///tmp/x", "wanted a path"),
        ("nothing://x/y", "nothing"),
        ("memory://lab/absent", "absent"),
    ],
)
def test_an_address_that_cannot_be_read_is_one_line(address: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught, fetched(Path(address)):
        pass
    assert "\n" not in str(caught.value)
