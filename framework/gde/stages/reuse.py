"""The cache of answers that runs share, for requests that can have only one answer."""

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

GREEDY = 0.01
"""The highest temperature that counts as greedy. Publications that want one answer print
it instead of 0.
"""


class Reuse:
    """A cache of answers, or none.

    Only greedy requests are looked up and kept: samples that were the same in every run
    would be no samples.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Take the file of the cache; None for no cache."""
        self._path = path
        self._answers: Answers | None = None

    def key(self, model: LanguageModel, config: Json, request: ChatRequest) -> str:
        """The key of an answer, from model, configuration and request.

        Returns:
            An empty text where the request is not to be looked up.
        """
        if self._path is None or request.sampling.temperature > GREEDY:
            return ""
        info = model.info
        asked = {
            "model": info.name,
            "versions": dict(info.versions),
            "config": config,
            "request": request.identity,
        }
        return sha256(to_json(asked).encode()).hexdigest()

    def open(self) -> None:
        """Open the file, or create it.

        Raises:
            GdeError: it is another kind of file, or cannot be written.
        """
        if self._path is not None and self._answers is None:
            self._answers = Answers.open(self._path)

    def find(self, key: str) -> Completion | None:
        """The answer that an earlier run got, if any.

        Raises:
            RunFailed: the file cannot be read.
        """
        if not key:
            return None
        with self._usable() as answers:
            return answers.get(key)

    def keep(self, key: str, answer: Completion) -> None:
        """Keep an answer for later runs.

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
            raise RunFailed(
                f"run.cache={self._path}: {error}; `gde resume` continues without the cache"
            ) from error


def reuse_note(journal: Journal, cache: str) -> Mapping[str, Json]:
    """The use of the cache for a result's provenance; empty without a cache."""
    if not cache:
        return {}
    ((answers, hits),) = journal.query(
        "SELECT count(*), coalesce(sum(cached), 0) FROM calls"
    )
    said = f"cache: {hits} of {answers} answers come from earlier runs; sampled answers are never reused"
    return {"cache": {"answers": answers, "hits": hits, "said": said}}
