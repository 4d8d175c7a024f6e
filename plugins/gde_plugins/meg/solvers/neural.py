"""MEG for utilities that a neural network computes from features of states (MacDermott
et al. 2024, Algorithm 2).

The accuracy is concave in the utilities but not in the network's weights, so gradient
ascent gives a lower bound. The upper one is that of any function of states.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
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

    inputs: Doubles | None = None
    """(S, F) inputs of the network for each state; None for the model's labels `row`
    and `column`, scaled to [0, 1].
    """
    learning_rate: float = 0.01
    """Of Adam."""
    steps: int = 1000
    """Gradient steps."""


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
    """Follow the gradient of the accuracy from a network, and return the best point on
    the way; the class of all functions of states bounds it from above.

    Args:
        mdp: the model.
        process: soft-optimal behaviour in it.
        seen: the occupancy of the measured policy.
        network: from (S, F) inputs to (S,) or (S, 1) utilities; it is left as it is.
        training: how to fit it.
        certified: MEG with respect to any function of states, from which the upper
            bound is taken.

    Raises:
        ValueError: no inputs were given and the model has no labels to make them from,
            or shapes disagree.
    """
    import torch

    dynamics = process.dynamics
    network = deepcopy(network)
    inputs = _inputs(mdp, training)
    given = torch.as_tensor(inputs, dtype=torch.get_default_dtype())
    optimiser = torch.optim.Adam(network.parameters(), lr=training.learning_rate)

    # Utility zero is worth zero, so nothing worse is kept.
    best = 0.0
    found = np.zeros(dynamics.n_states)
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
        if value > best:
            best, found = value, utility

        # Minus the gradient by the utilities, since the optimiser minimises; torch
        # takes it on to the weights.
        excess = fit.counts(on_actions=False) - seen.visits
        slope = torch.as_tensor(excess, dtype=computed.dtype)
        computed.backward(slope.reshape(computed.shape))
        optimiser.step()

    _, upper = certified.bounds
    return replace(
        certified,
        value=best,
        bounds=(best, upper),
        converged=False,
        utility=found,
        find_policy=partial(process.tabulate, dynamics.utility(found), 1.0),
    )


def _inputs(mdp: TabularMDP, training: Training) -> Doubles:
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
    inputs: Doubles = place / np.maximum(largest, 1)
    return inputs
