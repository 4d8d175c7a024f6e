"""Does an embedder tell paraphrases from contradictions (Shen et al. 2026, appendix
C.5.3)?

The probing set is made of a run's own states, as rules read them. An anchor is one
attribute of one object. The positive says the same in other words and another order.
The negative is the same attribute with another value, or of another object of the same
episode. The authors had a language model write paraphrases; these follow from
templates, so that they are the same everywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator, pick
from gde_plugins.statefactory.config import TripletsConfig
from gde_plugins.statefactory.embedding import embedder
from gde_plugins.statefactory.routing import Vectors
from gde_plugins.statefactory.rules.extractor import RulesExtractor

NAME = "triplets"
Fact = tuple[str, str, str]
"""Object, attribute, value."""


@dataclass(frozen=True)
class Triplet:
    """A statement, its paraphrase, and a statement that contradicts it."""

    anchor: str
    positive: str
    negative: str
    cluster: str
    """Of the world that it was read in."""


class TripletAccuracy:
    """Implements `gde.parts.metric.Metric`: the share of triplets whose paraphrase is
    closer to the anchor.

    Intervals resample clusters of worlds.
    """

    def __init__(self, config: TripletsConfig) -> None:
        self._config = config
        self._embedder = embedder(config.embedder)

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        where = {"embedder": str(self._config.embedder)}
        chosen = probing_set(
            evidence.trajectories, self._config.most, generator(evidence.seed, NAME)
        )
        if not chosen:
            reason = "no state has two attributes that differ, as rules read it"
            return [unmeasured(NAME, reason, where)]

        right = [float(each) for each in self.told_apart(chosen)]
        clusters = [each.cluster for each in chosen]
        estimate = cluster_share(
            right, clusters, generator(evidence.seed, NAME, "interval")
        )
        return [estimate.measurement(NAME, where)]

    def told_apart(self, chosen: Sequence[Triplet]) -> Iterator[bool]:
        """Whether each anchor is closer to its positive than to its negative."""
        texts: list[str] = []
        for each in chosen:
            texts += [each.anchor, each.positive, each.negative]
        vectors = Vectors(texts, self._embedder)
        for each in chosen:
            positive, negative = vectors.cosines(
                [each.anchor], [each.positive, each.negative]
            )[0]
            yield bool(positive > negative)


def probing_set(
    trajectories: Sequence[Trajectory], most: int, rng: np.random.Generator
) -> list[Triplet]:
    """At most so many triplets, drawn without repetition, each anchor once a
    cluster.
    """
    found: dict[tuple[str, str], Triplet] = {}
    for trajectory in trajectories:
        for each in _triplets(trajectory, rng):
            found.setdefault((each.cluster, each.anchor), each)
    triplets = list(found.values())
    chosen = rng.permutation(len(triplets))[:most]
    return [triplets[i] for i in sorted(chosen)]


def _triplets(trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Triplet]:
    facts = _facts(trajectory)
    for fact in facts:
        name, key, value = fact
        others = [other for other in facts if other[1] == key and other[2] != value]
        # A contradiction is harder to tell than a statement about another object.
        negatives = [other for other in others if other[0] == name] or others
        if negatives:
            negative = pick(negatives, rng)
            yield Triplet(
                _statement(fact),
                _paraphrase(fact),
                _statement(negative),
                trajectory.world.cluster,
            )


def _facts(trajectory: Trajectory) -> list[Fact]:
    """Every fact of an episode's states once, in order."""
    facts: set[Fact] = set()
    for state in RulesExtractor(4).reading(Transcript.of(trajectory)).states:
        for item in state:
            facts.update(
                (item.name, key, value) for key, value in item.attributes.items()
            )
    return sorted(facts)


def _statement(fact: Fact) -> str:
    name, key, value = fact
    return f"The {name}: {key} is {value}."


def _paraphrase(fact: Fact) -> str:
    name, key, value = fact
    return f"It is {value} that one finds as {key} of what is called {name}."
