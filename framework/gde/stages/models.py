"""The language models of a run, shared by all its parts."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from gde.data.completion import ModelInfo
from gde.data.how import How
from gde.data.json import Json
from gde.errors import GdeError
from gde.parts.language_model import LanguageModel, WhiteBox
from gde.stages.asking import Budgeted, Cached, Decorator, Scope, Watched
from gde.stages.budget import Budget
from gde.stages.outages import Reach
from gde.stages.reuse import Reuse
from gde.store.damage import decoding
from gde.store.journal import Journal

NOTED = "models"
"""The journal's note of the models that were asked, by the names that users gave
them.
"""
IDENTIFYING = ("weights", "config", "tokenizer", "revision")
"""The entries of `ModelInfo.versions` that tell one model from another. The software
may change during a run.
"""


def notes_of(journal: Journal) -> Mapping[str, Mapping[str, Any]]:
    """The journal's notes of models: each a `ModelInfo` as a mapping.

    Raises:
        RunFolderError: the note is damaged, or none that gde writes.
    """
    notes: dict[str, dict[str, Any]] = journal.noted(NOTED, dict) or {}
    with decoding("facts"):
        for note in notes.values():
            for field in ("name", "notice"):
                if not isinstance(note[field], str):
                    raise TypeError(f"{field} of a model is no text")
            dict(note["versions"])
    return notes


def check_identity(name: str, known: Mapping[str, str], info: ModelInfo) -> None:
    """Check that a model is the one that answered.

    Raises:
        GdeError: its weights, configuration or tokenizer are others.
    """
    for each in IDENTIFYING:
        now = info.versions.get(each)
        if each in known and now != known[each]:
            raise GdeError(
                f"language model {name!r} has changed since it answered in this run: {each} {known[each]},"
                f" now {now or 'unknown'}; restore it, or start a new run"
            )


class Models:
    """Makes each model once per process, when it is first needed."""

    def __init__(
        self,
        make: Callable[[str], LanguageModel],
        journal: Journal | None,
        budget: Budget | None = None,
        reuse: Reuse | None = None,
    ) -> None:
        """Take a maker of models by name, and the journal.

        Without a journal no answer is kept.
        """
        self.budget = budget or Budget(How(), None)
        self.reuse = reuse or Reuse()
        self.reach = Reach()
        self.configs: dict[str, Json] = {}
        """What answers depend on in the configuration of each model, by its name."""
        self.elsewhere: Callable[[str], LanguageModel | None] = lambda _: None
        """Gives a model that parts ask where the run's executor works, if it does so in
        other processes.
        """
        self._make = make
        self._journal = journal
        self._made: dict[str, LanguageModel] = {}
        self._asked: dict[str, LanguageModel] = {}
        """The models that parts ask, some of them elsewhere."""

    def get(self, name: str) -> LanguageModel:
        """The model itself, without journal, cache and budget.

        It serves for activations, and for requests of no consequence.

        Raises:
            GdeError: the model cannot be made, or its weights have changed since it
                answered in this run.
        """
        if name not in self._made:
            model = self._make(name)
            known = self._noted().get(name, {}).get("versions", {})
            check_identity(name, known, model.info)
            self._made[name] = model
            if self._journal is not None:
                self._journal.add_note(NOTED, {name: asdict(model.info)})
        return self._made[name]

    def info(self, name: str) -> ModelInfo:
        """The description of a model, from the journal if the run has made it before."""
        known = self._noted().get(name)
        return ModelInfo(**known) if known else self.get(name).info

    def white_box(self, name: str) -> WhiteBox:
        """The model itself, whose activations can be read.

        Raises:
            GdeError: as `get`, or the model gives no activations.
        """
        model = self.get(name)
        if not isinstance(model, WhiteBox):
            raise GdeError(
                f"language model {name!r} gives no activations: take one with the capability `activations`"
            )
        return model

    def scope(self, name: str) -> Scope:
        """A scope for the episode or part of this name, in which models are asked."""
        return Scope(name, partial(self._decorated, name), self._journal)

    def close(self) -> None:
        """Release every model that was made."""
        for model in (*self._asked.values(), *self._made.values()):
            model.close()
        self._asked = {}
        self._made = {}
        self.reuse.close()

    def _decorated(self, scope: str, name: str) -> LanguageModel:
        """The model with all decorators but the outermost, which the scope adds."""
        if name not in self._asked:
            self._asked[name] = self.elsewhere(name) or Decorator(self.get(name))
        watched = Watched(self._asked[name], name, self.reach, self._journal)
        budgeted = Budgeted(watched, name, self.budget, scope)
        return Cached(budgeted, self.configs.get(name), self.reuse)

    def _noted(self) -> Mapping[str, Any]:
        return {} if self._journal is None else notes_of(self._journal)
