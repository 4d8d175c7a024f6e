"""Worlds that are shown alike, which no split may part.

A reflected grid may be the grid of another seed, and in fog two grids may show the same
cells. If one such world were trained on and the other held out, a probe that has
learned the first by heart would seem to read the second.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

import scipy

from gde.data.trajectory import Trajectory


def joined_clusters(trajectories: Iterable[Trajectory]) -> Mapping[str, str]:
    """Return the cluster of each episode, where clusters with worlds alike are one.

    Worlds are alike if they have the same id, or the same objective, first observation
    and recorded first state. A first observation that all worlds share shows nothing of
    them, and makes none alike.
    """
    clusters: dict[str, str] = {}
    views: dict[str, str] = {}
    joined = scipy.cluster.hierarchy.DisjointSet()
    with_id: dict[str, str] = {}
    for one in trajectories:
        episode = str(one.key)
        cluster = one.world.cluster
        clusters[episode] = cluster
        joined.add(cluster)
        joined.merge(with_id.setdefault(one.world.id, cluster), cluster)
        if one.turns:
            views[episode] = _first_view(one)

    with_view: dict[str, str] = {}
    if len(set(views.values())) > 1:
        for episode, view in views.items():
            cluster = clusters[episode]
            joined.merge(with_view.setdefault(view, cluster), cluster)

    # Clusters that are one go by the first of their names in sorted order.
    names: dict[str, str] = {}
    for alike in joined.subsets():
        names.update(dict.fromkeys(alike, min(alike)))
    return {episode: names[cluster] for episode, cluster in clusters.items()}


def _first_view(one: Trajectory) -> str:
    """A digest of what the agent is shown first, and of the state in which it is."""
    turn = one.turns[0]
    facts = dict(turn.state.facts) if turn.state else None
    content = [one.world.objective, turn.observation.text, facts]
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
