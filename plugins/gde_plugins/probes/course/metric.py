"""The metric `course`: what can be read from activations at each event of the reasoning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import finished, unmeasured
from gde.numerics.stats import Interval
from gde.parts.context import Context
from gde.parts.language_model import WhiteBox
from gde.seeding import derive, generator
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.config import ReadingConfig
from gde_plugins.probes.course.changes import (
    ACTIONS,
    Course,
    Judged,
    reorganises,
    resampled,
)
from gde_plugins.probes.course.config import THINGS, CourseConfig
from gde_plugins.probes.course.events import EVENTS
from gde_plugins.probes.course.reading import Truth, read, splits_of
from gde_plugins.probes.course.sources import (
    FOREIGN,
    MODEL,
    RANDOM,
    TEXT,
    foreign,
    own,
    random_weights,
    said,
)
from gde_plugins.probes.course.turns import (
    NO_MODEL,
    CourseTurn,
    first_turns,
    read_model,
)

NAME = "course.found"
NONE = "no first turn has a true map, an optimum and tokens to replay"
LEAST = 10
"""Fewest worlds of which anything is read."""


@dataclass(frozen=True)
class BeliefCourse:
    """Read the agent's and the goal's cell, an optimal action and the action taken at six
    events of the first turn of each world.

    - "course.found": share of held-out turns in which a thing is found at an event, by
      source: the model, random weights (mean, least and greatest of the
      initialisations), the text, and the model after a foreign prompt.
    - "course.lead": how much more often the next move is found before it is written than
      from the text, and than after a foreign prompt.
    - "course.change": what a stated change is, and beyond random weights, text and
      foreign prompts; "course.holds" is 1 where all of it is shown.
    - "course.reorganises": 1 if the map falls and the action rises.
    """

    config: CourseConfig
    context: Context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        """Read the course of the whole run; parts of it have too few worlds."""
        if evidence.part:
            return ()
        episodes = finished(evidence)
        model = read_model(self.context, self.config.weights, episodes)
        if model is None:
            return [unmeasured(NAME, NO_MODEL)]
        turns = [*first_turns(episodes, self.config.patterns, model)]
        if not turns:
            return [unmeasured(NAME, NONE)]
        if len(turns) < LEAST:
            return [unmeasured(NAME, f"{len(turns)} worlds; readers need {LEAST}")]
        course = self._course(model, turns, evidence.seed)
        judged = course.judged(self.config.stated)
        return [*_found(course), *_leads(course), *_verdicts(judged)]

    def _course(
        self, model: WhiteBox, turns: Sequence[CourseTurn], seed: int
    ) -> Course:
        seed = derive(seed, "metric", "course")
        layer = layer_of(self.config, model)
        truth = Truth.of(turns, generator(seed, "example"))
        splits = splits_of(len(turns), self.config.splits, generator(seed, "splits"))
        sources = {
            MODEL: own(model, turns, layer),
            TEXT: said(turns),
            FOREIGN: foreign(model, turns, layer, generator(seed, "foreign")),
        }
        untrained = random_weights(
            model, turns, layer, self.config.initialisations, seed
        )
        train, test = splits[0]
        return Course(
            read={name: read(each, truth, splits) for name, each in sources.items()},
            random=[read(each, truth, splits) for each in untrained],
            n_train=len(train),
            n_test=len(test),
        )


def layer_of(config: CourseConfig, model: WhiteBox) -> int:
    """The layer that is read.

    Raises:
        GdeError: the model has no such layer.
    """
    reading = ReadingConfig(layer=(config.layer,))
    layers = reading.capture(model.info).layers
    if len(layers) > 1:
        raise GdeError(f"course.layer: wanted one layer, got {len(layers)}")
    return layers[0]


def _found(course: Course) -> Iterator[Measurement]:
    """What is found of each thing at each event, by source."""
    ratio = course.n_test / course.n_train
    for i, thing in enumerate(THINGS):
        for event in EVENTS:
            for source, of_events in course.read.items():
                hits = of_events[event][:, i]
                yield _share(hits, {"thing": thing, "event": event}, source, ratio)
            means = [_mean(each[event][:, i]) for each in course.random]
            known = [mean for mean in means if mean is not None]
            if known:
                for kind, value in (
                    (RANDOM, float(np.mean(known))),
                    (f"{RANDOM}, least", min(known)),
                    (f"{RANDOM}, greatest", max(known)),
                ):
                    yield Measurement(
                        name=NAME,
                        value=value,
                        n=len(known),
                        where={"thing": thing, "event": event, "source": kind},
                    )


def _leads(course: Course) -> Iterator[Measurement]:
    """By how much activations lead the text: the next move, before it is written."""
    for thing in ACTIONS:
        for event in EVENTS[: EVENTS.index("move")]:
            worlds = np.isfinite(course.read[MODEL][event][:, 0]).any(axis=0).sum()
            for part in course.leads(thing, event):
                yield Measurement(
                    name="course.lead",
                    value=part.difference,
                    n=int(worlds),
                    interval=part.interval,
                    where={"thing": thing, "event": event, "source": part.name},
                )


def _share(
    hits: Doubles, where: dict[str, str], source: str, ratio: float
) -> Measurement:
    """The mean of hits (splits, N) over splits and worlds."""
    labels = {**where, "source": source}
    n_worlds = int(np.isfinite(hits).any(axis=0).sum())
    if not np.isfinite(hits).any(axis=1).all():
        reason = f"too few turns have the event: {n_worlds} could be tested"
        return unmeasured(NAME, reason, labels)
    mean, (low, high), _ = resampled(np.nanmean(hits, axis=1), ratio)
    interval: Interval = (max(low, 0.0), min(high, 1.0))
    return Measurement(
        name=NAME, value=mean, n=n_worlds, interval=interval, where=labels
    )


def _mean(hits: Doubles) -> float | None:
    return float(np.nanmean(hits)) if np.isfinite(hits).any() else None


def _verdicts(judged: Sequence[Judged]) -> Iterator[Measurement]:
    """The parts of each stated change, and whether it holds."""
    for one in judged:
        where = {"change": one.change.text}
        for part in one.parts:
            yield Measurement(
                name=f"course.change.{part.name.replace(' ', '_')}",
                value=part.difference,
                n=one.worlds,
                interval=part.interval,
                where=where,
            )
        if one.p is None:
            yield unmeasured("course.holds", one.reason, where)
            continue
        yield Measurement(name="course.p", value=one.p, n=one.worlds, where=where)
        yield Measurement(
            name="course.holds", value=float(one.holds), n=one.worlds, where=where
        )
    called = reorganises(judged)
    if called is None:
        reason = "it needs verdicts on the map's fall and the action's rise"
        yield unmeasured("course.reorganises", reason)
    else:
        n = min(one.worlds for one in judged)
        yield Measurement(name="course.reorganises", value=float(called), n=n)
