"""Activations that were captured outside of gde, for the turns of a run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest
from gde.data.arrays import Floats
from gde.data.completion import ModelInfo
from gde.errors import GdeError
from gde.offers import ModelOffer
from gde.parts.probe import Probe
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import MODEL as MODEL_KIND
from gde.runs.pipeline import Pipeline
from gde.stages.capturing import add
from gde.stages.fits import MODEL, UNTRAINED, of_weights, untrained_sources
from gde.stages.models import NOTED
from gde.store.activations import ActivationStore, Place, Row

SHOWN = 12
"""Characters of the digest."""
POSITION = re.compile(r"[\w-]+")
Captured = Mapping[tuple[int, str], Any]
"""Layer and position to activations, see `gde.probe`."""
Values = Mapping[Row, Floats]
"""(tokens, width) activations of each turn at one place."""


@dataclass(frozen=True, kw_only=True)
class HandedIn:
    """Activations with a row for each turn."""

    sources: Mapping[str, Mapping[Place, Values]]
    """Those of the model, and of each of its random initialisations."""
    width: int

    @classmethod
    def read(
        cls,
        activations: Captured,
        untrained: Sequence[Captured],
        rows: Sequence[Row],
    ) -> "HandedIn":
        """Check what a caller has captured.

        Args:
            activations: of the model.
            untrained: of random initialisations of it.
            rows: episode and index of each turn of the run.

        Raises:
            GdeError: no places, or others of an initialisation; a turn that the run
                does not have; another number of turns, another width, or values that
                are not finite.
        """

        given = {"activations": activations}
        for i, each in enumerate(untrained):
            given[f"untrained[{i}]"] = each
        widths: dict[int, str] = {}
        sources = {}
        names = (MODEL, *untrained_sources(len(untrained)))
        for source, (whose, captured) in zip(names, given.items(), strict=False):
            if not captured or captured.keys() != activations.keys():
                raise GdeError(
                    f"{whose}: wanted activations by (layer, position), of the model and of every initialisation"
                    f" alike, got {sorted(captured)}"
                )
            read = {}
            for place, values in captured.items():
                at = f"{whose}[{place[0]}, {place[1]!r}]"
                read[place] = _values(values, place, rows, at)
                for of_turn in read[place].values():
                    widths.setdefault(of_turn.shape[1], at)
            sources[source] = read

        if len(widths) > 1:
            found = " and ".join(f"{width} ({at})" for width, at in widths.items())
            raise GdeError(f"activations: wanted one width, got {found}")
        return cls(sources=sources, width=next(iter(widths)))

    @cached_property
    def digest(self) -> str:
        """Tells these activations from others."""
        found = sha256()
        for source, places in self.sources.items():
            for place, values in places.items():
                for row, of_turn in values.items():
                    found.update(repr((source, place, row, of_turn.shape)).encode())
                    found.update(of_turn.tobytes())
        return found.hexdigest()[:SHOWN]

    def name(self, catalogue: Catalogue) -> str:
        """What probes call the model that they read."""
        for entry in catalogue.entries(MODEL_KIND.name):
            if is_captured(entry):
                return f"{entry.offer.name}:{self.digest}"
        raise GdeError("activations: no plugin offers to keep those of others")

    def store(self, run: Pipeline) -> None:
        """Write them to a run, as those of a model of their own.

        Raises:
            RunFailed: the disk is full.
        """
        store = ActivationStore(run.folder.activations, run.journal)
        places = self.sources[MODEL]
        deepest = max(layer for layer, _ in places)
        name = self.name(run.ready.catalogue)
        info = ModelInfo(name=name, n_layers=max(deepest, 0) + 1, width=self.width)
        for source, captured in self.sources.items():
            own = of_weights(source, self.digest)
            add(_records(captured), own, [*places], store)
        run.journal.add_note(NOTED, {name: asdict(info)})


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What was handed in to a run before."""

    digest: str
    request: CaptureRequest
    """Every layer and position that is stored."""
    n_untrained: int

    def drawn(self, _: Probe) -> int:
        """How many random initialisations a probe is fitted to."""
        return max(1, self.n_untrained)

    @property
    def not_made(self) -> Mapping[str, str]:
        """Why there is no control with random weights; empty if there is one."""
        if self.n_untrained:
            return {}
        reason = "captured activations come without a model, so none has random weights: give `untrained`"
        return {UNTRAINED: reason}


def is_captured(entry: Entry) -> bool:
    """Whether a model stands for activations that were handed in."""
    offer = entry.offer
    return isinstance(offer, ModelOffer) and offer.captured


def stored(run: Pipeline, name: str) -> Stored:
    """What a run holds under a name.

    Raises:
        GdeError: nothing.
    """
    digest = name.partition(":")[2]
    store = ActivationStore(run.folder.activations, run.journal)
    places = store.places(of_weights(MODEL, digest))
    if not places:
        raise GdeError(
            f"{name}: this run holds no such activations; give them to `gde.probe(RUN, activations=...)`"
        )
    layers = sorted({layer for layer, _ in places})
    positions = sorted({position for _, position in places})
    n = 0
    while store.places(of_weights(untrained_sources(n + 1)[-1], digest)):
        n += 1
    return Stored(
        digest=digest,
        request=CaptureRequest(layers=tuple(layers), positions=tuple(positions)),
        n_untrained=n,
    )


def _values(given: Any, place: Place, rows: Sequence[Row], whose: str) -> Values:
    """The activations of one place by turn."""
    layer, position = place
    if layer < EMBEDDING or not POSITION.fullmatch(position):
        raise GdeError(
            f"{whose}: wanted a layer from {EMBEDDING} (embeddings) on and the name of a position, e.g. (3, 'pre')"
        )
    if isinstance(given, Mapping):
        unknown = sorted(given.keys() - {*rows})
        if unknown:
            raise GdeError(f"{whose}: the run has no turn {unknown[0]}")
        of_turns = given
    else:
        if len(given) != len(rows):
            raise GdeError(
                f"{whose}: wanted {len(rows)} rows, one for each of `gde.open(RUN).turns`, got {len(given)}"
            )
        of_turns = dict(zip(rows, given, strict=True))

    values = {}
    for row, of_turn in of_turns.items():
        array = np.ascontiguousarray(np.atleast_2d(of_turn), dtype=np.float32)
        if array.ndim != 2 or not array.size or not np.isfinite(array).all():
            raise GdeError(
                f"{whose}: turn {row}: wanted finite numbers (width,) or (tokens, width), got shape {array.shape}"
            )
        values[row] = array
    if not values:
        raise GdeError(f"{whose}: wanted the activations of some turns, got none")
    return values


def _records(
    captured: Mapping[Place, Values],
) -> Iterator[tuple[Row, ActivationRecord]]:
    rows = dict.fromkeys(row for values in captured.values() for row in values)
    for row in rows:
        here = {place: of[row] for place, of in captured.items() if row in of}
        yield row, ActivationRecord(values=here)
