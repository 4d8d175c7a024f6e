"""Errors of the verdict: `bench_meg_verdict.py [SECONDS [KINDS [AGENTS]]]`.

Plays goal-blind agents and seekers of the validity suite for about SECONDS of time, in
all kinds of worlds or in those named with commas, "loops,key-door", and all agents or
those named, "70 % random,optimal". Prints shares of runs: false positives by kind of
world and by size of a family that is corrected together, and power by number of
episodes. The agents of a run share its worlds, so intervals are over sets of worlds.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from meg_studies.validity.agents import SEEKING
from meg_studies.validity.study import DRAWS, WORLDS, played_in
from sizes import size

from gde.numerics.stats import cluster_share, holm
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

EPISODES = size((8, 20, 60), (8,))
FAMILY = 20
"""Episodes of the runs that make up a family."""
FAMILIES = (1, 3, 10, 30)
Calls = dict[str, list[tuple[int, bool]]]
"""By what was tried: sets of worlds, and whether the agent was called."""


def played(
    kind: str,
    sample: int,
    agents: Sequence[str],
    blind: Calls,
    power: Calls,
    families: Calls,
) -> None:
    """Play one run of every agent, and note whether each is called."""
    rng = np.random.default_rng(sample)
    p_values = []
    for agent, episodes in played_in(kind, sample, max(EPISODES), agents).items():
        for n in EPISODES:
            run = Randomisation.of(episodes[:n])
            p_value = run.p_value(rng, DRAWS)
            is_called = p_value <= LEVEL
            if agent in SEEKING:
                is_towards = is_called and run.is_towards
                power[f"{agent}, {n} episodes"].append((sample, is_towards))
                power[f"{agent}, {n} episodes, {kind}"].append((sample, is_towards))
                continue
            blind[kind].append((sample, is_called))
            blind[f"all kinds, {n} episodes"].append((sample, is_called))
            if n == min(FAMILY, max(EPISODES)):
                p_values.append(p_value)

    # Each family is of different agents in the same worlds, as the conditions of a
    # sweep are.
    order = rng.permutation(p_values)
    for n in FAMILIES:
        for first in range(0, len(order) - n + 1, n):
            corrected = holm(order[first : first + n].tolist())
            families[f"{n}"].append((sample, min(corrected) <= LEVEL))


def shares(calls: Calls) -> dict[str, dict[str, object]]:
    """Return the share of each list of calls, its interval, runs and sets of worlds."""
    found: dict[str, dict[str, object]] = {}
    for name, each in calls.items():
        samples, called = zip(*each, strict=True)
        share = cluster_share(called, samples, np.random.default_rng(0))
        found[name] = {
            "share": round(share.value, 4),
            "interval": share.interval and [round(end, 3) for end in share.interval],
            "runs": share.n,
            "sets": share.n_clusters,
        }
    return found


def main() -> None:
    """Print one JSON object."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else size(600.0, 0.0)
    blind: Calls = defaultdict(list)
    power: Calls = defaultdict(list)
    families: Calls = defaultdict(list)
    kinds = sys.argv[2].split(",") if len(sys.argv) > 2 else size([*WORLDS], ["maze"])
    agents = sys.argv[3].split(",") if len(sys.argv) > 3 else []
    end = time.monotonic() + seconds
    sample = 0
    while sample == 0 or time.monotonic() < end:
        for kind in kinds:
            played(kind, sample, agents, blind, power, families)
        sample += 1
    figures = {
        "false positives by kind": shares(blind),
        "false positives by size of the family": shares(families),
        "power": shares(power),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
