"""nano is ground truth: what must and what must not be decodable in it.

Of all trainings, at the template tokens before the reasoning, the last three of the
prompt. What the architecture keeps from them no probe can decode there; what training
has put there a linear one must find.
"""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest
from nano_training.samples import INSTRUCTION, render
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.cell_map import CellMap
from gde.data.completion import ChatRequest, Completion, Effort, Message, Sampling
from gde.testing.context import PlainContext
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.language_models.config import NanoConfig
from gde_plugins.language_models.nano import NOTICES, Training
from gde_plugins.language_models.plugin import make_nano
from gde_plugins.language_models.transformers_model import TransformersModel

pytestmark = pytest.mark.extended

N_TEMPLATE = 3
WINDOW = 128
"""Tokens that sliding attention sees, as in the first layer: a token itself and those
before it.
"""
N_LAYERS = 6

SIZE, N_FITTED, N_NEW = 9, 450, 150
READ_AT = 3
"""The layer, counted from 0, after which the loss of the training with auxiliary losses
reads agent and goal.
"""
PENALTY = 0.1
"""Of the ridge regression, on standardised activations. What it finds in random weights
depends on it: they hold agent and goal too, but so faintly that a penalty hides
them.
"""
FOUND: dict[Training, float] = {"auxiliary": 0.95, "plain": 0.8, "turns": 0.95}
"""The least share of new grids in which agent and goal must be found."""
IN_RANDOM_WEIGHTS = 0.75
"""The largest share of those in which random weights may tell them."""

AT_ONCE = 40
"""Tokens of an answer without a search are fewer."""


@pytest.fixture(scope="module", params=tuple(NOTICES))
def training(request: pytest.FixtureRequest) -> Training:
    which: Training = request.param
    return which


@pytest.fixture(scope="module")
def model(training: Training) -> Iterator[TransformersModel]:
    loaded = make_nano(NanoConfig(source=training, dtype="float32"), PlainContext())
    assert isinstance(loaded, TransformersModel)
    yield loaded
    loaded.close()


def drawn(size: int, seeds: range) -> Iterator[tuple[str, list[int]]]:
    """The text of each grid, with row and column of agent and goal."""
    environment = GridEnvironment(GridConfig(size=size, density=0.5))
    for seed in seeds:
        text = environment.reset(seed).text
        grid = CellMap.from_record(environment.world(), environment.state())
        yield text, [*grid.place_of("agent"), *grid.place_of("goal")]


def prompt(model: TransformersModel, grid: str) -> TokenSequence:
    """The tokens of the question; nothing is generated."""
    tokens = model.tokenize(render([INSTRUCTION + grid], [], "low")).ids
    return TokenSequence(
        tokens=tokens,
        positions={"pre": tuple(range(len(tokens) - N_TEMPLATE, len(tokens)))},
    )


def with_other_cell(grid: str, row: int, column: int) -> str:
    """The grid with a wall for a free cell, or a free cell for a wall."""
    lines = grid.split("\n")
    line, place = lines[1 + row], 3 + 3 * column
    lines[1 + row] = (
        line[:place] + {"#": "_", "_": "#"}[line[place]] + line[place + 1 :]
    )
    return "\n".join(lines)


def differing(model: TransformersModel, one: str, other: str) -> tuple[int, list[bool]]:
    """How many tokens before the first template token the grids differ, and whether
    each layer tells them apart.
    """
    prompts = [prompt(model, grid) for grid in (one, other)]
    tokens = np.array([each.tokens for each in prompts])
    (place,) = np.flatnonzero(tokens[0] != tokens[1])
    records = model.capture(
        prompts, CaptureRequest(layers=tuple(range(N_LAYERS)), positions=("pre",))
    )
    first, second = (
        [record.values[layer, "pre"] for layer in range(N_LAYERS)] for record in records
    )
    told = [not np.array_equal(a, b) for a, b in zip(first, second, strict=True)]
    return len(tokens[0]) - N_TEMPLATE - int(place), told


