"""Goal-directedness in large worlds, ours and the plain way of `sparse_peers` in one
run.

`bench_meg_sparse.py [SIDE [CASES]]`: worlds have SIDE * SIDE states, 100 * 100 unless
told, and horizons of 32. Prints processor seconds and their ratios for all cases, or
for those named with commas, "unknown spread,known corner". "sweep" is one pass of soft
value iteration, beside the memory bandwidth of a copy; 316 makes 10^5 states.
`bench_meg_sparse.py SIDE memory` measures known utility from anywhere at a horizon of
10, each way in a process of its own, and prints what is needed beyond the model too.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from bench_meg import seconds
from random_models import random_mdp, random_policy
from sizes import size
from sparse_peers import Endless, Sparse, fit, rationality

from gde import Policy, TabularMDP
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers.finite_horizon import Finite
from gde_plugins.meg.worlds import (
    cliff_world,
    epsilon_greedy,
    greedy,
)

HERE = Path(__file__).parent
HORIZON = 32
SECONDS = float(os.environ.get("SECONDS", size("240", "1")))
"""Of processor time after which L-BFGS is stopped."""
TIMES = int(os.environ.get("TIMES", size("3", "1")))
"""Ours is run so often, since it is short, and the least time counts; L-BFGS, hundreds
of evaluations, is run once.
"""
Figures = dict[str, float | bool]


def comparison(side: int, named: list[str]) -> dict[str, Figures]:
    """The plain way over sparse matrices (`sparse_peers`) and ours, one after the
    other, in processor seconds.

    A corner: episodes start there, and most of the world is out of their reach, which
    both ways set aside. Spread: they start anywhere. Random: any state may follow any other. L-BFGS is timed until
    it is as near to our upper bound as our tolerance asks, which it cannot know
    ("told"), and until its own gradient proves it ("certified").
    """
    corner, entangled = (
        cliff_world(side, side),
        random_mdp(np.random.default_rng(0), side**2, 4),
    )
    spread = replace(corner, start=np.full(side**2, 1 / side**2))
    noisy = epsilon_greedy(greedy(corner, HORIZON), 0.3, "others")
    anything = random_policy(np.random.default_rng(1), entangled)
    cases = {
        "corner": (corner, noisy),
        "spread": (spread, noisy),
        "random": (entangled, anything),
    }
    endless = replace(spread, discount=0.99)
    work: dict[str, Callable[[], Figures]] = {
        **{
            f"unknown {name}": partial(_unknown_beside, *case)
            for name, case in cases.items()
        },
        **{
            f"known {name}": partial(_known_beside, *case, HORIZON)
            for name, case in cases.items()
        },
        "known endless": partial(
            _known_beside,
            endless,
            random_policy(np.random.default_rng(1), endless),
            None,
        ),
        "sweep": partial(_sweep_beside, spread, noisy),
    }
    return {name: work[name]() for name in named or work}


def _unknown_beside(mdp: TabularMDP, policy: Policy) -> Figures:
    times = []
    for _ in range(TIMES):
        started = time.process_time()
        meg = unknown_utility(mdp, policy, "states", HORIZON)
        times.append(time.process_time() - started)
    ours, started = min(times), time.process_time()
    peer = Sparse(mdp, policy, HORIZON)
    begun, close = time.process_time() - started, 1e-6 * meg.ceiling
    figures: Figures = {
        "s": ours,
        "reached": len(peer.states),
        "between": meg.bounds[1] - meg.value,
    }
    for until, (evaluations, spent) in fit(
        peer, meg.bounds[1] - close, close, SECONDS
    ).items():
        figures |= {
            f"{until} evaluations": evaluations,
            f"{until} ratio": (begun + spent) / ours,
        }
    return figures


def _known_beside(mdp: TabularMDP, policy: Policy, horizon: int | None) -> Figures:
    started = time.process_time()
    meg = known_utility(mdp, policy, horizon)
    ours = time.process_time() - started
    started = time.process_time()
    peer = Endless(mdp, policy) if horizon is None else Sparse(mdp, policy, horizon)
    reward = mdp.reward[peer.states]
    beta = rationality(peer, reward)
    theirs = time.process_time() - started
    off = abs(meg.value + peer.loss(beta * reward)[0])
    return {
        "s": ours,
        "plain_s": theirs,
        "evaluations": peer.evaluations,
        "apart": off,
        "ratio": theirs / ours,
    }


def _sweep_beside(mdp: TabularMDP, policy: Policy) -> Figures:
    """One pass for all states, and the rate of the bytes that it cannot do without: the
    transitions, the values before and after, and the policy.
    """
    process, peer = Finite(mdp, HORIZON), Sparse(mdp, policy, HORIZON)
    utility = process.dynamics.utility(mdp.reward)
    ours = seconds(lambda: [*process.soft_steps(utility)][-1], TIMES) / HORIZON
    plain = seconds(lambda: peer.soft(mdp.reward), TIMES) / HORIZON
    ahead = peer.ahead
    moved = ahead.data.nbytes + ahead.indices.nbytes + ahead.indptr.nbytes
    moved += (2 + mdp.n_actions) * mdp.reward.nbytes
    # A copy reads and writes; much larger than any cache.
    block = np.ones(size(2**26, 2**10))
    copying = seconds(partial(np.copyto, block.copy(), block), TIMES)
    copied = 2 * block.nbytes / copying
    return {
        "states": mdp.n_states,
        "ms": 1e3 * ours,
        "ratio": plain / ours,
        "GB_per_s": moved / ours / 1e9,
        "copy_GB_per_s": copied / 1e9,
    }


def memory(side: int) -> dict[str, Figures]:
    """Seconds and peak memory beyond the model in GiB of a known utility, each way in a
    process of its own.
    """
    figures = {}
    for way in ("ours", "plain"):
        code = f"import bench_meg_sparse; bench_meg_sparse.alone({way!r}, {side})"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, check=True
        )
        figures[way] = json.loads(done.stdout)
    return figures


def alone(way: str, side: int) -> None:
    """Print what `memory` reports of one way."""
    mdp = replace(cliff_world(side, side), start=np.full(side**2, 1 / side**2))
    policy = Policy(probabilities=np.tile([0.1, 0.1, 0.1, 0.7], (side**2, 1)))
    before, started = _peak_gib(), time.process_time()
    if way == "ours":
        beta = known_utility(mdp, policy, 10).beta
    else:
        peer = Sparse(mdp, policy, 10)
        beta = rationality(peer, mdp.reward[peer.states])
    spent = time.process_time() - started
    sys.stdout.write(
        json.dumps({"s": spent, "beyond_gib": _peak_gib() - before, "beta": beta})
    )


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Print one JSON object."""
    side, which = (
        int((*sys.argv, size(100, 5))[1]),
        sys.argv[2] if len(sys.argv) > 2 else "",
    )
    figures = (
        memory(side)
        if which == "memory"
        else comparison(side, which.split(",") if which else [])
    )
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
