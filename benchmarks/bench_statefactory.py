"""One encoding a trajectory, beside one of each pair of texts that is compared, in the
same run.

    python benchmarks/bench_statefactory.py [EMBEDDER] [TASKS] [TURNS]

Per pair is what a reward costs that asks the embedder for both texts whenever it
compares two, as the authors' released code does but for its cache. Both ways judge the
first turns of the same trajectories of the blocks world by the same rules, and must
give the same rewards. At least 10 times faster is wanted. Prints one JSON object.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sizes import size

from gde.data.observation import Observation, World
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.testing.samples import sample_evidence
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import DOMAINS
from gde_plugins.reward_prediction.files import Record
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.statefactory.embedding import Embedder, HashedWords, embedder
from gde_plugins.statefactory.model import StateFactory
from gde_plugins.statefactory.routing import fulfilment
from gde_plugins.statefactory.rules.extractor import RulesExtractor


class PerPair:
    """Stands for `Vectors`, and encodes two texts for every similarity."""

    def __init__(self, encoder: Any) -> None:
        self.encoder, self.pairs = encoder, 0

    def cosines(self, texts: Iterable[str], others: Iterable[str]) -> np.ndarray:
        """(n, m) similarities."""
        others = list(others)
        return np.array(
            [[self._cosine(text, other) for other in others] for text in texts]
        )

    def _cosine(self, text: str, other: str) -> float:
        self.pairs += 1
        a, b = (
            np.asarray(self.encoder([each])[0], dtype=np.float64)
            for each in (text, other)
        )
        return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def trajectories(n_tasks: int, n_turns: int) -> list[Transcript]:
    """Successes and failures of the blocks world."""
    base = next(one for one in sample_evidence(3).trajectories if one.turns)
    maker = Maker(DOMAINS["blocksworld"], Recipe())
    pairs = [maker.pair(index) for index in range(n_tasks)]
    maker.close()
    return [
        Transcript.of(_played(base, record, n_turns))
        for pair in pairs
        for record in pair.records
    ]


def _played(base: Trajectory, record: Record, n_turns: int) -> Trajectory:
    turns = (
        replace(
            base.turns[0],
            index=i,
            observation=Observation(text=step.observation),
            state=None,
        )
        for i, step in enumerate(record.steps[:n_turns])
    )
    return replace(
        base, world=World(id="w", facts={"objective": record.goal}), turns=tuple(turns)
    )


def batched(chosen: Sequence[Transcript], embed: Embedder) -> list[np.ndarray]:
    """As the reward model does it."""
    model = StateFactory(RulesExtractor(4), embed)
    return [asyncio.run(model.rewards(one)).values for one in chosen]


def per_pair(chosen: Sequence[Transcript], vectors: PerPair) -> list[np.ndarray]:
    """The same routing with an encoding a comparison."""
    readings = [RulesExtractor(4).reading(one) for one in chosen]
    return [
        np.array(
            [
                fulfilment(*turn, vectors)
                for turn in zip(one.states, one.goals, strict=True)
            ]
        )  # type: ignore[arg-type]
        for one in readings
    ]


def main() -> None:
    """Measure and print."""
    name, n_tasks, n_turns = (
        *sys.argv[1:],
        *[size("minilm", "words"), "1", size("3", "1")][len(sys.argv) - 1 :],
    )
    try:
        embed = embedder(name)
    except Exception as error:
        sys.stderr.write(f"{error}\n")
        name, embed = "words", HashedWords()
    chosen = trajectories(int(n_tasks), int(n_turns))
    raw = getattr(embed, "_model", None)
    encoder = (
        embed.encode
        if raw is None
        else lambda texts: raw.encode(texts, show_progress_bar=False)
    )
    encoder(["once, so that both find it warm"])
    start = time.perf_counter()
    first = batched(chosen, embed)
    took = time.perf_counter() - start
    pairs = PerPair(encoder)
    start = time.perf_counter()
    second = per_pair(chosen, pairs)
    took_pairs = time.perf_counter() - start
    figures = {
        "embedder": name,
        "trajectories": len(chosen),
        "comparisons": pairs.pairs,
        "batched_s": took,
        "per_pair_s": took_pairs,
        "times_faster": took_pairs / took,
        "largest_difference": max(
            float(np.abs(a - b).max()) for a, b in zip(first, second, strict=True)
        ),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
