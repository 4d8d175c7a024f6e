"""MEG for utilities that a neural network computes from features of states (MacDermott et al. 2024, Algorithm 2).

The accuracy is concave in the utilities but not in the network's weights, so gradient ascent gives a lower bound. The
upper one is that of any function of states.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Occupancy
from gde_plugins.meg.solvers.protocol import Process
from gde_plugins.meg.solvers.result import Meg

if TYPE_CHECKING:
    from torch.nn import Module


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a network is fitted; the defaults are those of MacDermott et al. (2024) as far as they are known."""

    inputs: Floats | None = None
    """(S, F) inputs of the network for each state; None for the model's labels `row` and `column`, scaled to [0, 1]."""
    learning_rate: float = 0.01
    """Of Adam."""
    steps: int = 1000
    """Gradient steps a start."""
    starts: int = 3
    """The first is from the network's own weights, each further one from weights drawn anew by its layers."""
    rng: np.random.Generator | None = None
    """For the further starts; None for `numpy.random.default_rng(0)`."""


class Trained(NamedTuple):
    """The best of one start."""

    value: float
    utility: Floats
    """(S,)"""


def perceptron(inputs: int, hidden: int = 256, seed: int = 0) -> "Module":
    """Make a network with one hidden layer of ReLU units and one output, with weights drawn from a seed."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1))


def train(
    mdp: TabularMDP, process: Process, seen: Occupancy, network: "Module", training: Training, certified: Meg
) -> Meg:
    """Fit a network from several starts, and return the best, with every start in the table of the result.

    Args:
        mdp: the model.
        process: soft-optimal behaviour in it.
        seen: the occupancy of the measured policy.
        network: from (S, F) inputs to (S,) or (S, 1) utilities; it is left as it is.
        training: how to fit it.
        certified: MEG with respect to any function of states, from which the upper bound is taken.

    Raises:
        ValueError: no inputs were given and the model has no labels to make them from, or shapes disagree.
    """
    inputs = _inputs(mdp, training)
    fits = [_fit(process, seen, start, inputs, training) for start in _starts(network, training)]
    megs = {f"start {number}": _meg(process, fit, certified) for number, fit in enumerate(fits, start=1)}
    best = max(megs, key=lambda name: megs[name].value)
    return replace(megs[best], name=best, table=megs)


def _inputs(mdp: TabularMDP, training: Training) -> Floats:
    if training.inputs is None:
        if missing := {"row", "column"} - mdp.labels.keys():
            raise ValueError(
                f"the network needs inputs (S, F): the model has no label {' or '.join(sorted(missing))} to make them"
                " from; give training=Training(inputs=...)"
            )
        place = np.stack([mdp.labels["column"], mdp.labels["row"]], axis=1)
        inputs: Floats = place / np.maximum(place.max(axis=0), 1)
        return inputs
    if training.inputs.ndim != 2 or len(training.inputs) != mdp.n_states:
        raise ValueError(f"inputs must have shape ({mdp.n_states}, F), got {training.inputs.shape}")
    return training.inputs


def _starts(network: "Module", training: Training) -> "Iterator[Module]":
    """Yield copies of a network, the first as it is and the others with new weights."""
    import torch

    rng = training.rng or np.random.default_rng(0)
    yield deepcopy(network)
    for _ in range(training.starts - 1):
        anew = deepcopy(network)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**63)))
            for layer in anew.modules():
                if callable(reset := getattr(layer, "reset_parameters", None)):
                    reset()
        yield anew


def _fit(process: Process, seen: Occupancy, network: "Module", inputs: Floats, training: Training) -> Trained:
    import torch

    dynamics = process.dynamics
    given = torch.as_tensor(inputs, dtype=torch.get_default_dtype())
    optimiser = torch.optim.Adam(network.parameters(), lr=training.learning_rate)
    best = Trained(0.0, np.zeros(dynamics.n_states))
    for _ in range(training.steps):
        optimiser.zero_grad()
        computed = network(given)
        if computed.numel() != dynamics.n_states:
            raise ValueError(f"the network must give {dynamics.n_states} utilities, got {tuple(computed.shape)}")
        utility = computed.detach().numpy().astype(np.float64).ravel()
        fit = process.fit(dynamics.utility(utility))
        value = float(seen.visits @ utility) - fit.value
        best = max(best, Trained(value, utility), key=lambda trained: trained.value)
        excess = fit.counts(on_actions=False) - seen.visits
        computed.backward(torch.as_tensor(excess, dtype=computed.dtype).reshape(computed.shape))
        optimiser.step()
    return best


def _meg(process: Process, fit: Trained, certified: Meg) -> Meg:
    return replace(
        certified,
        value=fit.value,
        bounds=(fit.value, certified.bounds[1]),
        converged=False,
        utility=fit.utility,
        find_policy=partial(process.tabulate, process.dynamics.utility(fit.utility), 1.0),
    )
