"""Turns are asked again under interventions where the executor works, and the numbers are
the same everywhere.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from planted_parts import Walker

from gde import Choice, How, Plan, evaluate, resume
from gde.data.completion import ChatRequest, Completion
from gde.data.result import Measurement, Result
from gde.errors import RunFailed
from gde.request.catalogue import Catalogue
from gde.runs.pipeline import Pipeline
from gde.stages import asking_elsewhere
from gde.stages.asking_elsewhere import AskElsewhere
from gde.store.folder import RunFolder
from gde.store.journal import Journal

HERE = Path(__file__).parent
ELSEWHERE = How(executor="processes")
COMPLETE = Walker.complete


def plan() -> Plan:
    probed = {"size": 5, "variants": ["bilinear"], "layer": [1], "positions": ["pre"]}
    causes = {"things": ["agent", "goal"], "cases": 3, "doses": [1.0]}
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": "walker"}),
        probes=(Choice(name="cogmap", config=probed),),
        metrics=(Choice(name="causes", config=causes),),
        episodes=10,
        initialisations=1,
        learning=False,
    )


@pytest.fixture(scope="module")
def here(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return evaluate(plan(), tmp_path_factory.mktemp("here") / "run", catalogue)


@pytest.fixture(autouse=True)
def planted_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    path = [str(HERE), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))


async def refused(*_given: Any) -> Any:
    raise AssertionError("asked in this process")


def of_causes(result: Result) -> list[Measurement]:
    return [each for each in result.measurements if each.source == "causes"]


def test_workers_answer_as_one_process_does(
    here: Result,
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Walker, "complete", refused)
    there = evaluate(plan(), tmp_path / "there", catalogue, how=ELSEWHERE)
    assert there.status == "ok", there.failures
    assert there.measurements == here.measurements
    moved = [each.value for each in of_causes(there) if each.name == "causes.moved"]
    assert any(moved)


def test_what_a_stopped_run_was_answered_is_not_asked_again(
    here: Result,
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking_elsewhere, "REQUESTS", 2)
    spread = Pipeline.spread

    def stopping(run: Pipeline, executor: Any, job: Any, *given: Any) -> Iterator[Any]:
        for n, output in enumerate(spread(run, executor, job, *given)):
            yield output
            if isinstance(job, AskElsewhere) and n == 2:
                raise RunFailed("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "spread", stopping)
        stopped = evaluate(plan(), tmp_path / "run", catalogue, how=ELSEWHERE)
    assert [each.reason for each in stopped.failures] == ["stopped"]
    n_known = len(answers(tmp_path / "run"))
    assert n_known >= 4

    n_asked = []

    async def counting(self: Walker, request: ChatRequest) -> Completion:
        n_asked.append(1)
        return await COMPLETE(self, request)

    monkeypatch.setattr(Walker, "complete", counting)
    found = resume(tmp_path / "run", catalogue, how=How())
    assert found.measurements == here.measurements
    assert len(n_asked) == len(answers(tmp_path / "run")) - n_known


def answers(run: Path) -> Mapping[str, Completion]:
    """The answers to the metric."""
    with closing(
        Journal.open(RunFolder.open(run).journal_path, write=False)
    ) as journal:
        return journal.calls("metric causes")
