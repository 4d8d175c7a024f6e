"""Tests of stated changes between two events of a course.

A change is shown if all of its parts are, so its p value is the largest of theirs, and
several changes are corrected by Holm:

- within: the model's readers find the thing less, or more, often at the second event.
  Splits share worlds, so the t test adds the share of test to training worlds to its
  variance (Nadeau and Bengio 2003).
- beyond: so much more than in random initialisations, of which the model might be one
  more. It must lie outside all of them.
- text, foreign: where an action rises, it is found at the second event more often than
  from what has been said, and than by the model itself after a foreign prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import scipy

from gde.data.verdict import ALPHA
from gde.numerics.controls import compare_with_control
from gde.numerics.stats import CONFIDENCE, Interval, adjusted, holm
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.course.config import ACTION_RISES, MAP_FALLS, THINGS, Change
from gde_plugins.probes.course.sources import FOREIGN, MODEL, TEXT

FEWEST = 30
"""Fewest worlds of a verdict."""
ACTIONS = ("optimal", "action")
Read = Mapping[str, Doubles]
"""Event to (splits, things, N) hits, NaN where nothing is tested."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One comparison of a stated change."""

    name: str
    difference: float
    interval: Interval | None
    p: float
    """Two-sided; 1 for a difference in the other direction."""
    outside: bool = True
    """Whether it lies outside all draws of a control that is drawn."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A stated change with its verdict."""

    change: Change
    worlds: int
    parts: Sequence[Part] = ()
    p: float | None = None
    """The largest of the parts', corrected for all stated changes."""
    reason: str = ""
    """Why there is no verdict; empty if there is."""

    @property
    def holds(self) -> bool:
        """Whether all parts are shown."""
        is_outside = all(part.outside for part in self.parts)
        return self.p is not None and self.p < ALPHA and is_outside


@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """What is read of one model and of its controls, in N turns of as many worlds."""

    read: Mapping[str, Read]
    """By source: the model, the text, and the model after foreign prompts."""
    random: Sequence[Read]
    """Of each random initialisation."""
    n_train: int
    n_test: int

    def judged(self, changes: Sequence[Change]) -> list[Judged]:
        """The stated changes with their verdicts."""
        several = [self._judged(change) for change in changes]
        corrected = adjusted([one.p for one in several], holm)
        return [replace(one, p=p) for one, p in zip(several, corrected, strict=True)]

    def _judged(self, change: Change) -> Judged:
        own = self._differences(change, self.read[MODEL])
        of_worlds = _means(own)
        worlds = int(np.isfinite(of_worlds).sum())
        if worlds < FEWEST:
            reason = f"{worlds} worlds have both events; a verdict needs {FEWEST}"
            return Judged(change=change, worlds=worlds, reason=reason)

        parts = [self._resampled("within", own, change.sign)]
        beyond = self._beyond(of_worlds, change)
        if isinstance(beyond, str):
            return Judged(change=change, worlds=worlds, parts=parts, reason=beyond)
        parts.append(beyond)
        if change.thing in ACTIONS and change.sign > 0:
            parts += self.leads(change.thing, change.second)
        p = max(part.p for part in parts)
        return Judged(change=change, worlds=worlds, parts=parts, p=p)

    def leads(self, thing: str, event: str) -> list[Part]:
        """How much more often a thing is found at an event than from what has been said
        by then, and than after a foreign prompt; without what has too few turns.
        """
        ours = _hits(self.read[MODEL], thing, event)
        parts = []
        for source in (TEXT, FOREIGN):
            difference = ours - _hits(self.read[source], thing, event)
            if np.isfinite(difference).any(axis=1).all():
                parts.append(self._resampled(source, difference, 1))
        return parts

    def _differences(self, change: Change, read: Read) -> Doubles:
        """(splits, N) hits at the second event minus those at the first."""
        first = _hits(read, change.thing, change.first)
        return _hits(read, change.thing, change.second) - first

    def _resampled(self, name: str, differences: Doubles, sign: int) -> Part:
        """The mean of differences (splits, N), tested over the splits."""
        ratio = self.n_test / self.n_train
        mean, interval, p = resampled(np.nanmean(differences, axis=1), ratio)
        p = p if mean * sign > 0 else 1.0
        return Part(name=name, difference=mean, interval=interval, p=p)

    def _beyond(self, ours: Doubles, change: Change) -> Part | str:
        """The change of the model (N,) against those of random initialisations, or why
        they are not compared.
        """
        theirs = [_means(self._differences(change, each)) for each in self.random]
        controls = np.array(theirs).reshape(len(theirs), -1)
        tested = np.isfinite(ours)
        if not len(controls):
            return "no random initialisations"
        # Signs of worlds are not resampled for draws, so no random numbers are used.
        verdict = compare_with_control(
            "untrained", ours[tested], controls[:, tested], np.random.default_rng(0)
        )
        if verdict.p is None:
            return verdict.reason
        return Part(
            name="beyond",
            difference=verdict.difference,
            interval=verdict.interval,
            p=verdict.p if verdict.difference * change.sign > 0 else 1.0,
            outside=bool(verdict.outside),
        )


def reorganises(judged: Sequence[Judged]) -> bool | None:
    """Whether the map falls and the action rises; None where either has no verdict."""
    by_text = {one.change.text: one for one in judged}
    both = [by_text.get(text) for text in (MAP_FALLS, ACTION_RISES)]
    if any(one is None or one.reason for one in both):
        return None
    return all(one is not None and one.holds for one in both)


def resampled(values: Doubles, ratio: float) -> tuple[float, Interval, float]:
    """Mean of values (K,) of K random splits, with interval and two-sided p value by the
    corrected resampled t test (Nadeau and Bengio 2003, section 3).

    Args:
        values: one of each split.
        ratio: of test to training worlds.
    """
    K = len(values)
    mean = float(values.mean())
    error = sqrt((1 / K + ratio) * float(values.var(ddof=1)))
    half = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, K - 1)) * error
    interval = (mean - half, mean + half)
    if not error:
        return mean, interval, 0.0 if mean else 1.0
    return mean, interval, float(2 * scipy.stats.t.sf(abs(mean) / error, K - 1))


def _hits(read: Read, thing: str, event: str) -> Doubles:
    """(splits, N)."""
    return read[event][:, THINGS.index(thing)]


def _means(of_splits: Doubles) -> Doubles:
    """(N,) means over the splits in which a world is tested; NaN where it never is."""
    tested = np.isfinite(of_splits)
    sums = np.where(tested, of_splits, 0.0).sum(axis=0)
    n_tests = tested.sum(axis=0)
    return np.where(n_tests > 0, sums / np.maximum(n_tests, 1), np.nan)
