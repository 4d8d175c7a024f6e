"""Time to score a behavioural study of full size: `python benchmarks/bench_behaviour.py
[WORLDS] [REPEATS]`.

The episodes are those of an agent that slips in three of ten steps, written directly,
so that only scoring is timed.
"""

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from sizes import size

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.numerics.tabular import Solution, solve
from gde.parts.metric import Metric
from gde.stages.scoring import score
from gde.testing.context import PlainContext
from gde_plugins.behaviour.plugin import gde_metrics
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment

CONDITIONS = [
    {"size": size, "density": density}
    for size in (7, 9, 11, 13, 15)
    for density in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
]
SLIP = 0.3
METRICS = (
    "success",
    "accuracy",
    "outcomes",
    "length",
    "policy",
    "calibration",
    "efficiency",
    "overlap",
    "difficulty",
)
TEXT = Observation(text="")


def study(worlds: int, repeats: int) -> Evidence:
    """Episodes on `worlds` grids, spread evenly over sizes and densities."""
    rng, models, trajectories = np.random.default_rng(0), {}, []
    for condition, labels in enumerate(CONDITIONS):
        environment = GridEnvironment(
            GridConfig(size=int(labels["size"]), density=labels["density"])
        )
        for index in range(worlds // len(CONDITIONS)):
            environment.reset(index)
            world, horizon, model = (
                environment.world(),
                environment.task().horizon,
                environment.mdp(),
            )
            models[world.id] = model
            solution = solve(model)
            for repeat in range(repeats):
                turns = tuple(_walk(model, solution, horizon, rng))
                trajectories.append(
                    Trajectory(
                        key=EpisodeKey(condition=condition, world=index, repeat=repeat),
                        seed=index,
                        world=world,
                        labels=dict(world.labels),
                        horizon=horizon,
                        turns=turns,
                        ending="terminated" if turns[-1].terminated else "horizon",
                    )
                )
    return Evidence(
        trajectories=tuple(trajectories), mdp=lambda one: models[one.world.id]
    )


def _walk(
    model: TabularMDP, solution: Solution, horizon: int, rng: np.random.Generator
) -> Iterator[Turn]:
    state = int(model.start.argmax())
    for index in range(horizon):
        best = solution.optimal[state].nonzero()[0]
        action = int(
            rng.integers(model.n_actions) if rng.random() < SLIP else rng.choice(best)
        )
        after = int(model.transition[action].indices[state])
        over = bool(model.terminal is not None and model.terminal[after])
        yield Turn(
            index=index,
            observation=TEXT,
            decision=Decision.act(model.actions[action]),
            reward=float(over),
            terminated=over,
            success=float(over),
            truncated=False,
            state=State(facts={}, index=state),
            optimal=tuple(model.actions[a] for a in best),
            value=float(solution.value[state]),
        )
        if over:
            return
        state = after


def _seconds(metric: tuple[str, Metric], evidence: Evidence) -> tuple[float, int]:
    started = time.perf_counter()
    name, made = metric
    measurements, failures = score([(name, lambda: made)], evidence, CONDITIONS)
    assert not failures, failures
    return time.perf_counter() - started, len(measurements)


def main() -> None:
    """Print one JSON object: seconds and measurements of each metric, on the whole and
    on each of 30 conditions.
    """
    worlds, repeats = (
        map(int, sys.argv[1:3]) if len(sys.argv) == 3 else size((1500, 10), (12, 2))
    )
    evidence = study(worlds, repeats)
    metrics = {
        offer.name: offer.made(offer.config(), PlainContext())
        for offer in gde_metrics()
        if offer.name in METRICS
    }
    timed = {name: _seconds((name, metrics[name]), evidence) for name in METRICS}
    figures = {
        "worlds": worlds,
        "episodes": len(evidence.trajectories),
        "turns": sum(len(trajectory.turns) for trajectory in evidence.trajectories),
        "seconds": {name: round(seconds, 2) for name, (seconds, _) in timed.items()},
        "measurements": sum(n for _, n in timed.values()),
        "seconds_in_all": round(sum(seconds for seconds, _ in timed.values()), 1),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
