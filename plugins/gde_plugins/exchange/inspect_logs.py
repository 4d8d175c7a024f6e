"""Logs of Inspect as runs of gde, and runs of gde as logs of Inspect."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gde.data.result import Result
from gde.data.trajectory import Trajectory
from gde.errors import ConfigError, GdeError, needing
from gde.runs.plain import trajectory_json
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder
from gde_plugins.exchange.foreign_files import (
    check_archive,
    check_size,
    number,
    what_is_wrong,
)
from gde_plugins.exchange.importing import Log, Sample

WANTED = "a log of Inspect, .eval or .json"
ARCHIVE = ".eval"
ENDINGS = (ARCHIVE, ".json")
HEADERS = ("header.json", "_journal/start.json")
"""Names in the archive of a finished log, and of one that is still written."""
RECORD = "gde"
"""The key in the metadata of a sample, under which its trajectory is."""
GRADES: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect and no answer, as Inspect writes them."""


def read_inspect(path: Path) -> Log:
    """A log as Inspect writes it, `.eval` or `.json`.

    Raises:
        MissingExtra: Inspect is not installed.
        GdeError: it is no log.
    """
    with needing("a log of Inspect", "inspect-ai", "inspect"):
        from inspect_ai.log import read_eval_log
    check_size(path)
    if path.suffix == ARCHIVE:
        check_archive(path, WANTED, HEADERS)
    try:
        log = read_eval_log(str(path))
    # On a damaged file, the packages below raise anything at all.
    except Exception as error:
        raise GdeError(f"{path}: wanted {WANTED}; {what_is_wrong(error)}") from error
    samples = log.samples or ()
    for sample in samples:
        if sample.epoch < 1:
            raise GdeError(
                f"{path}: wanted epochs from 1, got {sample.epoch} of sample {sample.id}"
            )
    return Log(
        task=log.eval.task, model=log.eval.model, samples=tuple(map(_sample, samples))
    )


def _sample(sample: Any) -> Sample:
    asked = sample.input
    if not isinstance(asked, str):
        asked = "\n\n".join(message.text for message in asked)
    scores: dict[str, float] = {}
    for name, score in (sample.scores or {}).items():
        scores.update(_numbers(name, score.value))
    failure = "" if scores else "it was not scored"
    if sample.error and sample.error.message:
        failure = sample.error.message
    return Sample(
        id=str(sample.id),
        epoch=sample.epoch - 1,
        asked=asked,
        answer=sample.output.completion
        if sample.output and sample.output.choices
        else "",
        scores=scores,
        failure=failure,
    )


def _numbers(name: str, value: Any) -> dict[str, float]:
    """A score as numbers by name.

    A score is a grade, a number or several by name. Other texts, lists and NaN are left
    out.
    """
    several = {name: value}
    if isinstance(value, dict):
        several = {f"{name}.{each}": one for each, one in value.items()}
    found = {}
    for each, one in several.items():
        score = number(GRADES.get(one) if isinstance(one, str) else one)
        if score is not None:
            found[each] = score
    return found


def write_inspect(run: Path, out: Path) -> int:
    """Write a run as a log of Inspect. Gives the number of samples.

    Its samples are the episodes: the messages of the last conversation, every turn's
    call as an event, the score `success`, and the whole trajectory in the metadata. The
    run's numbers without a breakdown are the log's metrics.

    Raises:
        MissingExtra: Inspect is not installed.
        GdeError: there is no finished run, or Inspect writes no such file.
    """
    if out.suffix not in ENDINGS:
        raise ConfigError(
            f"--out {out.name}: wanted a name that ends in {' or '.join(ENDINGS)}"
        )
    with needing("--format inspect", "inspect-ai", "inspect"):
        from inspect_ai.log import (
            EvalConfig,
            EvalDataset,
            EvalLog,
            EvalResults,
            EvalSpec,
            EvalStats,
            write_eval_log,
        )
    folder = RunFolder.open(run)
    result = folder.read_result()
    now = datetime.now(UTC).isoformat()
    samples = [_eval_sample(each) for each in load_evidence(run).trajectories]
    subject = result.subject
    spec = EvalSpec(
        created=now,
        task=f"gde/{subject.environment}",
        dataset=EvalDataset(name=subject.environment, samples=len(samples)),
        model=subject.model or f"gde/{subject.agent}",
        config=EvalConfig(),
        metadata={
            "run": result.run,
            "plan_hash": result.plan_hash,
        },
    )
    results = EvalResults(
        total_samples=len(samples),
        completed_samples=len(samples),
        scores=[_eval_score(result)],
    )
    stats = EvalStats(started_at=now, completed_at=now, model_usage=_usage(result))
    log = EvalLog(
        status="success", eval=spec, results=results, stats=stats, samples=samples
    )
    write_eval_log(log, str(out))
    return len(samples)


def _usage(result: Result) -> dict[str, Any]:
    """The known tokens of each model."""
    from inspect_ai.model import ModelUsage

    found: dict[str, ModelUsage] = {}
    for one in result.models:
        usage = one.usage
        tokens = ModelUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.answer_tokens,
            total_tokens=usage.tokens,
        )
        known = found.get(one.name)
        found[one.name] = tokens if known is None else known + tokens
    return found


def _eval_score(result: Result) -> Any:
    from inspect_ai.log import EvalMetric, EvalScore

    metrics = {}
    for each in result.measurements:
        if each.value is not None and not each.where:
            metrics[each.name] = EvalMetric(name=each.name, value=each.value)
    return EvalScore(name="success", scorer="success", metrics=metrics)


def _eval_sample(trajectory: Trajectory) -> Any:
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    from gde_plugins.exchange.inspect_messages import conversation, events, output

    key = trajectory.key
    failure = trajectory.failure
    scores = {}
    if not failure:
        success = trajectory.success
        scores["success"] = Score(value="N" if success is None else success)

    turns = trajectory.turns
    return EvalSample(
        # Worlds of several conditions may be the same.
        id=f"{trajectory.world.id} condition {key.condition}"
        if key.condition
        else trajectory.world.id,
        epoch=key.repeat + 1,
        input=turns[0].observation.text if turns else "",
        target="",
        messages=conversation(turns[-1]) if turns else [],
        output=output(turns[-1]) if turns else ModelOutput(),
        events=events(trajectory),
        scores=scores,
        metadata={RECORD: trajectory_json(trajectory)},
        error=EvalError(message=failure, traceback="", traceback_ansi="")
        if failure
        else None,
    )
