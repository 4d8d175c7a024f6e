"""The contenders of several runs, such as their reward models, on one leaderboard."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gde.data.episode_table import heads_of
from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.reward import NOT_ISOLATED, READS_AHEAD, READS_TRUTH
from gde.numerics.leaderboard import Scores, Standing, leaderboard, task_scores
from gde.offers import Capability
from gde.parts.metric import Metric
from gde.request.catalogue import Catalogue
from gde.request.ready import Chosen, Ready
from gde.stages.context import Resources
from gde.stages.evidence import load_evidence, parts_of
from gde.store.folder import RunFolder

NOTES = {
    NOT_ISOLATED: "not isolated",
    READS_TRUTH: "reads the truth",
    READS_AHEAD: "not causal",
}
"""What a leaderboard says of contenders, by the event that their traces count."""


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """The standings of all contenders by one number."""

    measure: str
    title: str
    unit: str
    standings: tuple[Standing, ...]
    """By condition, then over all; the best first."""
    notes: Mapping[str, str]
    """What a reader must know of a contender, e.g. that it reads the truth."""


def rank_contenders(runs: Sequence[Path]) -> tuple[Leaderboard, ...]:
    """A leaderboard for every headline that has contenders.

    A contender of several runs is named RUN/NAME. Numbers are compared at tasks that
    both contenders have.

    Raises:
        GdeError: a folder is no run.
    """
    catalogue = Catalogue.default()
    readies = [parts_of(RunFolder.open(run), catalogue) for run in runs]
    evidences = [load_evidence(run, catalogue) for run in runs]
    labels = [one.label for ready in readies for one in ready.rewards]

    boards = []
    for measure, chosen in _measures(readies[0]):
        scores: Scores = {}
        baselines: set[str] = set()
        notes: dict[str, str] = {}
        for run, ready, evidence in zip(runs, readies, evidences, strict=True):
            metric = Resources(ready).metric_of(chosen)
            found = _scores(ready, evidence, metric, measure)
            # Two runs may give one name to two contenders.
            names = {
                label: f"{run.name}/{label}" if labels.count(label) > 1 else label
                for label in found
            }
            for label, by_condition in found.items():
                scores[names[label]] = by_condition
            for label in _baselines(ready) & names.keys():
                baselines.add(names[label])
            for label, note in _notes(evidence).items():
                if label in names:
                    notes[names[label]] = note
        if scores:
            board = Leaderboard(
                measure=measure.name,
                title=measure.title,
                unit=measure.unit,
                standings=leaderboard(scores, baselines, measure),
                notes=notes,
            )
            boards.append(board)
    return tuple(boards)


def _measures(ready: Ready) -> Iterator[tuple[Measure, Chosen]]:
    """The headlines of a run that have contenders, each with its metric."""
    for chosen in ready.metrics:
        for measure in chosen.entry.metric.measures:
            if measure.contender and measure.headline:
                yield measure, chosen


def _scores(
    ready: Ready, evidence: Evidence, metric: Metric, measure: Measure
) -> Scores:
    names = []
    for condition in ready.conditions:
        values = [str(value) for value in condition.labels.values()]
        names.append(", ".join(values))
    of_episodes = [names[head.condition] for head in heads_of(evidence.trajectories)]
    return task_scores(evidence, metric, measure, of_episodes)


def _baselines(ready: Ready) -> Collection[str]:
    """The reward models that declare that they read nothing."""
    return {
        one.label
        for one in ready.rewards
        if Capability.BASELINE in one.entry.offer.gives
    }


def _notes(evidence: Evidence) -> dict[str, str]:
    """What a reader must know of reward models, by label."""
    notes: dict[str, dict[str, None]] = {}
    for trace in evidence.reward_traces:
        for event, note in NOTES.items():
            if trace.counts.get(event):
                notes.setdefault(trace.model, {})[note] = None
    return {label: ", ".join(own) for label, own in notes.items()}
