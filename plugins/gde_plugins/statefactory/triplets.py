"""Does an embedder tell what is so from what is not (Shen et al. 2026, appendix C.5.3)?

The probing set is made of a run's own states, as rules read them: an anchor is one attribute of one object, the
positive says the same in other words and another order, and the negative is what the same episode says of the same
attribute with another value, or of another object. Theirs were paraphrased by a language model; these follow from
templates, so that they are the same everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.stats import cluster_share
from gde.seeding import generator
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.routing import Vectors
from gde_plugins.statefactory.rules.extractor import RulesExtractor

NAME, UNIT = "triplets", "share"
Fact = tuple[str, str, str]
"""Object, attribute, value."""


@dataclass(frozen=True)
class Triplet:
    """A statement, the same in other words, and one that says something else."""

    anchor: str
    positive: str
    negative: str
    cluster: str
    """Of the world that it was read in."""


@dataclass(frozen=True)
class TripletAccuracy:
    """Implements `gde.parts.metric.Metric`: the share of triplets in which the paraphrase is closer to the anchor than
    what is not so; intervals resample clusters of worlds."""

    name: str
    embedder: Embedder
    most: int

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        where = {"embedder": self.name}
        chosen = probing_set(evidence.trajectories, self.most, generator(evidence.seed, NAME))
        if not chosen:
            reason = "no state has two attributes that differ, as rules read it"
            return [Measurement(name=NAME, value=None, unit=UNIT, n=0, where=where, reason=reason)]
        right = [float(each) for each in self.told_apart(chosen)]
        rng = generator(evidence.seed, NAME, "interval")
        estimate = cluster_share(right, [each.cluster for each in chosen], rng)
        return [replace(estimate.measurement(NAME, UNIT), where=where)]

    def told_apart(self, chosen: Sequence[Triplet]) -> Iterator[bool]:
        """Whether each anchor is closer to its positive than to its negative."""
        texts = (text for each in chosen for text in (each.anchor, each.positive, each.negative))
        vectors = Vectors(texts, self.embedder)
        for each in chosen:
            positive, negative = vectors.cosines([each.anchor], [each.positive, each.negative])[0]
            yield bool(positive > negative)


def probing_set(trajectories: Sequence[Trajectory], most: int, rng: np.random.Generator) -> list[Triplet]:
    """Every statement once, at most so many of them, drawn without repetition."""
    found: dict[tuple[str, str], Triplet] = {}
    for trajectory in trajectories:
        for each in _triplets(trajectory, rng):
            found.setdefault((each.cluster, each.anchor), each)
    every = list(found.values())
    return [every[i] for i in sorted(rng.permutation(len(every))[:most])]


def _triplets(trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Triplet]:
    reading = RulesExtractor(4).reading(trajectory)
    facts = sorted(
        {
            (item.name, key, value)
            for state in reading.states
            for item in state
            for key, value in item.attributes.items()
        }
    )
    for fact in facts:
        others = [other for other in facts if other[1] == fact[1] and other[2] != fact[2]]
        # A contradiction is harder to tell than something about another object.
        contradictions = [other for other in others if other[0] == fact[0]] or others
        if contradictions:
            negative = contradictions[int(rng.integers(len(contradictions)))]
            yield Triplet(_plainly(fact), _otherwise(fact), _plainly(negative), trajectory.world.cluster)


def _plainly(fact: Fact) -> str:
    name, key, value = fact
    return f"The {name}: {key} is {value}."


def _otherwise(fact: Fact) -> str:
    name, key, value = fact
    return f"It is {value} that one finds as {key} of what is called {name}."
