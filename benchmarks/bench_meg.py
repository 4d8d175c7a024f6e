"""Speed, memory and cost of MEG, with the published way in the same run: `python
benchmarks/bench_meg.py`.

`python benchmarks/bench_meg.py --plot docs/meg-cost.svg` measures the cost against the
number of states, the horizon and the number of policies, and draws it instead.

The published way is Algorithm 1 of MacDermott et al. (2024): gradient ascent on the
rationality, each step a soft value iteration and a pass forwards over one dense array
of transitions. It is computed twice: as `imitation` (Gleave et al.
2022) does, with SciPy's logsumexp and an einsum over three arrays, which cost most of
      its time on arrays this small;
and in plain NumPy. It is stopped twice: by the rule of such a library, at a gradient of
1e-4, which ours is held to as well; and, as it could not do by itself, as soon as it is
within 1e-6 nats of the exact value.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from sizes import size

from gde import Policy, TabularMDP
from gde.data.arrays import Doubles
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers.finite_horizon import Finite
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy

HERE = Path(__file__).parent
HORIZON = 30
SLOPE = 1e-4
"""Utility by which policies may differ at the end of a search."""
NATS = 1e-6
"""By which a value may differ from the exact one."""
EPSILONS = (0.1, 0.3, 0.5, 0.7, 0.9)
GIVEN_UP = size(1000, 3)
"""Steps of gradient ascent after which such a library stops."""
Step = Callable[[float, int], float]
"""The step to take, given the slope and the number of the step."""
Stop = Callable[[float, Doubles], bool]
"""Whether to stop, given the slope and the (H, S, A) predicted policy."""
LARGE = size((1_000_000, 10), (100, 10))
"""States and horizon of the measurement of memory."""


class Dense:
    """Soft value iteration on a dense (S, A, S) array and gradient ascent on the
    rationality, as in `imitation`.
    """

    def __init__(self, mdp: TabularMDP, policy: Doubles) -> None:
        self.transition = np.stack(
            [matrix.toarray() for matrix in mdp.transition], axis=1
        )
        self.start, self.reward, self.policy = mdp.start, mdp.reward, policy
        self.visits = self.occupancy(policy)
        self.earned = float((self.visits @ self.reward).sum())

    def plan(self, beta: float) -> Doubles:
        values, policy = np.zeros(len(self.reward)), np.empty_like(self.policy)
        for t in reversed(range(HORIZON)):
            quality = beta * self.reward[:, None] + self.transition @ values
            values = self.soft_maximum(quality)
            policy[t] = np.exp(quality - values[:, None])
        return policy

    def occupancy(self, policy: Doubles) -> Doubles:
        visits = np.zeros((HORIZON, len(self.reward)))
        visits[0] = self.start
        for t in range(HORIZON - 1):
            visits[t + 1] = self.next_visits(visits[t], policy[t])
        return visits

    def soft_maximum(self, quality: Doubles) -> Doubles:
        values: Doubles = logsumexp(quality, axis=1)
        return values

    def next_visits(self, visits: Doubles, policy: Doubles) -> Doubles:
        arrived: Doubles = np.einsum("s,sa,saz->z", visits, policy, self.transition)
        return arrived

    def accuracy(self, predicted: Doubles) -> float:
        seen = self.visits[:, :, None] * self.policy
        nats = np.log(
            predicted * predicted.shape[-1], where=seen > 0, out=np.zeros_like(seen)
        )
        return float((seen * nats).sum())

    def ascend(self, step: Step, stop: Stop) -> int | None:
        """Number of gradient steps until the slope and the predicted policy make it
        stop; None if given up.
        """
        beta = 0.0
        for number in range(GIVEN_UP):
            predicted = self.plan(beta)
            slope = self.earned - float((self.occupancy(predicted) @ self.reward).sum())
            if stop(slope, predicted):
                return number
            beta += step(slope, number)
        return None


class PlainDense(Dense):
    """The same in plain NumPy: what remains of the difference is that of the
    searches.
    """

    def soft_maximum(self, quality: Doubles) -> Doubles:
        best = quality.max(axis=1)
        values: Doubles = best + np.log(np.exp(quality - best[:, None]).sum(axis=1))
        return values

    def next_visits(self, visits: Doubles, policy: Doubles) -> Doubles:
        arrived: Doubles = (visits[:, None] * policy).ravel() @ self.transition.reshape(
            -1, len(visits)
        )
        return arrived


def adam(rate: float) -> Step:
    """Steps of Adam with its customary constants."""
    mean = square = 0.0

    def step(slope: float, number: int) -> float:
        nonlocal mean, square
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        spread = square / (1 - 0.999 ** (number + 1))
        return float(rate * mean / (1 - 0.9 ** (number + 1)) / np.sqrt(spread + 1e-16))

    return step


def plain(rate: float) -> Step:
    """Plain gradient steps."""
    return lambda slope, _: rate * slope


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The least processor time of several runs: others on the machine only ever add to
    it.
    """
    spent = []
    for _ in range(times):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def against_the_published_way() -> dict[str, object]:
    """Both ways on policies of the published tables (MacDermott et al. 2024, appendix
    D.1).
    """
    mdp = cliff_world()
    optimal = greedy(mdp, HORIZON)
    policies = {
        f"epsilon {epsilon}": epsilon_greedy(optimal, epsilon, "others")
        for epsilon in EPSILONS
    }
    return {
        name: _both_ways(mdp, policy)
        for name, policy in {"optimal": optimal, **policies}.items()
    }


