"""The runs of a comparison: what both measure, and the facts of their episodes."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gde.comparisons.differences import Side
from gde.comparisons.probes import ProbedRun
from gde.data.episode_table import Head, heads_of
from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.by_world import Quantity, measured
from gde.parts.metric import Declared
from gde.request.catalogue import Catalogue
from gde.request.ready import Chosen, Ready, reads_turns_alone, untrusted
from gde.request.resolve import resolve
from gde.request.versions import made_by
from gde.runs.conclusion import as_offered, subject
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence
from gde.stages.facts import know_facts
from gde.stages.model_use import models_used
from gde.store.folder import RunFolder


class Opened(NamedTuple):
    """A run whose parts are known."""

    folder: RunFolder
    ready: Ready
    side: Side
    unfinished: str
    """What is still to be run; empty if the run is finished."""

    @classmethod
    def of(cls, run: Path, catalogue: Catalogue) -> "Opened":
        """Open a run folder."""
        folder = RunFolder.open(run)
        with closing(folder.journal()) as journal:
            plan = folder.plan()
            noted = folder.noted_how(journal)
            ready = resolve(plan, catalogue, absent=True)
            side = Side(
                run=str(run),
                subject=subject(ready, journal),
                models=models_used(journal, plan, noted.prices),
                verdicts=_verdicts(folder),
            )
            return cls(folder, ready, side, journal.unfinished())


def _verdicts(folder: RunFolder) -> tuple[Measurement, ...]:
    if not folder.is_finished:
        return ()
    result = folder.read_result()
    return tuple(
        one for one in result.measurements if result.meanings[one.name].sentence
    )


class Shared(NamedTuple):
    """The metrics of two runs, as the first configures them."""

    chosen: Mapping[str, tuple[Chosen, Declared]]
    """By label."""
    meanings: Measures
    notes: Sequence[str]
    """What a reader must know of them."""

    @classmethod
    def of(cls, a: Opened, b: Opened) -> "Shared":
        """The metrics of both plans.

        Raises:
            GdeError: there are none.
        """
        others = {chosen.label: chosen.config for chosen in b.ready.metrics}
        foreign = [each.side.run for each in (a, b) if not each.folder.is_trusted]
        resources = Resources(untrusted(a.ready) if foreign else a.ready)
        shared: dict[str, tuple[Chosen, Declared]] = {}
        declared: list[Measure] = []
        notes: list[str] = []
        for chosen in as_offered(a.ready.metrics):
            name = chosen.label
            offer = chosen.entry.offer
            if name not in others:
                continue

            lacking = chosen.absent
            if foreign and not reads_turns_alone(chosen):
                lacking = f"you do not trust {foreign[0]} (`gde trust {foreign[0]}`)"
            if not lacking and offer.missing():
                lacking = "its packages are not installed"
            if lacking:
                notes.append(f"metric {name!r} is left out: {lacking}")
                continue

            if chosen.config != others[name]:
                configured = (
                    f"metric {name!r} is configured differently in {b.side.run}"
                )
                notes.append(f"{configured}: both are measured as in {a.side.run}")
            shared[name] = chosen, resources.metric_of(chosen)
            declared += chosen.entry.metric.measures

        if not shared:
            advice = "run `gde rescore` on one with the metric of the other"
            raise GdeError(f"{a.side.run} and {b.side.run} share no metric: {advice}")
        return cls(shared, Measures(tuple(declared)), notes)


class Episodes(NamedTuple):
    """The episodes of a run, with their facts."""

    opened: Opened
    evidence: Evidence
    heads: Sequence[Head]
    notes: Sequence[str]
    """Whose facts fail, and where."""

    @classmethod
    def of(cls, opened: Opened, shared: Shared, catalogue: Catalogue) -> "Episodes":
        """The episodes of a run.

        Facts that the run does not keep are asked for, and kept nowhere.
        """
        run = opened.side.run
        evidence = load_evidence(run, catalogue)
        asked = []
        for name, (chosen, metric) in shared.chosen.items():
            maker = made_by(opened.ready.environment, chosen)
            asked.append((name, partial(replace, metric, made_by=maker)))
        with closing(opened.folder.journal()) as journal:
            failures = know_facts(evidence, asked, journal, keep=False)
        notes = [f"{run}: metric {one.subject!r} {one.reason}" for one in failures]
        return cls(opened, evidence, heads_of(evidence.trajectories), notes)

    @property
    def worlds(self) -> set[str]:
        """Their worlds."""
        return {head.world for head in self.heads}

    @property
    def tasks(self) -> set[str]:
        """Clusters of their worlds: some numbers, e.g. of a success and a failure, belong
        to a task.
        """
        return {head.cluster for head in self.heads}

    def measured(
        self, shared: Shared, worlds: Collection[str], tasks: Collection[str]
    ) -> dict[Quantity, dict[str, float]]:
        """The numbers of each world, or of each task where contenders are compared."""
        of_worlds = [
            head.world if head.world in worlds else None for head in self.heads
        ]
        metrics = {name: metric for name, (_, metric) in shared.chosen.items()}
        found = measured(list(metrics.items()), self.evidence, of_worlds)
        contending = [
            (name, metric)
            for name, metric in metrics.items()
            if any(each.contender for each in metric.measures.known)
        ]
        places = [
            head.cluster if head.cluster in tasks else None for head in self.heads
        ]
        of_tasks = measured(contending, self.evidence, places)
        for quantity in [*found, *of_tasks]:
            if shared.meanings[quantity.name].contender:
                found[quantity] = of_tasks.get(quantity, {})
        return found

    def probed(self, worlds: Collection[str]) -> ProbedRun | None:
        """The probes of the run in these worlds; None before it has a result."""
        folder = self.opened.folder
        if not folder.is_finished:
            return None
        return ProbedRun(
            result=folder.read_result(),
            reports=self.evidence.probe_reports,
            episodes={
                head.episode: head for head in self.heads if head.world in worlds
            },
        )
