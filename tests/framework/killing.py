"""Runs that are killed from outside at a chosen moment of a chosen stage.

They are children of a server that has imported everything, so that a kill costs the run
and little else. A run tells when a stage begins; whoever started it kills it so many
seconds later.
"""

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from processes import started_by

from gde import GdeError, How, Plan, evaluate, resume
from gde.cli.main import main
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.howfile import how_of, how_tables
from gde.request.planfile import plan_of, plan_tables
from gde.stages.progress import Progress
from gde.validating import marked

MODULES = ("gde.testing.plugin", "odd_parts", "asking_parts")
CATALOGUE = Catalogue(load_plugins(modules=MODULES))
STAGES = (
    "making",
    "rollout",
    "capture",
    "probing",
    "rewarding",
    "scoring",
    "reporting",
)
SERVER = get_context("forkserver")
# A kill is to hit the work, not its imports.
SERVER.set_forkserver_preload(["__main__", "killing", "killed_works"])


def stage_of(progress: Progress) -> str:
    """The stage that begins; empty where one goes on."""
    first, last = progress.done == 0, progress.done == progress.total
    match progress.stage:
        case "episodes" if not progress.detail:
            return "rollout"
        case "activations" if first:
            return "capture"
        case "probes" if first or last:
            return "rewarding" if last else "probing"
        case "metrics" if first or last:
            return "reporting" if last else "scoring"
    return ""


@dataclass
class Run:
    """A run in a process of its own: begun, or gone on with where there is one."""

    plan: Plan
    out: Path
    how: How
    began: dict[str, float] = field(default_factory=dict)
    """When the stages did that have begun."""
    refusal: str = ""

    def __post_init__(self) -> None:
        self._said, there = SERVER.Pipe(duplex=False)
        self.process = SERVER.Process(
            target=_go,
            args=(plan_tables(self.plan), how_tables(self.how), self.out, there),
        )
        self.process.start()
        there.close()

    def reach(self, stage: str) -> None:
        """Wait until the stage begins, or the run ends."""
        while stage not in self.began and self._hear():
            pass

    def kill(self) -> bool:
        """Whether it came in time."""
        self.process.kill()
        return self.end() == -signal.SIGKILL

    def end(self) -> int:
        """Wait for the end; the exit code."""
        while self._hear():
            pass
        self.process.join()
        assert self.process.exitcode is not None
        return self.process.exitcode

    def workers(self) -> list[int]:
        """The processes that it has started, and those that they have."""
        assert self.process.pid is not None
        return [*started_by(self.process.pid)]

    def _hear(self) -> bool:
        try:
            word, at = self._said.recv()
        except (EOFError, OSError):
            return False
        if word in STAGES:
            self.began.setdefault(word, at)
        else:
            self.refusal = word
        return True


def _go(
    tables: dict[str, Any], how: dict[str, Any], out: Path, ear: Connection
) -> None:
    def tell(word: str) -> None:
        ear.send((word, time.perf_counter()))

    def watch(progress: Progress) -> None:
        if stage := stage_of(progress):
            tell(stage)

    tell("making")
    try:
        if (out / "plan.toml").is_file():
            resume(out, CATALOGUE, watch)
        else:
            plan = plan_of(marked(tables), "")
            evaluate(plan, out, CATALOGUE, watch, how=how_of(marked(how), "here"))
    except GdeError as error:
        tell(str(error))
        raise SystemExit(error.exit_code) from None


def durations(plan: Plan, out: Path, how: How) -> dict[str, float]:
    """Seconds of every stage of an undisturbed run."""
    run = Run(plan, out, how)
    assert run.end() == 0, run.refusal
    _, *others = run.began.values()
    ends = [*others, time.perf_counter()]
    return {
        stage: end - start
        for (stage, start), end in zip(run.began.items(), ends, strict=True)
    }


def command(arguments: tuple[str, ...], output: Path) -> None:
    """Be the command `gde`, with a file for all of its output."""
    written = os.open(output, os.O_CREAT | os.O_WRONLY)
    os.dup2(written, 1)
    os.dup2(written, 2)
    sys.argv = ["gde", *arguments]
    main()
