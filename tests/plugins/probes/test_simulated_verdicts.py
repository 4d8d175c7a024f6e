"""Verdicts of `cogmap` on real random networks and on noise are seldom false, and find
what a trained network holds. docs/statistics.md has the shares of 150 networks.
"""

from functools import partial
from pathlib import Path

import pytest
from simulated_verdicts import (
    Worlds,
    captured,
    exchanged_share,
    false_share,
    first_turns,
    found_share,
    noise,
    read,
    untrained,
)

from gde.numerics.controls import MANY
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.stages.context import Resources

pytest.importorskip("transformers", reason="needs the extra llm")
pytestmark = pytest.mark.extended

NETWORKS = MANY + 1
MOST = 4
"""False verdicts of 20, which a level of 5 % exceeds in 3 of 1,000 runs."""


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Worlds, object]:
    """The first turns of 120 worlds, and the model that played them."""
    folder: Path = tmp_path_factory.mktemp("runs") / "nano"
    run = first_turns(folder, 120)
    ready = resolve(run.plan(), Catalogue.default())
    return read(run), Resources(ready).models.white_box(ready.agent_model)


def test_a_random_network_is_no_model_and_a_trained_one_is(
    worlds: tuple[Worlds, object],
) -> None:
    turns, model = worlds
    network = partial(untrained, model, turns)
    reports = [turns.report(network(seed)) for seed in range(NETWORKS)]
    assert false_share(reports) * NETWORKS <= MOST
    ours = turns.report(captured(model, turns))
    assert found_share(ours, reports, draws=5) == 1


def test_noise_holds_nothing(worlds: tuple[Worlds, object]) -> None:
    turns, _ = worlds
    reports = [turns.report(noise(turns, seed)) for seed in range(NETWORKS)]
    assert false_share(reports) * NETWORKS <= MOST
    for report in reports:
        for name in ("code.agent", "code.goal"):
            # A guess takes 4.64 bits; learning that there is nothing costs little more.
            assert 4.5 < report.coded.scores[name].mean() < 4.64 + 0.3


def test_noise_is_as_good_as_noise_with_exchanged_labels(
    worlds: tuple[Worlds, object],
) -> None:
    turns, _ = worlds
    assert sum(exchanged_share(turns, seed) for seed in range(10)) <= 2
