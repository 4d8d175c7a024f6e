"""How often changes of a course are called falsely, and how often true ones are found.

`python tests/plugins/probes/course/simulated_changes.py NETWORKS RUNS` plays the first turns of 100
grid worlds with nano. One random network after the other takes the place of the model, beside
19 of the others: every change that is called is false. Then activations are planted, beside 19
random networks: nothing changes, or the same is said in another basis, or the map decays, or
the action rises, or both. It prints the shares of runs in which each change is called.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gde.data.plan import Choice, Plan
from gde.numerics.controls import MANY
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.evaluating import evaluate
from gde.seeding import generator
from gde.stages.context import Resources
from gde.stages.evidence import Recorded
from gde.store.folder import RunFolder
from gde_plugins.probes.arrays import Floats, Indices
from gde_plugins.probes.course.changes import Course, Read, reorganises
from gde_plugins.probes.course.config import (
    ACTION_RISES,
    MAP_FALLS,
    Change,
    CourseStudyConfig,
)
from gde_plugins.probes.course.reading import AGENT, GOAL, Truth, read, splits_of
from gde_plugins.probes.course.sources import (
    FOREIGN,
    MODEL,
    TEXT,
    ByEvent,
    foreign,
    own,
    said,
)
from gde_plugins.probes.course.turns import CourseTurn, first_turns

LAYER = 3
SPLITS = 15
WIDTH = 128
ENDS = ("before", "after")
STATED = [Change.of(text) for text in (MAP_FALLS, ACTION_RISES)]
BOTH = "reorganises"
PLACES, MOVES = 1.0, 0.5
"""Strength of planted places, and of the move, in units of the noise."""
COURSES = ("nothing", "rotates", "map decays", "action rises", "both")
TRUE: Mapping[str, frozenset[str]] = {
    "nothing": frozenset(),
    "rotates": frozenset(),
    "map decays": frozenset({MAP_FALLS}),
    "action rises": frozenset({ACTION_RISES}),
    "both": frozenset({MAP_FALLS, ACTION_RISES, BOTH}),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Played:
    """The first turns of many worlds."""

    model: Any
    turns: Sequence[CourseTurn]
    truth: Truth
    splits: Sequence[tuple[Indices, Indices]]

    def read(self, inputs: ByEvent) -> Read:
        """What is read before and after the reasoning."""
        return read({event: inputs[event] for event in ENDS}, self.truth, self.splits)

    def course(self, model: Read, foreign: Read, random: Sequence[Read]) -> Course:
        """A course with this model among its controls."""
        train, test = self.splits[0]
        of_text = self.read(said(self.turns))
        return Course(
            read={MODEL: model, TEXT: of_text, FOREIGN: foreign},
            random=random,
            n_train=len(train),
            n_test=len(test),
        )


def played(folder: Path, worlds: int) -> Played:
    """Play first turns with nano."""
    grids = Choice(name="grid", config={"size": 7, "density": 0.5, "horizon": 1})
    plan = Plan(
        environment=grids, agent=Choice(name="gpt-oss"), metrics=(), episodes=worlds
    )
    evaluate(plan, folder)
    run = RunFolder.open(folder)
    ready = resolve(run.plan(), Catalogue.default())
    model = Resources(ready).models.white_box(ready.agent_model)
    patterns = CourseStudyConfig().patterns
    turns = [*first_turns(Recorded(run.journal_path), patterns, model)]
    rng = generator(0, "simulated")
    return Played(
        model=model,
        turns=turns,
        truth=Truth.of(turns, rng),
        splits=splits_of(len(turns), SPLITS, rng),
    )


def random_reads(worlds: Played, number: int) -> list[tuple[Read, Read]]:
    """Of each random network what is read of its turns, and after foreign prompts."""
    reads = []
    for seed in range(number):
        network = worlds.model.untrained(seed)
        rng = generator(0, "foreign")
        ours = worlds.read(own(network, worlds.turns, LAYER))
        theirs = worlds.read(foreign(network, worlds.turns, LAYER, rng))
        reads.append((ours, theirs))
        network.close()
    return reads


def planted(worlds: Played, course: str, seed: int) -> ByEvent:
    """(N, WIDTH) activations before and after the reasoning."""
    truth = worlds.truth
    rng = np.random.default_rng(seed)
    rows, columns = np.divmod(np.arange(truth.cells.shape[1]), truth.side)
    one_hot = np.eye(truth.side)
    places = []
    for thing in (AGENT, GOAL):
        cell = (truth.cells == thing).argmax(axis=1)
        places += [one_hot[rows[cell]], one_hot[columns[cell]]]
    of_places = np.concatenate(places, axis=1)
    of_moves = np.eye(truth.optimal.shape[1])[truth.action]

    def basis() -> tuple[Floats, Floats]:
        return (
            rng.normal(size=(of_places.shape[1], WIDTH)),
            rng.normal(size=(of_moves.shape[1], WIDTH)),
        )

    first = basis()
    second = basis() if course == "rotates" else first
    decays = course in ("map decays", "both")
    rises = course in ("action rises", "both")
    strengths = {
        "before": (PLACES, MOVES),
        "after": (PLACES / 4 if decays else PLACES, 4 * MOVES if rises else MOVES),
    }
    found = {}
    for event, (by_place, by_move) in zip(ENDS, (first, second), strict=True):
        strong, weak = strengths[event]
        # Each of several directions adds to the length of what is planted.
        signal = strong * of_places @ by_place + weak * of_moves @ by_move
        noise = 4 * rng.normal(size=signal.shape)
        found[event] = (signal + noise).astype(np.float32)
    return found


def called(course: Course) -> set[str]:
    """The changes that are called."""
    judged = course.judged(STATED)
    found = {one.change.text for one in judged if one.holds}
    return found | {BOTH} if reorganises(judged) else found


def false_changes(
    worlds: Played, reads: Sequence[tuple[Read, Read]]
) -> dict[str, float]:
    """The share of random networks of which each change is called."""
    counts = dict.fromkeys((MAP_FALLS, ACTION_RISES, BOTH), 0)
    for i, (ours, theirs) in enumerate(reads):
        others = [other for other, _ in reads[:i] + reads[i + 1 :]]
        chosen = generator(i, "others").permutation(len(others))[:MANY]
        course = worlds.course(ours, theirs, [others[j] for j in chosen])
        for change in called(course):
            counts[change] += 1
    return {change: count / len(reads) for change, count in counts.items()}


def planted_changes(
    worlds: Played, course: str, random: Sequence[Read], runs: int
) -> dict[str, float]:
    """The share of planted runs in which each change is called."""
    counts = dict.fromkeys((MAP_FALLS, ACTION_RISES, BOTH), 0)
    # Nothing is planted after foreign prompts.
    nothing = np.zeros((len(worlds.turns), 1), dtype=np.float32)
    theirs = worlds.read(dict.fromkeys(ENDS, nothing))
    for seed in range(runs):
        ours = worlds.read(planted(worlds, course, seed))
        for change in called(worlds.course(ours, theirs, random)):
            counts[change] += 1
    return {change: count / runs for change, count in counts.items()}


def main(networks: int, runs: int) -> None:
    """Print all shares."""
    with TemporaryDirectory() as folder:
        worlds = played(Path(folder) / "run", 100)
    reads = random_reads(worlds, networks)
    shares = false_changes(worlds, reads)
    sys.stdout.write(f"{networks} random networks: {shares}\n")
    random = [ours for ours, _ in reads[:MANY]]
    for course in COURSES:
        shares = planted_changes(worlds, course, random, runs)
        sys.stdout.write(f"{course}, {runs} runs: {shares}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
