"""What strangers send, and how gde reads it: one subject a format.

A subject puts a damaged input into a folder and gives what reads it.
"""

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import tomli_w
from forging import forge
from whole_plan import whole_plan

from fuzzing.damage import altered, altered_cell, damaged
from gde import evaluate, load_evidence, report
from gde.before.spending import spending
from gde.comparisons.comparing import compare
from gde.comparisons.contest import members
from gde.errors import MissingExtra
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.planfile import read_plan
from gde.request.resolve import resolve
from gde.runs.exporting import FORMATS, export, summaries
from gde.runs.verifying import verify
from gde.store.arrays import read_arrays, write_arrays
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.manifest import begin
from gde.store.schema import tables
from gde.studies.study import read_study
from gde_plugins.exchange.importing import import_log
from gde_plugins.exchange.inspect_logs import read_inspect, write_inspect
from gde_plugins.exchange.site.dataset import check as check_dataset
from gde_plugins.pages.library import state

Reading = Callable[[], object]
Subject = Callable[["Corpus", Path, Random], Reading]
RUN, GOING = "run", "going"
"""A finished run, and one that was killed."""
CONTEST, STUDY, SUMS = "contest.toml", "reproduction.json", "checksums.json"


class Corpus:
    """Real files, all small."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalogue = Catalogue(
            load_plugins(modules=("gde.testing.plugin", "odd_parts"))
        )

    @property
    def has_inspect(self) -> bool:
        """Whether Inspect is installed, which wrote some of them."""
        return (self.folder / "log.eval").is_file()

    @property
    def subjects(self) -> dict[str, float]:
        """The subjects that can be tried, with their shares."""
        found = {name: share for name, (share, _) in SUBJECTS.items()}
        if not self.has_inspect:
            del found["inspect"]
        return found

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def other(self, rng: Random) -> bytes:
        """Some other file, for pieces of it."""
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        return rng.choice(files).read_bytes()

    def copy(self, name: str, place: Path) -> Path:
        return Path(shutil.copytree(self.folder / name, place / "in"))


def make_corpus(folder: Path) -> None:
    """Fill a folder with real files of every format."""
    folder.mkdir()
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))
    run = folder / RUN
    evaluate(whole_plan(3), run, catalogue)
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.forget(["0/2/0"])
        shutil.copytree(run, folder / GOING)
        (folder / GOING / "result.json").unlink()
    shutil.rmtree(run)
    evaluate(whole_plan(3), run, catalogue)

    for name in ("run.sqlite", "result.json", "plan.toml"):
        shutil.copyfile(run / name, folder / name)
    write_arrays(folder / "a.safetensors", {"values": np.ones((3, 4), np.float32)})
    (folder / CONTEST).write_text('version = 1\nvariants = ["a", "b"]\n')
    (folder / STUDY).write_text(json.dumps(_study()))
    (folder / SUMS).write_text(json.dumps({"README.md": "0" * 64, "runs/a": "1" * 64}))
    try:
        write_inspect(run, folder / "log.json")
        write_inspect(run, folder / "log.eval")
    except MissingExtra:
        return
    _foreign_log(folder)


def _study() -> dict[str, Any]:
    ours = {"name": "a", "value": 0.4, "unit": "share", "n": 3, "interval": [0.3, 0.5]}
    row = {"quantity": "a", "paper": 0.5, "ours": ours, "source": "fig. 1"}
    figure = {"title": "a", "caption": "b", "spec": {"mark": "bar"}}
    return {
        "schema": 2,
        "study": "telos",
        "scale": 0.1,
        "runs": {RUN: {}},
        "rows": [row],
        "figures": [figure],
        "figures_missing": "",
        "claim": ["a"],
    }


def _foreign_log(folder: Path) -> None:
    """The same logs as of a program that knows nothing of gde."""
    log = json.loads((folder / "log.json").read_text())
    log["eval"]["metadata"] = {}
    for number, sample in enumerate(log["samples"]):
        sample["id"] = number
        sample["metadata"] = {}
    (folder / "foreign.json").write_text(json.dumps(log))


def journal_bytes(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A run, finished or not, of which a file of SQLite is damaged."""
    run = corpus.copy(rng.choice((RUN, GOING)), place)
    files = [path for path in run.iterdir() if path.name.startswith(("run.", "mani"))]
    path = rng.choice(sorted(files))
    path.write_bytes(damaged(path.read_bytes(), corpus.other(rng), rng))
    return _use(run, corpus, rng)


