"""Samples that lm-evaluation-harness has logged (`--log_samples`), from 0.4.0 on."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from gde.foreign import ForeignFile
from gde_plugins.exchange.foreign_files import check_size, number
from gde_plugins.exchange.importing import Log, Sample

PREFIX, LINES = "samples_", ".jsonl"
"""The beginning of the names of files from 0.4.3 on, and their end before and after."""
RESULTS = "results.json"
PLACEHOLDER = "bypass"
"""The metric of `--predict_only`, whose mean is 999."""
UNFILTERED = ("none", "1")
"""The name of no filter, and the number of the first one."""
HASHED = 12
"""Characters of a document's hash that tell it from others of its number."""


class Logged(BaseModel, extra="allow"):
    """A sample. Before 0.4.5 all further fields are scores, and a document comes once
    for each filter of its answers, without the filter's name.
    """

    doc_id: int | str
    doc: Any
    target: Any
    arguments: Any
    resps: Any
    filtered_resps: Any
    metrics: list[str] | None = None
    filter: str | None = None
    doc_hash: str | None = None
    prompt_hash: str | None = None
    target_hash: str | None = None


class Config(BaseModel):
    """How the harness was called."""

    model_args: str


class Results(BaseModel):
    """The results beside the samples."""

    config: Config


ADAPTER = TypeAdapter(Logged)
RESULTS_ADAPTER = TypeAdapter(Results)


def is_lm_eval(path: Path) -> bool:
    """Whether a file has the name of such samples."""
    return path.suffix == LINES or path.name.startswith(PREFIX)


def read_lm_eval(path: Path) -> Log:
    """Read a file of samples.

    Raises:
        ConfigError: a line or sample is none.
        GdeError: the file is too large.
    """
    check_size(path)
    file = ForeignFile("LOG", path)
    found: dict[str, Sample] = {}
    times: Counter[str] = Counter()
    for at, value in _records(file):
        logged = file.valid(ADAPTER, value, at)
        sample = _sample(logged)
        times[sample.id] += 1
        kept = logged.filter or str(times[sample.id])
        scores = sample.scores
        if kept not in UNFILTERED:
            scores = {f"{name},{kept}": one for name, one in scores.items()}

        # The first filter gives the document its answer.
        first = found.get(sample.id, sample)
        found[sample.id] = replace(first, scores={**first.scores, **scores})
    task, model = _names(path)
    return Log(task=task, model=model, samples=tuple(found.values()))


def _records(file: ForeignFile) -> Iterator[tuple[int | str, Any]]:
    """Samples with their places: up to 0.4.3 in one array, later one a line."""
    text = file.text()
    if not text.lstrip().startswith("["):
        yield from file.lines(text)
        return
    for place, value in enumerate(file.json(text), start=1):
        yield f"sample {place}", value


def _sample(logged: Logged) -> Sample:
    others = logged.model_extra or {}
    scores = {}
    for name in others if logged.metrics is None else logged.metrics:
        # Pairs, such as log-likelihoods with lengths, mean something only in sums.
        score = number(others.get(name))
        if name != PLACEHOLDER and score is not None:
            scores[name] = score

    document = json.dumps(logged.doc, indent=2, ensure_ascii=False)
    # As the harness hashes it, so that samples of all versions can be compared.
    hashed = logged.doc_hash or sha256(document.encode()).hexdigest()
    requests = [_entries(each) for each in _entries(logged.arguments)]
    return Sample(
        id=f"{logged.doc_id} {hashed[:HASHED]}",
        asked=str(requests[0][0]) if requests and requests[0] else "",
        answer=_answer(requests, _entries(logged.filtered_resps)),
        scores=scores,
    )


def _answer(requests: Sequence[Sequence[Any]], answers: Sequence[Any]) -> str:
    """The text of an answer, or of several choices the likeliest one."""
    weights = {}
    for request, answer in zip(requests, answers, strict=False):
        # Choices may also be weighed without the question.
        if len(request) > 1 and request[0] == requests[0][0]:
            weights[str(request[1]).strip()] = _log_likelihood(answer)
    if len(weights) > 1 and -inf not in weights.values():
        return max(weights, key=weights.__getitem__)
    first = answers[0] if answers else ""
    while isinstance(first, list) and first:
        first = first[0]
    return str(first)


def _log_likelihood(answer: Any) -> float:
    """Minus infinity for an answer of another kind."""
    try:
        # Some versions write numbers as texts.
        return float(_entries(answer)[0])
    except (IndexError, TypeError, ValueError, OverflowError):
        return -inf


def _entries(value: Any) -> list[Any]:
    """The entries of a list, or of a table that stands for one."""
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else []


def _names(path: Path) -> tuple[str, str]:
    """The names of task and model."""
    folder = path.resolve().parent
    if path.name.startswith(PREFIX):
        return path.stem.removeprefix(PREFIX).rpartition("_")[0], folder.name
    results = folder / RESULTS
    if not results.is_file():
        return path.stem, folder.name
    file = ForeignFile("LOG", results)
    model = file.valid(RESULTS_ADAPTER, file.json()).config.model_args
    return path.stem.removeprefix(re.sub("[/=]", "__", model) + "_"), model
