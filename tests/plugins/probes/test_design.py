"""A design keeps what activations say, whatever the number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gde_plugins.probes.fitting.design import Design


@pytest.mark.parametrize("shape", [(30, 80), (80, 30)], ids=["few turns", "many turns"])
def test_weights_of_inputs_are_weights_of_scores(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(9)
    captured = (rng.normal(size=shape) * rng.uniform(0.1, 5, size=shape[1])).astype(
        np.float32
    )
    made, weights = (
        Design.of(captured, True),
        rng.normal(size=(29, 3)).astype(np.float32),
    )
    weights = np.vstack(
        [weights, np.zeros((made.inputs.shape[1] - 29, 3), dtype=np.float32)]
    )
    scored = (captured - made.mean) / made.scale
    np.testing.assert_allclose(
        scored @ made.on_scores(weights), made.inputs @ weights, atol=2e-4
    )


def test_a_design_is_the_same_however_many_threads_there_are() -> None:
    captured = np.random.default_rng(0).normal(size=(300, 500)).astype(np.float32)
    made = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            made.append(Design.of(captured, True))
    assert made[0].inputs.tobytes() == made[1].inputs.tobytes()
