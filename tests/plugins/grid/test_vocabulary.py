"""Other words for the same world: text, rules, actions and model say the same thing
under new names.
"""

from pathlib import Path

import gymnasium
import pytest
from drawn_text import locate
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.data.cell_map import Position
from gde.data.evidence import Evidence
from gde.data.plan import Choice, Plan
from gde.data.view import moves
from gde.numerics.tabular import solve
from gde.request.settings import combinations
from gde.runs.evaluating import evaluate
from gde.stages.evidence import load_evidence
from gde.testing import check_environment
from gde.validating import marked
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.rendering.layout import render_text
from gde_plugins.grid.rendering.vocabulary import (
    EXAMPLE,
    Vocabulary,
    read_actions,
    read_symbols,
)
from gde_plugins.grid.solver.dynamics import tabulate
from gde_plugins.gymnasium import GymEnvironment
from gde_plugins.pages.episodes import films

COMPASS, PERMUTED, GLYPHS = (
    "NORTH/SOUTH/WEST/EAST",
    "RIGHT/LEFT/UP/DOWN",
    "A=@/G=X/#=W/_=.",
)
PLAIN = ("UP", "DOWN", "LEFT", "RIGHT")
few = settings(max_examples=30)


def begun(seed: int, **config: object) -> GridEnvironment:
    environment = GridEnvironment(GridConfig(**config))  # type: ignore[arg-type]
    environment.reset(seed)
    return environment


@pytest.mark.parametrize(
    "config", [{"actions": COMPASS}, {"actions": PERMUTED}, {"symbols": GLYPHS}]
)
def test_the_contract_holds_in_other_words(config: dict[str, str]) -> None:
    check_environment(lambda: GridEnvironment(GridConfig(**config)))  # type: ignore[arg-type]


@few
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(0, 3), max_size=30),
    st.sampled_from([COMPASS, PERMUTED]),
)
def test_renamed_episodes_run_as_plain_ones(
    seed: int, walk: list[int], actions: str
) -> None:
    plain, renamed = begun(seed), begun(seed, actions=actions, symbols=GLYPHS)
    names = actions.split("/")
    for index in walk:
        one, other = plain.step(PLAIN[index]), renamed.step(names[index])
        drawn = one.observation.text.translate(str.maketrans("AG#_", "@XW."))
        assert other.observation.text == drawn
        assert (
            other.observation.actions
            == tuple(names)
            == renamed.mdp().actions
            == renamed.task().actions
        )
        assert (one.reward, one.terminated) == (other.reward, other.terminated)
        assert plain.state() == renamed.state()
        if one.terminated:
            break


def test_the_old_names_are_no_longer_admissible() -> None:
    with pytest.raises(
        ValueError,
        match="the grid takes the actions NORTH, SOUTH, WEST, EAST, got 'UP'",
    ):
        begun(0, actions=COMPASS).step("UP")


def test_rules_and_objective_speak_in_the_words_of_the_world() -> None:
    task = begun(0, actions=COMPASS, symbols="A=@/#=W").task()
    for words in (
        "@ is the agent",
        "G the goal",
        "W a wall",
        "_ a free cell",
        "NORTH to the row above",
    ):
        assert words in task.rules
    assert "EAST to the column on the right" in task.rules
    assert "the agent @ to the goal G" in task.objective
    assert not any(plain in task.rules for plain in PLAIN)


@pytest.mark.parametrize("symbols", ["none", GLYPHS])
def test_the_worked_example_is_true(symbols: str) -> None:
    words = Vocabulary.read(COMPASS, symbols)
    way = ("EAST to (1, 2), EAST to (1, 3) and SOUTH to the goal", [3, 3, 1])
    assert way[0] in words.rules
    assert (
        words.redraw(render_text(EXAMPLE.rows, EXAMPLE.agent, EXAMPLE.goal))
        in words.rules
    )
    model = tabulate(EXAMPLE)
    state, solution = int(model.start.argmax()), solve(model)
    assert solution.value[state] == -len(way[1])
    for action in way[1]:
        assert solution.optimal[state].tolist() == [each == action for each in range(4)]
        state = int(model.transition[action].indices[state])
    assert [
        EXAMPLE.rows[row][column] for row, column in ((1, 2), (1, 3), (2, 1), (2, 2))
    ] == ["_", "_", "#", "#"]