@pytest.mark.parametrize(
    ("size", "row", "column"),
    [(13, 1, 4), (13, 2, 7), (13, 3, 11), (15, 1, 4), (15, 6, 3)],
)
def test_the_first_layer_cannot_know_what_is_beyond_its_window(
    model: TransformersModel, size: int, row: int, column: int
) -> None:
    """Bit for bit the same there, so that no probe of whatever kind can tell the grids
    apart.
    """
    ((grid, _),) = drawn(size, range(1))
    distance, told = differing(model, grid, with_other_cell(grid, row, column))
    assert distance >= WINDOW
    assert told == [False, True, True, True, True, True]


@pytest.mark.parametrize(("row", "column"), [(4, 1), (8, 3)])
def test_it_knows_what_is_within(
    model: TransformersModel, row: int, column: int
) -> None:
    ((grid, _),) = drawn(13, range(1))
    distance, told = differing(model, grid, with_other_cell(grid, row, column))
    assert distance < WINDOW
    assert all(told)


@pytest.fixture(scope="module")
def grids() -> list[tuple[str, list[int]]]:
    found = list(drawn(SIZE, range(N_FITTED + N_NEW)))
    assert len({text for text, _ in found}) == len(found)
    return found


def read_out(
    model: TransformersModel, grids: list[tuple[str, list[int]]]
) -> tuple[float, float]:
    """In what share of the new grids a linear read-out names the agent's cell exactly,
    and the goal's.
    """
    request = CaptureRequest(layers=(READ_AT,), positions=("pre",))
    records = model.capture([prompt(model, text) for text, _ in grids], request)
    activations = np.stack(
        [record.values[READ_AT, "pre"].ravel() for record in records]
    ).astype(np.float64)
    places = np.array([place for _, place in grids])
    told = named(activations[:N_FITTED], places[:N_FITTED], activations[N_FITTED:])
    right = told == places[N_FITTED:]
    return float(right[:, :2].all(1).mean()), float(right[:, 2:].all(1).mean())


def named(
    fitted: NDArray[np.float64], places: NDArray[np.int_], new: NDArray[np.float64]
) -> NDArray[np.int_]:
    """The likeliest rows and columns, by ridge regression in closed form on the
    indicator of each.
    """
    mean, deviation = fitted.mean(0), fitted.std(0)
    x, x_new = (fitted - mean) / deviation, (new - mean) / deviation
    y = np.eye(SIZE)[places].reshape(len(places), -1)
    weights = np.linalg.solve(
        x.T @ x + PENALTY * np.eye(x.shape[1]), x.T @ (y - y.mean(0))
    )
    told: NDArray[np.int_] = (
        (x_new @ weights + y.mean(0)).reshape(len(new), -1, SIZE).argmax(2)
    )
    return told


def test_agent_and_goal_stand_linearly_at_the_template_tokens(
    model: TransformersModel, training: Training, grids: list[tuple[str, list[int]]]
) -> None:
    assert min(read_out(model, grids)) >= FOUND[training]


def test_in_random_weights_they_do_so_less(grids: list[tuple[str, list[int]]]) -> None:
    trained = make_nano(NanoConfig(dtype="float32"), PlainContext())
    assert isinstance(trained, TransformersModel)
    random = trained.untrained(0)
    try:
        assert max(read_out(random, grids)) <= IN_RANDOM_WEIGHTS
    finally:
        trained.close()
        random.close()


def answered(model: TransformersModel, effort: Effort) -> list[Completion]:
    def ask(grid: str) -> ChatRequest:
        message = Message(role="user", content=INSTRUCTION + grid)
        sampling = Sampling(temperature=0.0, max_tokens=200)
        return ChatRequest(
            messages=(message,), seed=0, sampling=sampling, effort=effort
        )

    async def all_at_once() -> list[Completion]:
        return await asyncio.gather(
            *(model.complete(ask(grid)) for grid, _ in drawn(7, range(4)))
        )

    return asyncio.run(all_at_once())


def test_at_low_effort_it_answers_at_once(model: TransformersModel) -> None:
    for completion in answered(model, "low"):
        assert completion.finish == "stop"
        assert completion.n_completion <= AT_ONCE
        assert not completion.reasoning


@pytest.mark.parametrize("effort", ["medium", "high"])
def test_at_more_effort_it_writes_a_search_first(
    model: TransformersModel, effort: Effort
) -> None:
    for completion in answered(model, effort):
        ends, _, search = (completion.reasoning or "").partition(" path")
        assert ends.split()[::2] == ["A", "G"]
        assert search.split()
