"""A run may have more episodes than fit into memory: whoever goes through them keeps
numbers, not episodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload
from weakref import ref

import pytest

from gde import (
    Catalogue,
    Choice,
    Evidence,
    Measurement,
    Plan,
    Trajectory,
    load_evidence,
    rescore,
)
from gde.runs.evaluating import evaluate
from gde.runs.exporting import export, summaries
from gde.stages import evidence as stage
from gde.stages.context import Resources
from gde.store.folder import RunFolder
from gde_plugins.pages.run_page import page

EPISODES = 40
HELD = 8
"""Episodes that may be in memory at once: the one in hand, a few examples for a page,
and what awaits its release.
"""
WORLDS = {
    "plain": Choice(name="grid", config={"size": 5}),
    "fog": Choice(name="grid", config={"size": 5, "view_radius": 1}),
    "perturbed": Choice(
        name="grid",
        config={"size": 7, "perturbation": "put_back", "perturbation_turn": 1},
    ),
    "keys": Choice(name="key-no-door", config={"artefact": ["none", "key"]}),
}


class Fleeting(Sequence[Trajectory]):
    """Gives new objects whenever it is iterated over, and knows how many of them were
    alive at once.
    """

    def __init__(self, kept: Sequence[Trajectory]) -> None:
        self._kept = kept
        self._alive: list[ref[Trajectory]] = []
        self.most = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Trajectory]:
        for one in self._kept:
            yield self._made(one)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...

    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        return self._kept[index]

    def _made(self, one: Trajectory) -> Trajectory:
        made = replace(one)
        self._alive = [other for other in self._alive if other() is not None] + [
            ref(made)
        ]
        self.most = max(self.most, len(self._alive))
        return made


@pytest.fixture(scope="module", params=WORLDS)
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("memory") / "run"
    noisy = Choice(name="noisy", config={"p": 0.3})
    evaluate(
        Plan(
            environment=WORLDS[request.param],
            agent=noisy,
            episodes=EPISODES // 2,
            repeats=2,
        ),
        folder,
    )
    return folder


@pytest.fixture
def fleeting(run: Path) -> Fleeting:
    return Fleeting(tuple(load_evidence(run).trajectories))


def default_metrics(run: Path) -> list[str]:
    return [choice.name for choice in RunFolder.open(run).plan().metrics]


def measured(
    name: str, evidence: Evidence, catalogue: Catalogue
) -> Sequence[Measurement]:
    resources = Resources(catalogue)
    return resources.metric_of(resources.find_metric(name))(evidence)


def test_default_metrics_keep_no_episodes(
    run: Path, fleeting: Fleeting, catalogue: Catalogue
) -> None:
    recorded = load_evidence(run)
    for name in default_metrics(run):
        found = measured(name, replace(recorded, trajectories=fleeting), catalogue)
        assert list(found) == list(measured(name, recorded, catalogue))
        assert 0 < fleeting.most <= HELD, name


def test_the_page_keeps_its_examples(run: Path, fleeting: Fleeting) -> None:
    folder, evidence = (
        RunFolder.open(run),
        replace(load_evidence(run), trajectories=fleeting),
    )
    assert page(folder.plan(), folder.read_result(), evidence)
    assert 0 < fleeting.most <= HELD


def test_numbers_do_not_depend_on_whether_episodes_are_kept(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = rescore(run)
    monkeypatch.setattr(stage, "KEPT", 0)
    read = rescore(run)
    assert read.measurements == kept.measurements
    assert read.failures == kept.failures


def test_episodes_are_listed_as_they_are_exported(run: Path, tmp_path: Path) -> None:
    with (tmp_path / "lines").open("w") as file:
        n = export(run, "jsonl", file)
    listed, recorded = summaries(run), load_evidence(run).trajectories
    assert len(listed) == n == len(recorded)
    for summary, one in zip(listed, recorded, strict=True):
        told = {
            "episode": str(one.key),
            "world": one.world.id,
            "turns": len(one.turns),
            "ending": one.ending,
        }
        assert summary == {**told, **one.labels}
