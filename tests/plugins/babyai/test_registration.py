"""BabyAI levels under Gymnasium's names."""

import gymnasium
import numpy as np
import pytest

from gde_plugins.gymnasium import register_environments


@pytest.mark.parametrize("observations", ["text", "map", "dict"])
def test_a_level_is_made_by_name(observations: str) -> None:
    register_environments()
    world = gymnasium.make("gde/BabyAI-GoToLocal-v0", observations=observations)
    shown, info = world.reset(seed=3)
    assert world.observation_space.contains(shown)
    assert info["state"]["carrying"] is None
    action = np.int64(2)
    _, _, terminated, truncated, info = world.step(action)
    assert (terminated, truncated) == (False, False)
    assert info["state"]["steps"] == 1
