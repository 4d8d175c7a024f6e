"""Samples that lm-evaluation-harness has logged (`lm_eval --log_samples`), as a run of gde."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde.runs.importing import Log, Sample

FILE = "samples_"


def read_lm_eval(path: Path) -> Log:
    """A file `samples_TASK_DATE.jsonl`. The model is what the folder around it is called, as the harness has it.

    Raises:
        GdeError: it is no such file.
    """
    found: dict[str, Sample] = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        try:
            sample = _sample(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise GdeError(f"{path}, line {number}: wanted a sample of lm_eval --log_samples, got {error!r}") from error
        before = found.get(sample.id)
        # A document is logged once for each filter of its answers; each has scores of its own.
        found[sample.id] = sample if before is None else _joined(before, sample)
    return Log(task=_task(path), model=path.resolve().parent.name, samples=tuple(found.values()))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GdeError(f"{path}: wanted a text file of samples ({error})") from error


def _sample(logged: Mapping[str, Any]) -> Sample:
    named, kept = logged["metrics"], logged.get("filter", "none")
    scores = {name if kept == "none" else f"{name},{kept}": _number(logged[name]) for name in named}
    answers = [*_texts(logged["filtered_resps"])]
    return Sample(
        id=f"{logged['doc_id']} {logged['doc_hash'][:12]}",
        asked=next(_texts(logged["arguments"]), ""),
        answer=answers[0] if answers else "",
        scores={name: value for name, value in scores.items() if value is not None},
    )


def _joined(first: Sample, second: Sample) -> Sample:
    return replace(first, scores={**first.scores, **second.scores})


def _number(value: Any) -> float | None:
    """Scores that are pairs, such as log-likelihoods with lengths, mean something only in sums."""
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def _texts(value: Any) -> Iterator[str]:
    """What lies inside lists and tables, as text: the harness nests answers by kind of request."""
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