def journal_rows(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A run whose rows say something else, with digests that fit."""
    run = corpus.copy(rng.choice((RUN, RUN, GOING)), place)
    with closing(Journal.open(run / "run.sqlite")) as journal:
        for _ in range(rng.randint(1, 3)):
            table = rng.choice([*tables()])
            column = rng.choice(tables()[table].columns)
            rows = journal.query(f"SELECT {column} AS cell FROM {table}")
            if not rows:
                continue
            cell = rng.choice(rows)["cell"]
            change = f"UPDATE {table} SET {column} = ? WHERE {column} IS ?"
            # The format itself refuses some: other types, and keys that are taken.
            try:
                journal.write([(change, (altered_cell(cell, rng), cell))])
            except Exception:
                continue
    forge(run)
    return _use(run, corpus, rng)


def result(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A run whose result says something else, with no digest."""
    run = corpus.copy(RUN, place)
    path = run / "result.json"
    if rng.random() < 0.5:
        path.write_bytes(damaged(path.read_bytes(), corpus.other(rng), rng))
    else:
        stored = altered(json.loads(path.read_bytes()), rng)
        path.write_text(json.dumps(stored))
        begin(run, "result")
    return _use(run, corpus, rng)


def _use(run: Path, corpus: Corpus, rng: Random) -> Reading:
    """Read a run as some command does."""
    uses = _uses(run, corpus, rng)
    (reading,) = rng.choices([each for _, each in uses], [weight for weight, _ in uses])
    return reading


def _uses(run: Path, corpus: Corpus, rng: Random) -> Sequence[tuple[int, Reading]]:
    """How commands read a run, with how often they are tried."""

    def evidence() -> None:
        found = load_evidence(run, corpus.catalogue)
        list(found.trajectories)

    def exported() -> None:
        export(run, rng.choice(FORMATS), StringIO())

    def rendered() -> None:
        report(run, catalogue=corpus.catalogue, out=run.with_name("out"))

    return (
        (4, evidence),
        (4, exported),
        (4, lambda: verify(run)),
        (4, lambda: RunFolder.open(run).read_result()),
        (4, lambda: state("in", run)),
        (4, lambda: summaries(run)),
        (4, lambda: spending(run)),
        (2, lambda: compare(run, corpus.folder / RUN, corpus.catalogue)),
        (1, rendered),
    )


def arrays(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A file of safetensors, by itself."""
    path = place / "in.safetensors"
    data = corpus.read("a.safetensors")
    if rng.random() < 0.5:
        path.write_bytes(damaged(data, corpus.other(rng), rng))
    else:
        size = int.from_bytes(data[:8], "little")
        header = json.dumps(altered(json.loads(data[8 : 8 + size]), rng)).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
    return lambda: read_arrays(path)


def plan(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A plan, by itself."""
    path = place / "in.toml"
    _damage_toml(corpus.read("plan.toml"), path, corpus, rng)

    def read() -> None:
        resolve(read_plan(path), corpus.catalogue, absent=True)

    return read


def contest(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """The list of a contest."""
    _damage_toml(corpus.read(CONTEST), place / CONTEST, corpus, rng)
    return lambda: members(place)


def _damage_toml(data: bytes, path: Path, corpus: Corpus, rng: Random) -> None:
    if rng.random() < 0.5:
        path.write_bytes(damaged(data, corpus.other(rng), rng))
        return
    changed = altered(tomllib.loads(data.decode()), rng)
    # TOML has no null.
    try:
        text = tomli_w.dumps(changed)
    except (TypeError, AttributeError, ValueError):
        text = repr(changed)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")


def study(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """What a study keeps beside its runs."""
    _damage_json(corpus.read(STUDY), place / STUDY, corpus, rng)
    return lambda: read_study(place)


def dataset(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """The list of a published dataset."""
    _damage_json(corpus.read(SUMS), place / SUMS, corpus, rng)
    return lambda: check_dataset(place)


def _damage_json(data: bytes, path: Path, corpus: Corpus, rng: Random) -> None:
    if rng.random() < 0.5:
        path.write_bytes(damaged(data, corpus.other(rng), rng))
    else:
        path.write_text(json.dumps(altered(json.loads(data), rng)))


def inspect(corpus: Corpus, place: Path, rng: Random) -> Reading:
    """A log of Inspect, plain or packed, of gde's own episodes or of others."""
    name = rng.choice(("log.json", "log.eval", "foreign.json"))
    data = corpus.read(name)
    path = place / name
    if name == "log.eval":
        _damage_archive(data, path, corpus, rng)
    else:
        _damage_json(data, path, corpus, rng)
    return _importing(lambda: read_inspect(path), corpus, place, rng)


def _damage_archive(data: bytes, path: Path, corpus: Corpus, rng: Random) -> None:
    path.write_bytes(data)
    if rng.random() < 0.3:
        path.write_bytes(damaged(data, corpus.other(rng), rng))
        return
    with ZipFile(path) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    changed = rng.choice(sorted(texts))
    texts[changed] = json.dumps(altered(json.loads(texts[changed]), rng)).encode()
    is_bomb = rng.random() < 0.02
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for each, content in texts.items():
            with archive.open(each, "w") as file:
                # Piece by piece, so that memory is that of the reader.
                if is_bomb and each == changed:
                    for _ in range(2**7):
                        file.write(b" " * 2**20)
                file.write(content)


def _importing(
    read: Callable[[], Any], corpus: Corpus, place: Path, rng: Random
) -> Reading:
    """Read a log, and now and then make a run of it, which takes much longer."""

    def whole() -> None:
        import_log(read(), place / "out", corpus.catalogue)

    return whole if rng.random() < 0.05 else read


def read_undamaged(corpus: Corpus, place: Path) -> None:
    """Read every real file once, which loads all that reading needs."""
    run = corpus.copy(RUN, place)
    for _, reading in _uses(run, corpus, Random(0)):
        reading()
    resolve(read_plan(run / "plan.toml"), corpus.catalogue)
    members(corpus.folder)
    read_study(corpus.folder)
    if corpus.has_inspect:
        for name in ("log.json", "log.eval", "foreign.json"):
            log = read_inspect(corpus.folder / name)
            import_log(log, place / name, corpus.catalogue)


SUBJECTS: Mapping[str, tuple[float, Subject]] = {
    "journal bytes": (0.1, journal_bytes),
    "journal rows": (0.2, journal_rows),
    "result": (0.15, result),
    "safetensors": (0.15, arrays),
    "plan": (0.15, plan),
    "contest": (0.05, contest),
    "study": (0.1, study),
    "dataset": (0.05, dataset),
    "inspect": (0.05, inspect),
}
"""By name, with their shares of all inputs."""
