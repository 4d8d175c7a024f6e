"""Time of the MEG metrics, in one batch and world by world: `python
benchmarks/bench_meg_metrics.py [EPISODES]`.

The episodes are those of the agent `noisy` on grids of 7 x 7, one in each. World by
world is the reference of the tests: soft value iteration in every world by itself,
which takes so long that it is given the first episodes only. The values of both are
compared. Drawing the bootstrap and the models of the worlds are in neither's power;
what they cost is given beside.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sizes import size

from gde import load_evidence
from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.stats import RESAMPLES
from gde.parts.metric import Metric
from gde.runs.evaluating import evaluate
from gde_plugins.meg.metrics.goals import known, towards, unknown

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "plugins" / "meg"))
from one_by_one import without_batches

METRICS: dict[str, Metric] = {"known": known, "to": towards, "unknown": unknown}
FEW = size(40, 6)
"""Episodes that are measured world by world too: 5 for each weight of `meg.unknown`,
and then some.
"""


def played(episodes: int, folder: Path) -> Evidence:
    """A run, read into memory, with the models of its worlds not made yet."""
    plan = Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="noisy"),
        episodes=episodes,
        metrics=(Choice(name="success"),),
    )
    evaluate(plan, folder)
    evidence = load_evidence(folder)
    return replace(
        evidence, trajectories=tuple(evidence.trajectories), mdp=_held(evidence)
    )


def _held(evidence: Evidence) -> Callable[[Trajectory], TabularMDP]:
    """The models of all worlds, each made once."""
    assert evidence.mdp is not None
    make, made = evidence.mdp, dict[str, TabularMDP]()

    def model(trajectory: Trajectory) -> TabularMDP:
        if trajectory.world.id not in made:
            made[trajectory.world.id] = make(trajectory)
        return made[trajectory.world.id]

    return model


def seconds(work: Callable[[], object]) -> float:
    """Processor time."""
    started = time.process_time()
    work()
    return time.process_time() - started


def make_models(evidence: Evidence) -> None:
    """Make the model of every world."""
    assert evidence.mdp is not None
    for trajectory in evidence.trajectories:
        evidence.mdp(trajectory)


def draw(evidence: Evidence) -> None:
    """Draw what the intervals of one utility take: two of them."""
    G, rng = (
        len({trajectory.world.cluster for trajectory in evidence.trajectories}),
        np.random.default_rng(0),
    )
    for _ in range(2):
        rng.multinomial(G, np.full(G, 1 / G), size=RESAMPLES)


def both_ways(evidence: Evidence) -> dict[str, object]:
    """Every metric in one batch and world by world."""
    figures: dict[str, object] = {}
    for name, metric in METRICS.items():
        spent, found = zip(
            *(
                _measured(metric, replace(evidence), batched)
                for batched in (True, False)
            ),
            strict=True,
        )
        figures[name] = {
            "ratio": round(spent[1] / spent[0], 1),
            "difference": _difference(*found),
        }
    return figures


def _measured(
    metric: Metric, evidence: Evidence, batched: bool
) -> tuple[float, Sequence[Measurement]]:
    found: list[Measurement] = []
    with nullcontext() if batched else without_batches():
        spent = seconds(lambda: found.extend(metric(evidence)))
    return spent, found


def _difference(found: Sequence[Measurement], other: Sequence[Measurement]) -> float:
    pairs = zip(_numbers(found), _numbers(other), strict=True)
    return max((abs(one - another) for one, another in pairs), default=0.0)


def _numbers(measurements: Sequence[Measurement]) -> list[float]:
    each = [
        number for one in measurements for number in (one.value, *(one.interval or ()))
    ]
    return [number for number in each if number is not None]


def measured(episodes: int, folder: Path) -> dict[str, object]:
    """All figures."""
    evidence = played(episodes, folder)
    models = seconds(lambda: make_models(evidence))
    spent = {
        name: round(seconds(partial(metric, evidence)), 2)
        for name, metric in METRICS.items()
    }
    return {
        "episodes": episodes,
        "seconds": spent,
        "seconds_of_models": round(models, 2),
        "seconds_of_draws_per_utility": round(seconds(lambda: draw(evidence)), 2),
        f"world_by_world_of_{FEW}": both_ways(
            replace(evidence, trajectories=evidence.trajectories[:FEW])
        ),
    }


def main() -> None:
    """Print one JSON object."""
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else size(1000, 6)
    with tempfile.TemporaryDirectory() as folder:
        figures = measured(episodes, Path(folder) / "run")
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
