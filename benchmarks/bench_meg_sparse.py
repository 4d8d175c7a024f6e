"""Goal-directedness in large worlds, ours and the plain way of `sparse_peers` in one run: `bench_meg_sparse.py [SIDE]`.

Worlds have SIDE * SIDE states, 100 * 100 unless told, and horizons of 32. Prints processor seconds and their ratio.
"""

import json
import sys
import time
from dataclasses import replace

import numpy as np
from sparse_peers import Endless, Sparse, fit, rationality

from gde import Policy, TabularMDP
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy, random_mdp, random_policy

HORIZON = 32
EVALUATIONS = 600
"""After which L-BFGS is stopped."""


def side_by_side(side: int) -> dict[str, dict[str, float | bool]]:
    """The plain way over sparse matrices (`sparse_peers`) and ours, one after the other, in processor seconds.

    A corner: episodes start there, and most of the world is out of their reach. Spread: they start anywhere. Random:
    any state may follow any other. L-BFGS is stopped as soon as it is as near to the upper bound as our tolerance
    asks, which it cannot know.
    """
    corner, entangled = cliff_world(side, side), random_mdp(np.random.default_rng(0), side**2, 4)
    spread = replace(corner, start=np.full(side**2, 1 / side**2))
    noisy = epsilon_greedy(greedy(corner, HORIZON), 0.3, "others")
    anything = random_policy(np.random.default_rng(1), entangled)
    cases = {"corner": (corner, noisy), "spread": (spread, noisy), "random": (entangled, anything)}
    figures = {f"unknown, {name}": _unknown_beside(*case) for name, case in cases.items()}
    figures |= {f"known, {name}": _known_beside(*case, HORIZON) for name, case in cases.items()}
    endless = replace(spread, discount=0.99)
    return figures | {
        "known, no horizon": _known_beside(endless, random_policy(np.random.default_rng(1), endless), None)
    }


def _unknown_beside(mdp: TabularMDP, policy: Policy) -> dict[str, float | bool]:
    started = time.process_time()
    meg = unknown_utility(mdp, policy, "states", HORIZON)
    ours = time.process_time() - started
    started = time.process_time()
    peer = Sparse(mdp, policy, HORIZON)
    there = fit(peer, meg.bounds[1] - max(meg.bounds[1] - meg.value, 1e-6 * meg.ceiling), EVALUATIONS)
    theirs = time.process_time() - started
    gap = meg.bounds[1] - meg.value
    return {
        "s": ours,
        "between": gap,
        "plain_s": theirs,
        "evaluations": peer.evaluations,
        "there": there,
        "ratio": theirs / ours,
    }


def _known_beside(mdp: TabularMDP, policy: Policy, horizon: int | None) -> dict[str, float | bool]:
    started = time.process_time()
    meg = known_utility(mdp, policy, horizon)
    ours = time.process_time() - started
    started = time.process_time()
    peer = Endless(mdp, policy) if horizon is None else Sparse(mdp, policy, horizon)
    beta = rationality(peer, mdp.reward)
    theirs = time.process_time() - started
    off = abs(meg.value + peer.loss(beta * mdp.reward)[0])
    return {"s": ours, "plain_s": theirs, "evaluations": peer.evaluations, "apart": off, "ratio": theirs / ours}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(side_by_side(int((*sys.argv, 100)[1])), indent=1) + "\n")
