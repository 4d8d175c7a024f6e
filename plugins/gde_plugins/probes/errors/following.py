"""The metric `following`: which map does an action follow, the true, the decoded or the
stated one?
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.data.view import moves
from gde.numerics.episodes import finished, unmeasured
from gde_plugins.probes.arrays import Bools, Doubles, Indices, Worlds
from gde_plugins.probes.config import FollowingConfig
from gde_plugins.probes.errors.attribution import optimal_as_said, placed_map
from gde_plugins.probes.errors.said import Said
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, share_of_turns
from gde_plugins.probes.maps.policies import Believed

UNSTATED = (
    "no answer states a place or a map; set following.reasoning to the form that the"
    " model writes, or agent.map_query=true"
)
NO_MAP = "no turn has a certified optimum and a map with agent and goal"
NO_WAY = "no decoded map has a path from agent to goal"
ONE_WORLD = "all these turns are of one world"


@dataclass(frozen=True)
class Following:
    """Compare actions with the optimum on the true, the decoded and the stated map.

    - "following.true": share of actions that are optimal on the true map.
    - "following.stated": share of actions that are optimal on the stated places, or on
      the stated map. What is not said is as it is.
    - "following.decoded": share of actions that are optimal on the decoded map.

    ".shuffled" takes the maps of turns in other worlds: what such a map gives without
    any relation to the turn. Turns without a statement, or without a path on the
    decoded map, have no such number.

    Numbers without the label "fit" are of all turns. For each fit of a probe of maps
    there are those of held-out turns; its controls have "following.decoded" alone. n
    counts turns; intervals resample worlds.
    """

    config: FollowingConfig

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        known: dict[tuple[str, int], _Acted] = {}
        for trajectory in finished(evidence):
            for turn in trajectory.turns:
                acted = _acted(trajectory, turn, self.config.reasoning)
                if acted is not None:
                    known[str(trajectory.key), turn.index] = acted
        if not known:
            return [unmeasured("following.true", NO_MAP)]

        found = [*_measured([*known.values()], evidence.seed)]
        # Probes are fitted to whole runs, so parts of a run have no decoded maps.
        fits = [] if evidence.part else [*decoded_turns(evidence)]
        if not fits:
            found.append(unmeasured("following.decoded", NONE_DECODED))
        for fit in fits:
            found += fit.under([*_of_fit(fit, known, evidence.seed)])
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Acted:
    """An action, and which of the A actions are optimal on which map."""

    world: str
    """The cluster of its world."""
    taken: int
    """Index of the action; -1 for an unusable one."""
    true: tuple[bool, ...]
    stated: tuple[bool, ...]
    """None is, if nothing is said."""


def _acted(trajectory: Trajectory, turn: Turn, pattern: str) -> _Acted | None:
    known = moves(trajectory.world)
    true = placed_map(trajectory, turn)
    if true is None or not known or turn.optimal is None:
        return None
    said = Said.of(turn.decision, pattern, true)
    stated = set() if said.is_empty else optimal_as_said(said, true, known)
    names = [*known]
    action = turn.decision.action
    return _Acted(
        world=trajectory.world.cluster,
        taken=names.index(action) if action in names else -1,
        true=tuple(name in turn.optimal for name in names),
        stated=tuple(name in stated for name in names),
    )


def _of_fit(
    fit: DecodedTurns, known: Mapping[tuple[str, int], _Acted], seed: int
) -> Iterator[Measurement]:
    """The shares in the held-out turns of a fit."""
    held_out = []
    rows = []
    for row, pair in enumerate(zip(fit.trajectories, fit.turns, strict=True)):
        trajectory, turn = pair
        acted = known.get((str(trajectory.key), turn.index))
        if acted is not None:
            held_out.append(acted)
            rows.append(row)
    if untrained := fit.untrained("agent", "goal"):
        yield unmeasured("following.decoded", untrained)
    elif held_out:
        actions = moves(fit.trajectories[0].world)
        believed = Believed.likeliest(fit.decoded[rows], fit.classes)
        yield from _measured(held_out, seed, fit, believed.optimal(actions))


def _measured(
    turns: Sequence[_Acted],
    seed: int,
    fit: DecodedTurns | None = None,
    decoded: Bools | None = None,
) -> Iterator[Measurement]:
    """The share of actions that are optimal on each map, beside maps of other worlds."""
    taken = np.array([one.taken for one in turns], dtype=np.intp)
    worlds = np.array([one.world for one in turns])
    labels = fit.labels if fit else ()
    maps = []
    # These do not depend on the fit, so that controls would repeat them.
    if fit is None or fit.where["fit"] == "none":
        maps.append(("following.true", np.array([one.true for one in turns]), NO_MAP))
        stated = np.array([one.stated for one in turns])
        maps.append(("following.stated", stated, UNSTATED))
    if decoded is not None:
        maps.append(("following.decoded", decoded, NO_WAY))
    for name, optimal, reason in maps:
        has_way: Bools = np.asarray(optimal.any(axis=1))
        if not has_way.any():
            yield unmeasured(name, reason)
            continue
        among = taken[has_way], optimal[has_way], worlds[has_way]
        own = _taken(*among[:2])
        yield share_of_turns(name, own, among[2], seed, labels)
        if name != "following.true":
            yield _shuffled(f"{name}.shuffled", *among, seed, labels)


def _taken(taken: Indices, worth: Bools | Doubles) -> Doubles:
    """(N,) the worth (N, A) of the action taken; 0 for an unusable one."""
    values = worth[np.arange(len(taken)), taken].astype(np.float64)
    values[taken < 0] = 0
    return values


def _shuffled(
    name: str,
    taken: Indices,
    optimal: Bools,
    worlds: Worlds,
    seed: int,
    labels: tuple[str, ...],
) -> Measurement:
    """The expected share with the map of a turn in another world, drawn at random."""
    names, places = np.unique(worlds, return_inverse=True)
    if len(names) == 1:
        return unmeasured(name, ONE_WORLD)
    sums = np.zeros((len(names), optimal.shape[1]))
    np.add.at(sums, places, optimal)
    n_turns = np.bincount(places)

    elsewhere = sums.sum(axis=0) - sums
    n_elsewhere = len(taken) - n_turns
    shares = (elsewhere / n_elsewhere[:, None])[places]
    return share_of_turns(name, _taken(taken, shares), worlds, seed, labels)
