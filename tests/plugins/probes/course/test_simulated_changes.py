"""Changes of real random networks and of planted courses are seldom false, and large ones
are found. docs/course.md has the shares of more runs.
"""

import pytest
from simulated_changes import (
    BOTH,
    COURSES,
    TRUE,
    Played,
    called,
    false_changes,
    planted,
    played,
    random_reads,
)

from gde.numerics.controls import MANY
from gde_plugins.probes.course.changes import Read
from gde_plugins.probes.course.config import MAP_FALLS

pytest.importorskip("transformers", reason="needs the extra llm")
pytestmark = pytest.mark.extended

Reads = list[tuple[Read, Read]]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("played") / "run", 100)


@pytest.fixture(scope="module")
def reads(worlds: Played) -> Reads:
    return random_reads(worlds, MANY + 1)


def test_random_networks_do_not_change(worlds: Played, reads: Reads) -> None:
    for change, share in false_changes(worlds, reads).items():
        # More than 4 of 20 come in 3 of 1,000 runs at a level of 5 %.
        assert share * len(reads) <= (0 if change == BOTH else 4), change


@pytest.mark.parametrize("course", COURSES)
def test_no_others_than_planted_changes_are_called(
    worlds: Played, reads: Reads, course: str
) -> None:
    random = [ours for ours, _ in reads[:MANY]]
    ours = worlds.read(planted(worlds, course, 0))
    # A model whose text puts nothing there: what random networks hold after other prompts.
    _, theirs = reads[0]
    found = called(worlds.course(ours, theirs, random))
    assert found <= TRUE[course]
    # A text that says the move in 90 % leaves an action little room to rise above it.
    assert (MAP_FALLS in found) == (MAP_FALLS in TRUE[course])
