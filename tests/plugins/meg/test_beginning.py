"""Where the search for a utility of states begins."""

import numpy as np
import pytest

from gde import TabularMDP
from gde_plugins.meg import soft_policy, unknown_utility
from gde_plugins.meg.solvers.beginning import beginning
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.worlds import random_mdp


@pytest.mark.parametrize("n_terminal", [0, 2])
def test_the_utilities_predict_a_soft_optimal_policy_nearly_as_well_as_any(n_terminal: int) -> None:
    mdp = random_mdp(np.random.default_rng(0), 30, 3, n_terminal=n_terminal)
    mdp = TabularMDP(**{**vars(mdp), "discount": 0.9})
    policy = soft_policy(mdp, 1.0, None)
    process = process_of(mdp, None)
    seen = observe(process, policy, on_actions=False)
    dynamics = process.dynamics
    utility = beginning(dynamics, seen.occupancy.taken)
    predicted = seen.occupancy.earns(dynamics.utility(utility)) - process.fit(dynamics.utility(utility)).value
    best = unknown_utility(mdp, policy, "states", None).value
    assert 0.8 * best < predicted <= best + 1e-9