def test_cells_are_found_under_any_symbol() -> None:
    plain, renamed = begun(3, size=11), begun(3, size=11, symbols=GLYPHS)
    texts = [
        environment.restore(environment.snapshot()).text
        for environment in (plain, renamed)
    ]
    assert locate(texts[0]) == locate(texts[1])


def test_counterfactuals_in_other_words_are_variations_of_one_world() -> None:
    plain, renamed = begun(0).world(), begun(0, actions=COMPASS).world()
    assert plain.id != renamed.id
    assert plain.cluster == renamed.cluster == plain.id
    assert (plain.labels["actions"], plain.labels["symbols"]) == ("none", "none")
    assert (renamed.labels["actions"], renamed.labels["symbols"]) == (COMPASS, "none")
    assert renamed.facts["moves"] == {
        "NORTH": [-1, 0],
        "SOUTH": [1, 0],
        "WEST": [0, -1],
        "EAST": [0, 1],
    }
    assert plain.facts["rows"] == renamed.facts["rows"]


def test_gymnasium_knows_the_names() -> None:
    made = gymnasium.make("gde_plugins.gymnasium:gde/Grid-v0", actions=COMPASS)
    environment = made.unwrapped
    assert isinstance(environment, GymEnvironment)
    assert environment.actions == ("NORTH", "SOUTH", "WEST", "EAST")
    assert environment.reset(seed=0)[1]["action_mask"].tolist() == [1, 1, 1, 1]


def test_an_optimal_agent_goes_the_same_ways_under_any_names(tmp_path: Path) -> None:
    config = {"actions": ["none", COMPASS, PERMUTED], "symbols": GLYPHS}
    optimal = Choice(name="optimal", config={"ties": "first"})
    evaluate(
        Plan(environment=Choice(name="grid", config=config), agent=optimal, episodes=6),
        tmp_path / "run",
    )
    ways: dict[object, list[list[Position]]] = {}
    for trajectory in load_evidence(tmp_path / "run").trajectories:
        assert all(
            turn.decision.action in (turn.optimal or ()) for turn in trajectory.turns
        )
        assert trajectory.succeeded
        known = moves(trajectory.world)
        taken = [known[str(turn.decision.action)] for turn in trajectory.turns]
        ways.setdefault(trajectory.labels["actions"], []).append(taken)
        made = films(Evidence(trajectories=(trajectory,)))
        assert made is not None and "optimal moves" in made.legend
    assert len(ways["none"]) == 6
    assert ways["none"] == ways[COMPASS] == ways[PERMUTED]


def test_a_sweep_over_names_is_no_name() -> None:
    swept, _ = combinations(
        GridConfig,
        marked({"actions": f"none,{COMPASS}", "symbols": f"none,{GLYPHS}"}),
        "env",
    )
    assert swept == {"actions": ["none", COMPASS], "symbols": ["none", GLYPHS]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "N",
        "N/S/W",
        "N/S/W/W",
        "N/S/W/E/Q",
        "N/S/W/1",
        "N/S/W/e e",
        "N,S,W,E",
        "///",
    ],
)
def test_refused_actions(text: str) -> None:
    with pytest.raises(
        ValueError,
        match="none, or four distinct names for UP, DOWN, LEFT, RIGHT separated by /",
    ):
        read_actions(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "A=",
        "A=@@",
        "A=G",
        "A=1",
        "A= ",
        "B=@",
        "A=@/A=X",
        "A=,",
        "A=é",
        "A=@,G=X",
    ],
)
def test_refused_symbols(text: str) -> None:
    with pytest.raises(
        ValueError,
        match="none, or other characters for some of A, G, #, _ separated by /",
    ):
        read_symbols(text)


def test_symbols_may_change_places() -> None:
    assert read_symbols("A=G/G=A") == ("G", "A", "#", "_")
    assert read_symbols("none") == Vocabulary().symbols
    assert read_symbols("#==") == ("A", "G", "=", "_")
