"""Answers of earlier runs, for requests that can have one answer only."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from gde.data.completion import ChatRequest, Completion
from gde.data.json import Json
from gde.errors import GdeError, RunFailed
from gde.parts.language_model import LanguageModel
from gde.store.answers import Answers
from gde.store.journal import Journal
from gde.store.rows import to_json


class Reuse:
    """A cache of answers, or none. Only what is asked at temperature 0 is looked up or kept: a sample that were the
    same in every run would be no sample."""

    def __init__(self, path: Path | None = None) -> None:
        """Take the file of answers; None to ask everything."""
        self._path = path
        self._answers: Answers | None = None

    def key(self, model: LanguageModel, config: Json, request: ChatRequest) -> str:
        """Differs wherever the answer may: by the model's weights and software, its configuration and the request.
        Empty where the request is not to be looked up."""
        if self._path is None or request.sampling.temperature > 0:
            return ""
        info = model.info
        asked = {"model": info.name, "versions": dict(info.versions), "config": config, "request": request.identity}
        return sha256(to_json(asked).encode()).hexdigest()

    def open(self) -> None:
        """Open the file, or make it.

        Raises:
            GdeError: it is something else, or cannot be written.
        """
        if self._path is not None and self._answers is None:
            self._answers = Answers.open(self._path)

    def find(self, key: str) -> Completion | None:
        """What was answered in an earlier run.

        Raises:
            RunFailed: the file cannot be read.
        """
        if not key:
            return None
        with self._usable() as answers:
            return answers.get(key)

    def keep(self, key: str, answer: Completion) -> None:
        """For later runs.

        Raises:
            RunFailed: the file cannot be written.
        """
        if key:
            with self._usable() as answers:
                answers.put(key, answer)

    def close(self) -> None:
        """Close the file."""
        if self._answers is not None:
            self._answers.close()
            self._answers = None

    @contextmanager
    def _usable(self) -> Iterator[Answers]:
        try:
            self.open()
            assert self._answers is not None
            yield self._answers
        except (sqlite3.Error, GdeError) as error:
            raise RunFailed(f"run.cache={self._path}: {error}; go on with `gde resume`, which does without") from error


def reuse_note(journal: Journal, cache: str) -> Mapping[str, Json]:
    """What a result's provenance says of it; nothing where no cache was wanted."""
    if not cache:
        return {}
    ((answers, hits),) = journal.query("SELECT count(*), coalesce(sum(cached), 0) FROM calls")
    said = f"cache: {hits} of {answers} answers are those of earlier runs; what is sampled is always asked"
    return {"cache": {"answers": answers, "hits": hits, "said": said}}
