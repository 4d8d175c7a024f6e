"""MEG for utilities that a neural network computes from features of states (MacDermott
et al. 2024, Algorithm 2).

The accuracy is concave in the utilities but not in the network's weights, so gradient
ascent gives a lower bound. The upper one is that of any function of states.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Occupancy
from gde_plugins.meg.solvers.process import Process
from gde_plugins.meg.solvers.result import Meg

if TYPE_CHECKING:
    from torch.nn import Module


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a network is fitted; the defaults are those of MacDermott et al. (2024) as
    far as they are known.
    """

    inputs: Floats | None = None
    """(S, F) inputs of the network for each state; None for the model's labels `row`
    and `column`, scaled to [0, 1].
    """
    learning_rate: float = 0.01
    """Of Adam."""
    steps: int = 1000
    """Gradient steps a start."""
    starts: int = 3
    """The first is from the network's own weights, each further one from weights drawn
    anew by its layers.
    """
    rng: np.random.Generator | None = None
    """For the further starts; None for `numpy.random.default_rng(0)`."""


class Trained(NamedTuple):
    """The best of one start."""

    value: float
    utility: Floats
    """(S,)"""


def perceptron(inputs: int, hidden: int = 256, seed: int = 0) -> "Module":
    """Make a network with one hidden layer of ReLU units and one output, with weights
    drawn from a seed.
    """
    import torch

    # The caller's own random numbers go on as if no network had been made.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first = torch.nn.Linear(inputs, hidden)
        last = torch.nn.Linear(hidden, 1)
    return torch.nn.Sequential(first, torch.nn.ReLU(), last)


def train(
    mdp: TabularMDP,
    process: Process,
    seen: Occupancy,
    network: "Module",
    training: Training,
    certified: Meg,
) -> Meg:
    """Fit a network from several starts, and return the best, with every start in the
    table of the result.

    Args:
        mdp: the model. process: soft-optimal behaviour in it. seen: the occupancy of
        the measured policy. network: from (S, F) inputs to (S,) or (S, 1) utilities; it
        is left as it is. training: how to fit it. certified: MEG with respect to any
        function of states, from which the upper bound is taken.

    Raises:
        ValueError: no inputs were given and the model has no labels to make them from,
        or shapes disagree.
    """
    inputs = _inputs(mdp, training)
    megs = {}
    for number, start in enumerate(_starts(network, training), start=1):
        fit = _fit(process, seen, start, inputs, training)
        megs[f"start {number}"] = _meg(process, fit, certified)
    best = max(megs, key=lambda name: megs[name].value)
    return replace(megs[best], name=best, table=megs)


def _inputs(mdp: TabularMDP, training: Training) -> Floats:
    """Return the (S, F) inputs that were given, else the places of the states."""
    given = training.inputs
    if given is not None:
        if given.ndim != 2 or len(given) != mdp.n_states:
            raise ValueError(
                f"inputs must have shape ({mdp.n_states}, F), got {given.shape}"
            )
        return given

    missing = {"row", "column"} - mdp.labels.keys()
    if missing:
        names = " or ".join(sorted(missing))
        raise ValueError(
            f"the network needs inputs (S, F): the model has no label {names} to make them from;"
            " give training=Training(inputs=...)"
        )
    place = np.stack([mdp.labels["column"], mdp.labels["row"]], axis=1)
    largest = place.max(axis=0)
    inputs: Floats = place / np.maximum(largest, 1)
    return inputs


def _starts(network: "Module", training: Training) -> "Iterator[Module]":
    """Yield copies of a network, the first as it is and the others with new weights."""
    import torch

    rng = training.rng or np.random.default_rng(0)
    yield deepcopy(network)
    for _ in range(training.starts - 1):
        anew = deepcopy(network)
        seed = int(rng.integers(2**63))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for layer in anew.modules():
                # Layers without weights, and many containers, have no such method.
                reset = getattr(layer, "reset_parameters", None)
                if callable(reset):
                    reset()
        yield anew


def _fit(
    process: Process,
    seen: Occupancy,
    network: "Module",
    inputs: Floats,
    training: Training,
) -> Trained:
    """Follow the gradient of the accuracy from one start, and return the best point on
    the way.
    """
    import torch

    dynamics = process.dynamics
    given = torch.as_tensor(inputs, dtype=torch.get_default_dtype())
    optimiser = torch.optim.Adam(network.parameters(), lr=training.learning_rate)

    # Utility zero is worth zero, so nothing worse is kept.
    best = Trained(0.0, np.zeros(dynamics.n_states))
    for _ in range(training.steps):
        optimiser.zero_grad()
        computed = network(given)
        if computed.numel() != dynamics.n_states:
            raise ValueError(
                f"the network must give {dynamics.n_states} utilities, got {tuple(computed.shape)}"
            )
        utility = computed.detach().numpy().astype(np.float64).ravel()

        fit = process.fit(dynamics.utility(utility))
        value = float(seen.visits @ utility) - fit.value
        if value > best.value:
            best = Trained(value, utility)

        # Minus the gradient by the utilities, since the optimiser minimises; torch
        # takes it on to the weights.
        excess = fit.counts(on_actions=False) - seen.visits
        slope = torch.as_tensor(excess, dtype=computed.dtype)
        computed.backward(slope.reshape(computed.shape))
        optimiser.step()
    return best


def _meg(process: Process, fit: Trained, certified: Meg) -> Meg:
    """Return the result of one start; the class of all functions of states bounds it
    from above.
    """
    _, upper = certified.bounds
    utility = process.dynamics.utility(fit.utility)
    return replace(
        certified,
        value=fit.value,
        bounds=(fit.value, upper),
        converged=False,
        utility=fit.utility,
        find_policy=partial(process.tabulate, utility, 1.0),
    )
