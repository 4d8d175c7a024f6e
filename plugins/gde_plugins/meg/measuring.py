"""The goal-directedness of any behaviour in any world, by one function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import copysign, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gde.data.mdp import Policy, TabularMDP
from gde.data.plan import Choice
from gde.parts.environment import Environment, HasMDP
from gde_plugins.meg.causal.diagram import Diagram, Node
from gde_plugins.meg.causal.libraries import from_pgmpy
from gde_plugins.meg.causal.targets import target_variables
from gde_plugins.meg.causal.utilities import (
    optimal,
    towards_utilities,
    towards_weighted_utilities,
)
from gde_plugins.meg.reading import (
    asked_policy,
    is_record,
    played_episodes,
    recorded_episodes,
    rewarded,
    started,
    tabulated,
)
from gde_plugins.meg.solvers.infinite_horizon import Divergent
from gde_plugins.meg.solvers.known import known_utility
from gde_plugins.meg.solvers.process import soft_policy
from gde_plugins.meg.solvers.result import Meg
from gde_plugins.meg.solvers.unknown import unknown_utility
from gde_plugins.meg.trajectories.action_sampling import try_out
from gde_plugins.meg.trajectories.black_box import lower_bound
from gde_plugins.meg.trajectories.estimation import from_trajectories, optimal_share
from gde_plugins.meg.trajectories.features import described
from gde_plugins.meg.trajectories.linear_utility import Linear
from gde_plugins.meg.trajectories.utilities import own_reward


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Maximum-entropy goal-directedness, and what the number rests on."""

    value: float | None
    """Nats an episode; 0 for behaviour as good as random."""
    share_of_optimal: float | None = None
    """Nats a decision, relative to those of an optimal agent: 1 for an optimal agent,
    negative for one that works against the utility. None for unknown utilities.
    """
    beta: float | None = None
    """Rationality in 1 / units of the utility; None where the utility was fitted."""
    bounds: tuple[float, float] | None = None
    """Of the value, as `certificate` says."""
    certificate: str = ""
    assumed: tuple[str, ...] = ()
    """What was not given."""
    reason: str = ""
    """Why there is no value."""
    found: Any = field(default=None, repr=False)
    """The measurement in full: a `Meg`, `SampledMeg` or `Estimate`."""


def measure(
    world: Any,
    behaviour: Any = None,
    *,
    towards: Any = None,
    unknown: Any = None,
    decisions: Sequence[str] = (),
    horizon: int | None = None,
    rng: np.random.Generator | None = None,
) -> Measured:
    """Measure MEG of a behaviour (MacDermott et al. 2024) towards one utility, or towards
    the best of a class.

    Args:
        world: a `TabularMDP`, an environment with one, transitions (A, S, S) as NumPy
            array or A SciPy matrices; a `Diagram` or a network of pgmpy; or a sampler:
            an environment, or a choice of one, e.g. by `from_gymnasium`.
        behaviour: a `Policy` or its probabilities (S, A) or (T, S, A); an object with
            `predict`, which is given (S,) states or one observation; a log with the
            columns episode, state and action; trajectories of a run. Of a diagram its
            own tables, or other ones by decision.
        towards: a utility (S,) or (S, A), a function of states, a set of target states,
            or the name of a label; of a diagram utilities or names of targets. None for
            the world's own reward.
        unknown: instead of `towards`: "states", "state-actions", features (S, K),
            utilities by name, or a torch module; of a log names of labels; of a diagram
            names of targets, or utilities to be weighted.
        decisions: variables of a diagram that decide.
        horizon: states that are visited in an episode; None until it ends.
        rng: for resampling; None for `numpy.random.default_rng(0)`.

    Raises:
        ValueError: something does not fit; the message names the row or the node.
    """
    if towards is not None and unknown is not None:
        raise ValueError(
            "wanted towards= or unknown=, got both: they are two questions"
        )
    rng = rng or np.random.default_rng(0)
    if isinstance(world, Diagram) or hasattr(world, "get_cpds"):
        return _in_diagram(world, behaviour, towards, unknown, decisions)
    if isinstance(world, Choice):
        world = started(world)
    if isinstance(world, Environment) and not isinstance(world, HasMDP):
        return _in_sampler(world, behaviour, towards, unknown, rng)

    mdp, assumed = tabulated(world)
    if towards is not None:
        mdp, utility = rewarded(mdp, towards)
        assumed.append(utility)
    elif unknown is None:
        if not mdp.reward.any():
            raise ValueError("the world pays nothing: give towards= or unknown=")
        assumed.append("the utility is the world's own reward")
    if is_record(behaviour):
        return _of_record(mdp, behaviour, unknown, rng, assumed)
    return _of_policy(mdp, asked_policy(behaviour, mdp), unknown, horizon, assumed)