def _both_ways(mdp: TabularMDP, policy: Policy) -> dict[str, object]:
    dense, meg = Dense(mdp, policy.probabilities), known_utility(mdp, policy, HORIZON)
    peers = {"imitation": dense, "numpy": PlainDense(mdp, policy.probabilities)}
    ours = seconds(lambda: known_utility(mdp, policy, HORIZON))
    figures: dict[str, object] = {"ms": round(1000 * ours, 2)}
    if np.isfinite(meg.beta):
        figures["slope"] = abs(
            dense.earned
            - float((dense.occupancy(dense.plan(meg.beta)) @ dense.reward).sum())
        )
    stops: dict[str, Stop] = {
        "slope 1e-4": lambda slope, _: abs(slope) <= SLOPE,
        "exact to 1e-6": lambda _, predicted: (
            abs(dense.accuracy(predicted) - meg.value) <= NATS
        ),
    }
    for (label, stop), (name, rate, steps) in product(
        stops.items(),
        (("adam", 0.01, adam), ("plain", 1e-4, plain), ("plain", 1e-3, plain)),
    ):
        reached = dense.ascend(steps(rate), stop)
        row: dict[str, object] = {
            "steps": f"{GIVEN_UP} and not there" if reached is None else reached
        }
        for peer, way in peers.items():
            spent = seconds(
                partial(_ascend_anew, way, partial(steps, rate), stop), times=2
            )
            row[f"ratio to {peer}"] = round(spent / ours, 1)
        figures[f"{name} {rate:g}, {label}"] = row
    return figures


def _ascend_anew(dense: Dense, steps: Callable[[], Step], stop: Stop) -> int | None:
    return dense.ascend(steps(), stop)


def large_grid() -> dict[str, float]:
    """64 x 64 cells, 4 actions, horizon 256."""
    side, horizon = size((64, 256), (4, 8))
    mdp = cliff_world(side, side)
    policy = epsilon_greedy(greedy(mdp, horizon), 0.2)
    process = Finite(mdp, horizon)
    utility = process.dynamics.utility(mdp.reward)

    def iteration() -> None:
        for _ in process.soft_steps(utility.scaled(0.1)):
            pass

    return {
        "soft_value_iteration_ms": round(1000 * seconds(iteration), 1),
        "known_utility_s": round(
            seconds(lambda: known_utility(mdp, policy, horizon), times=2), 3
        ),
    }


def unknown() -> dict[str, dict[str, float]]:
    """Any utility of states: seconds to the certified optimum and nats between its
    bounds.
    """
    figures = {}
    for width, height, horizon in size(((10, 4, 30), (16, 16, 64)), ((4, 4, 6),)):
        mdp = cliff_world(width, height)
        policy = epsilon_greedy(greedy(mdp, horizon), 0.3)
        started = time.process_time()
        meg = unknown_utility(mdp, policy, "states", horizon)
        spent = time.process_time() - started
        figures[f"{height}x{width}_h{horizon}"] = {
            "s": spent,
            "nats": meg.value,
            "between": meg.bounds[1] - meg.value,
        }
    return figures


def memory() -> dict[str, float]:
    """A whole known-utility measurement of 10^6 states in a process of its own: peak
    memory and time.
    """
    code = "import bench_meg; bench_meg.measure_large()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=HERE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def measure_large() -> None:
    """Print what `memory` reports."""
    n_states, horizon = LARGE
    side = int(np.sqrt(n_states))
    mdp = cliff_world(side, side)
    table = np.full((n_states, 4), 0.1)
    table[:, 3] = 0.7
    before = _peak_gib()
    started = time.process_time()
    meg = known_utility(mdp, Policy(probabilities=table), horizon)
    spent = time.process_time() - started
    figures = {
        "states": n_states,
        "horizon": horizon,
        "model_gib": before,
        "peak_gib": _peak_gib(),
        "s": spent,
    }
    sys.stdout.write(json.dumps({**figures, "converged": meg.converged}) + "\n")


def _peak_gib() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)


def cost() -> list[dict[str, object]]:
    """Seconds against each of what the cost depends on, the others held fixed."""
    by_states = [
        ("states", side * side, cliff_world(side, side), 64, 1)
        for side in (8, 16, 32, 64, 128)
    ]
    by_horizon = [
        ("horizon", horizon, cliff_world(32, 32), horizon, 1)
        for horizon in (16, 32, 64, 128, 256)
    ]
    by_policies = [
        ("policies", policies, cliff_world(32, 32), 64, policies)
        for policies in (1, 2, 4, 8, 16)
    ]
    return [_row(*each) for each in (*by_states, *by_horizon, *by_policies)]


def _row(
    what: str, size: int, mdp: TabularMDP, horizon: int, policies: int
) -> dict[str, object]:
    optimal = greedy(mdp, horizon)
    measured = [
        epsilon_greedy(optimal, epsilon) for epsilon in np.linspace(0.2, 0.6, policies)
    ]
    spent = seconds(
        lambda: [known_utility(mdp, policy, horizon) for policy in measured], times=3
    )
    return {"what": what, "size": size, "seconds": spent}


def plot(path: str) -> None:
    """Draw the cost on double logarithmic axes."""
    import altair as alt
    import vl_convert

    point = (
        alt.Chart()
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log"), title=None),
            y=alt.Y(
                "seconds:Q", scale=alt.Scale(type="log"), title="processor seconds"
            ),
        )
    )
    chart = point.properties(width=180, height=180).capability(
        alt.Capability("what:N", title=None), data={"values": cost()}
    )
    spec = chart.resolve_scale(x="independent").to_dict()
    Path(path).write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


def main() -> None:
    """Print one JSON object, or draw the cost."""
    if sys.argv[1:2] == ["--plot"]:
        plot(sys.argv[2])
        return
    figures = {
        "cliff_world_4x10": against_the_published_way(),
        "grid_64x64_h256": large_grid(),
        "unknown": unknown(),
        "large": memory(),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
