"""A process that reads damaged inputs within limits: `python -m fuzzing.worker CORPUS
PLACE SEED FIRST LAST`.

It prints one JSON object a line: what it found, and at the end what it took. An input
that takes too long, or more, ends the process; the number of the input under way stands
in the file `number` in PLACE.
"""

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

SECONDS = 10.0
"""Of computing, for one input."""
PATIENCE = 120.0
"""Seconds in which it must end, also on a busy machine."""
MEMORY = 300 * 2**20
"""Bytes that a process may take beyond those with which it begins."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    "os.remove": 1,
    "os.rmdir": 1,
    "os.truncate": 1,
    "os.mkdir": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
}
"""Changes of files, with the number of their paths."""
NOWHERE = Path(os.devnull)
ACTS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "socket.getaddrinfo",
    "pickle.find_class",
)
"""What no file may make gde do."""


class Outside:
    """Notes what is done outside a folder."""

    def __init__(self, inside: Path) -> None:
        self._inside = inside.resolve()
        self.is_on = False
        self.found: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event in ACTS:
            self.found.append(f"{event} {args!r:.200}")
        elif event == "open":
            path, _, flags = args
            if isinstance(path, str | bytes) and flags & WRITING:
                self._check(event, path, -1)
        elif event in CHANGES:
            # Last come the folders beneath which relative paths lie.
            for path in args[: CHANGES[event]]:
                self._check(event, path, args[-1])

    def _check(self, event: str, path: Any, folder: Any) -> None:
        place = Path(os.fsdecode(path))
        if isinstance(folder, int) and folder >= 0:
            place = Path(f"/proc/self/fd/{folder}").readlink() / place
        place = place.resolve()
        if not place.is_relative_to(self._inside) and place != NOWHERE:
            self.found.append(f"{event} {place}")


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of a folder with their sizes and times of change."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        found[str(path)] = (status.st_size, status.st_mtime_ns)
    return found


class Reader:
    """Reads one input after the other."""

    def __init__(self, corpus: Path, where: Path, seed: str) -> None:
        from fuzzing.subjects import Corpus

        self._place = where / "place"
        self._number = where / "number"
        self._seed = seed
        self._corpus = Corpus(corpus)
        self._outside = Outside(self._place)
        self.inputs, self.refused = Counter[str](), Counter[str]()
        self.longest = 0.0
        tempfile.tempdir = str(self._place)

    def prepare(self) -> None:
        """Load all that reading needs."""
        from fuzzing.subjects import read_undamaged

        self._place.mkdir()
        read_undamaged(self._corpus, self._place)
        shutil.rmtree(self._place)

    def read(self, number: int) -> None:
        """Make and read an input; print what is wrong with that."""
        from fuzzing.subjects import SUBJECTS

        self._number.write_text(str(number))
        rng = Random(f"{self._seed} {number}")
        shares = self._corpus.subjects
        (name,) = rng.choices([*shares], [*shares.values()])
        self._place.mkdir()
        reading = SUBJECTS[name][1](self._corpus, self._place, rng)
        before = contents(self._place / "in")

        fault = self._fault(name, reading)
        if self._outside.found:
            fault = f"outside: {self._outside.found}"
            self._outside.found = []
        if contents(self._place / "in") != before:
            fault = "it changed what it read"
        if fault:
            found = {"number": number, "subject": name, "fault": fault}
            print(json.dumps(found), flush=True)  # noqa: T201
        shutil.rmtree(self._place)

    def _fault(self, name: str, reading: Callable[[], object]) -> str:
        from gde.errors import GdeError

        self.inputs[name] += 1
        began = process_time()
        self._outside.is_on = True
        try:
            reading()
        except GdeError:
            self.refused[name] += 1
        except BaseException:
            return traceback.format_exc()
        finally:
            self._outside.is_on = False
            self.longest = max(self.longest, process_time() - began)
        return ""


def limit_memory() -> None:
    """End the process if it takes much more."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def peak_memory() -> int:
    """The most bytes that the process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(corpus: str, where: str, seed: str, first: str, last: str) -> None:
    warnings.simplefilter("ignore")
    reader = Reader(Path(corpus), Path(where), seed)
    reader.prepare()
    limit_memory()
    began_with = peak_memory()
    for number in range(int(first), int(last)):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        reader.read(number)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    took = {
        "inputs": reader.inputs,
        "refused": reader.refused,
        "longest": reader.longest,
        "began_with": began_with,
        "memory": peak_memory(),
    }
    print(json.dumps(took))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
