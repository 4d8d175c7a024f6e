"""Logged samples of lm-evaluation-harness (`--log_samples`) as a run of gde."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from gde.errors import GdeError
from gde_plugins.exchange.foreign_files import check_size, number, what_is_wrong
from gde_plugins.exchange.importing import Log, Sample

FILE = "samples_"
NO_FILTER = "none"
SHOWN = 40
"""Characters of a score that is no number."""


class Logged(BaseModel, frozen=True, extra="allow"):
    """The required fields of a line; `metrics` names the fields of the scores."""

    doc_id: int | str
    doc_hash: str
    arguments: Any
    filtered_resps: Any
    metrics: tuple[str, ...]
    filter: str = NO_FILTER


def read_lm_eval(path: Path) -> Log:
    """A file `samples_TASK_DATE.jsonl`; its folder names the model.

    Raises:
        GdeError: it is no such file.
    """
    check_size(path)
    found: dict[str, Sample] = {}
    read: set[tuple[str, str]] = set()
    for place, line in _lines(path):
        where = f"{path}, line {place}"
        logged = _logged(line, where)
        sample = _sample(logged, where)
        if (sample.id, logged.filter) in read:
            raise GdeError(
                f"{where}: wanted document {logged.doc_id} once, got it again; import one log at a time"
            )
        read.add((sample.id, logged.filter))

        # A document is logged once for each filter of its answers; each has scores of
        # its own.
        if sample.id in found:
            first = found[sample.id]
            sample = replace(
                first,
                scores={**first.scores, **sample.scores},
                failure=f"{first.failure}; {sample.failure}",
            )
        found[sample.id] = sample
    samples = [
        replace(each, failure="") if each.scores else each for each in found.values()
    ]
    return Log(
        task=_task(path), model=path.resolve().parent.name, samples=tuple(samples)
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank.

    Other separators inside a text do not end a line, unlike in `str.splitlines`.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for place, line in enumerate(file, start=1):
                if line.strip():
                    yield place, line
    except (OSError, UnicodeDecodeError) as error:
        raise GdeError(f"{path}: wanted a text file of samples ({error})") from error


def _logged(line: str, where: str) -> Logged:
    try:
        return Logged.model_validate_json(line)
    except ValidationError as error:
        wrong = what_is_wrong(error)
        raise GdeError(
            f"{where}: wanted a sample that lm_eval --log_samples wrote; {wrong}"
        ) from error


def _sample(logged: Logged, where: str) -> Sample:
    values = logged.model_extra or {}
    scores: dict[str, float] = {}
    others = []
    for name in logged.metrics:
        if name not in values:
            raise GdeError(
                f"{where}: wanted a value of each of its metrics, got none of {name!r}"
            )
        label = name if logged.filter == NO_FILTER else f"{name},{logged.filter}"
        score = number(values[name])

        # Scores that are pairs, such as log-likelihoods with lengths, mean something
        # only in sums.
        if score is None:
            others.append(f"{label} is {values[name]!r:.{SHOWN}}")
        else:
            scores[label] = score
    answers = [*_texts(logged.filtered_resps)]
    return Sample(
        id=f"{logged.doc_id} {logged.doc_hash[:12]}",
        asked=next(_texts(logged.arguments), ""),
        answer=answers[0] if answers else "",
        scores=scores,
        failure=f"it was not scored: {', '.join(others)}"
        if others
        else "it was not scored",
    )


def _texts(value: Any) -> Iterator[str]:
    """All values inside lists and tables, as text.

    The harness nests answers by kind of request.
    """
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)


def _task(path: Path) -> str:
    """The name between the prefix and the date."""
    return path.stem.removeprefix(FILE).rpartition("_")[0] or path.stem