def _of_policy(
    mdp: TabularMDP,
    policy: Policy,
    unknown: Any,
    horizon: int | None,
    assumed: list[str],
) -> Measured:
    length = "until they end" if horizon is None else f"for {horizon} states"
    assumed.append(f"episodes go on {length}")
    if unknown is not None:
        return _certified(unknown_utility(mdp, policy, unknown, horizon), None, assumed)
    found = known_utility(mdp, policy, horizon)
    best = None
    try:
        best = known_utility(mdp, soft_policy(mdp, inf, horizon), horizon).share
    except Divergent:
        assumed.append("an optimal agent need not end, as waiting is free")
    return _certified(found, best, assumed)


def _certified(found: Meg, best: float | None, assumed: list[str]) -> Measured:
    """Return the result of a solver, with the share of an optimal agent's ceiling."""
    share = None
    if best and found.share is not None:
        share = copysign(found.share, found.beta) / best
    is_proven = "proven" if found.converged else "proven, not to the tolerance"
    return Measured(
        value=found.value,
        share_of_optimal=share,
        beta=None if best is None else found.beta,
        bounds=found.bounds,
        certificate=is_proven,
        assumed=tuple(assumed),
        found=found,
    )


def _of_record(
    mdp: TabularMDP,
    record: Any,
    unknown: Any,
    rng: np.random.Generator,
    assumed: list[str],
) -> Measured:
    episodes = recorded_episodes(record, mdp)
    assumed.append("the agent knows no deadline")
    assumed.append("episodes are independent")
    if isinstance(unknown, str):
        raise ValueError(
            f"unknown: wanted a list of labels of the world for a log, got {unknown!r}"
        )
    pursuit = own_reward if unknown is None else Linear(tuple(unknown))
    found = from_trajectories(episodes, pursuit, rng=rng)
    share = None
    best = optimal_share(episodes) if unknown is None else 0.0
    if best and found.share is not None:
        share = copysign(found.share, found.beta) / best
    return Measured(
        value=found.value,
        share_of_optimal=share,
        beta=found.beta if unknown is None else None,
        bounds=found.interval,
        certificate=f"95 % interval over {found.n_clusters} episodes",
        assumed=tuple(assumed),
        reason=found.reason,
        found=found,
    )


def _in_sampler(
    world: Environment,
    behaviour: Any,
    towards: Any,
    unknown: Any,
    rng: np.random.Generator,
) -> Measured:
    if towards is not None or unknown not in {None, "states"}:
        raise ValueError(
            "a world that is only sampled bounds MEG towards any utility of states: leave out towards="
        )
    episodes = played_episodes(world, behaviour)
    inputs, features = described(world, world.reset(episodes[0].seed or 0))
    tried = try_out(world, episodes, inputs, rng=rng)
    found = lower_bound(tried, features, rng)
    low = found.interval[0] if found.interval else 0.0
    return Measured(
        value=found.value,
        bounds=(low, inf),
        certificate=f"lower bound at 97.5 % confidence from {len(episodes)} episodes",
        assumed=("the utility is any function of states",),
        found=found,
    )


def _in_diagram(
    world: Any,
    policies: Mapping[str, ArrayLike] | None,
    towards: Any,
    unknown: Any,
    decisions: Sequence[str],
) -> Measured:
    diagram = world if isinstance(world, Diagram) else from_pgmpy(world)
    diagram = diagram.posit(decisions).follow(policies or {})
    assumed = [] if policies else ["the decisions follow the diagram's tables"]
    given = unknown if towards is None else towards
    goals: list[Any] = [given] if isinstance(given, str | Node) else [*(given or ())]
    if goals and not isinstance(goals[0], Node):
        assumed.append(f"the utility is any function of {', '.join(map(str, goals))}")
        return _certified(target_variables(diagram, goals), None, assumed)
    diagram = diagram.posit(utilities=goals)
    if unknown is not None:
        assumed.append("the utility is any weighted sum of those given")
        return _certified(towards_weighted_utilities(diagram), None, assumed)
    best = optimal(diagram).share
    return _certified(towards_utilities(diagram), best, assumed)
