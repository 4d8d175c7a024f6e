"""CPU and memory of every stage of a run, by the number of its episodes. Prints one
JSON object.

    python benchmarks/bench_scale.py [EPISODES...]

Without numbers, for 1,000 and 10,000 episodes; `100000` takes some minutes and 1 GB of
disk. A noisy agent walks on 9x9 grids, one episode a world. Every stage has a process
of its own. Its CPU seconds leave out imports; its memory is the most that the process
ever held (peak resident set), imports included, of which "imports" tells the share. The
comparison is with a run of the same worlds, of an agent twice as noisy. "numbers of
many" are the default numbers of a million episodes, from copies of the facts of these.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from sizes import size

EPISODES: tuple[int, ...] = size((1_000, 10_000), (4,))
SIZE = 9
MANY = size(1_000_000, 400)
"""Episodes of which copies are measured."""
METRICS = size(
    ("success", "accuracy", "efficiency", "outcomes", "length"), ("success",)
)
MIB = 1024


def imports(_: Path) -> None:
    """What every stage needs, and nothing else."""
    import gde.runs.adding
    import gde.runs.evaluating
    import gde.runs.exporting  # noqa: F401


def roll_out(run: Path, episodes: int) -> None:
    """The episodes alone."""
    from gde import Choice, Plan
    from gde.before.preparing import prepare
    from gde.runs.pipeline import Pipeline
    from gde.stages.progress import ignore
    from gde.store.folder import RunFolder

    grid = Choice(name="grid", config={"size": SIZE})
    ready = prepare(
        Plan(environment=grid, agent=Choice(name="noisy"), episodes=episodes)
    )
    folder = RunFolder.create(ready.plan, run, ready.how)
    with (
        folder.writing() as journal,
        closing(Pipeline(ready, folder, journal, ignore)) as pipeline,
    ):
        pipeline.roll_out()


def score(run: Path, name: str) -> None:
    """One metric."""
    from gde import Catalogue, load_evidence
    from gde.stages import scoring
    from gde.stages.context import Resources

    with closing(Resources(Catalogue.default())) as resources:
        metric = partial(resources.metric_of, resources.find_metric(name))
        measured, failures = scoring.score([(name, metric)], load_evidence(run), [{}])
    if failures or not measured:
        raise SystemExit(f"{name} measured nothing: {failures}")


def conclude(run: Path) -> None:
    """All default metrics and the page: what `gde eval` does when the episodes are
    there.
    """
    from gde import rescore

    rescore(run)


def conclude_without_facts(run: Path) -> None:
    """The same where no facts of episodes are kept."""
    from gde import rescore
    from gde.store.journal import Journal

    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.write(
            [("DELETE FROM fact_sets", ()), ("DELETE FROM episode_facts", ())]
        )
    rescore(run)


def compare_with_another(run: Path) -> None:
    """Two runs in the same worlds."""
    from gde.comparisons.comparing import compare

    if not compare(run, run.with_name("other")).rows:
        raise SystemExit("nothing was compared")


def other(run: Path, episodes: int) -> None:
    """A run to compare with."""
    from gde import Choice, Plan, evaluate

    grid = Choice(name="grid", config={"size": SIZE})
    agent = Choice(name="noisy", config={"p": 0.2})
    evaluate(
        Plan(environment=grid, agent=agent, episodes=episodes), run.with_name("other")
    )


def numbers_of_many(run: Path) -> None:
    """The default numbers of a million episodes."""
    import numpy as np

    from gde import load_evidence
    from gde.data.episode_table import EpisodeTable
    from gde.numerics.episode_metric import EpisodeMetric
    from gde.offers import MetricOffer
    from gde.request.catalogue import Catalogue
    from gde.request.resolve import resolve
    from gde.stages.context import Resources
    from gde.stages.evidence import Recorded
    from gde.stages.facts import know_facts
    from gde.store.folder import RunFolder

    folder = RunFolder.open(run)
    ready = resolve(folder.plan(), Catalogue.default())
    resources = Resources(ready)
    metrics = [
        (chosen.label, partial(resources.metric_of, chosen))
        for chosen in ready.metrics
        if isinstance(chosen.entry.offer, MetricOffer) and chosen.entry.offer.facts
    ]
    evidence = load_evidence(run)
    with closing(folder.journal()) as journal:
        know_facts(evidence, metrics, journal, keep=False)
    episodes = evidence.trajectories
    if not isinstance(episodes, Recorded):
        raise SystemExit("wanted a recorded run")
    for metric, table in episodes.tables.items():
        if not isinstance(metric, EpisodeMetric):
            raise SystemExit("wanted facts of metrics")
        times = MANY // len(table)
        apart = np.repeat(np.arange(times), len(table)) * len(table)
        many = EpisodeTable(
            conditions=np.tile(table.conditions, times),
            worlds=np.tile(table.worlds, times) + apart,
            clusters=np.tile(table.clusters, times) + apart,
            endings=np.tile(table.endings, times),
            facts={name: np.tile(one, times) for name, one in table.facts.items()},
            faults=np.tile(table.faults, times),
        )
        for number in metric.numbers:
            number.measured(many, evidence.seed)


def report(run: Path) -> None:
    """The page again."""
    from gde import report

    report(run)


def export(run: Path, form: str) -> None:
    """To a file."""
    from gde.runs.exporting import FORMATS, export

    with (run / form).open("w") as file:
        export(run, next(each for each in FORMATS if each == form), file)


def view(run: Path) -> None:
    """The list that `gde view` prints."""
    from contextlib import redirect_stdout

    from gde_plugins.viewer.command import command

    with redirect_stdout(StringIO()):
        command(run)


def stages(episodes: int) -> Mapping[str, Callable[[Path], None]]:
    """By name, in their order."""
    return {
        "imports": imports,
        "rollout": partial(roll_out, episodes=episodes),
        **{f"score.{name}": partial(score, name=name) for name in METRICS},
        "conclude": conclude,
        "conclude without facts": conclude_without_facts,
        "another run": partial(other, episodes=episodes),
        "compare with another": compare_with_another,
        "numbers of many": numbers_of_many,
        "report": report,
        **{f"export.{form}": partial(export, form=form) for form in ("jsonl", "csv")},
        "view": view,
    }


def measured(stage: Callable[[Path], None], run: Path) -> dict[str, float]:
    """CPU seconds and peak memory in MiB of a stage, here and now."""
    imports(run)
    began, started = time.process_time(), time.perf_counter()
    stage(run)
    cpu, wall = time.process_time() - began, time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB
    return {"cpu_s": round(cpu, 2), "wall_s": round(wall, 2), "peak_mib": round(peak)}


def bench(episodes: int) -> dict[str, object]:
    """Every stage of one run, each in a fresh process."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        figures: dict[str, object] = {}
        for name in stages(episodes):
            command = [
                sys.executable,
                __file__,
                "--stage",
                name,
                str(episodes),
                str(run),
            ]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True
            )
            figures[name] = json.loads(done.stdout.splitlines()[-1])
        return figures


def main() -> None:
    """All sizes that are asked for, or one stage of one run."""
    if sys.argv[1:2] == ["--stage"]:
        name, episodes, run = sys.argv[2:]
        figures: Mapping[str, object] = measured(stages(int(episodes))[name], Path(run))
    else:
        figures = {
            str(episodes): bench(episodes)
            for episodes in map(int, sys.argv[1:] or EPISODES)
        }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
