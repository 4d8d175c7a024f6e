"""What nano is trained on: a grid's prompt and the tokens that should follow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gde.data.grid import Grid, Position
from gde.parts.environment import HasState
from gde_plugins.language_models.nano.tokenizer import coordinates
from gde_plugins.language_models.nano.tracing import CellNotes, annotate, answer, distances, search

INSTRUCTION = "Go from A to G by the shortest way; # is wall, _ is free.\n"
"""What comes before the grid in an episode: the gpt-oss agent's compact style."""
PRACTICE = "Trace ways.\n"
"""What comes before the grid in a practice sample: several traces between random cells, each with its move."""
N_PRACTICE = 4
LONGEST = {"episode": 128, "practice": 60}
EFFORTS = ("low", "medium", "high")
DENSITIES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 0.8, 0.9, 1, 1, 1, 1)
"""Drawn from uniformly."""

Kind = Literal["episode", "practice"]
MakeEnvironment = Callable[[int, float], HasState]
"""A grid world of a size and a density."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One grid and what there is to say about it."""

    grid: Grid
    prompt: str
    tokens: tuple[str, ...]
    """The continuation, each a token of the vocabulary."""
    notes: dict[int, CellNotes]
    """Index in `tokens` of every traced cell, and what is to be known there."""


def render(content: str, effort: str) -> str:
    """The prompt, as the chat template renders one user message."""
    system = f"<|start|>system<|message|>Reasoning: {effort}<|end|>"
    return f"{system}<|start|>user<|message|>{content}<|end|><|start|>assistant"


def draw_sample(kind: Kind, environment: HasState, seed: int, rng: np.random.Generator) -> Sample:
    """A sample on the environment's grid of this seed."""
    text = environment.reset(seed).text
    grid = Grid.from_record(environment.world(), environment.state())
    free = [(int(row), int(column)) for row, column in np.argwhere(~grid.walls)]
    ways = [(grid.agent, grid.goal)]
    if kind == "practice":
        ways += [_pair(free, rng) for _ in range(N_PRACTICE - 1)]
    tokens, notes = ["<|channel|>", "analysis", "<|message|>"], {}
    for start, goal in ways:
        steps = distances(grid.walls, goal)
        trace = search(grid.walls, start, goal, steps, rng, longest=LONGEST[kind])
        tokens += [" A", coordinates(*start), " G", coordinates(*goal), " path"]
        notes |= dict(enumerate(annotate(grid.walls, trace), start=len(tokens)))
        tokens += [coordinates(*position) for position in trace]
        move = answer(grid.walls, steps, trace, rng)
        if kind == "practice":
            tokens += [" move", f" {move}"]
    tokens.append("<|end|>")
    if kind == "episode":
        tokens += ["<|start|>", "assistant", "<|channel|>", "final", "<|message|>", '{"action": "', move, '"}']
        tokens.append("<|return|>")
    opening = INSTRUCTION if kind == "episode" else PRACTICE
    prompt = render(opening + text, EFFORTS[int(rng.integers(len(EFFORTS)))])
    return Sample(grid=grid, prompt=prompt, tokens=tuple(tokens), notes=notes)


def _pair(free: list[Position], rng: np.random.Generator) -> tuple[Position, Position]:
    start, goal = rng.choice(len(free), 2, replace=False)
    return free[start], free[goal]
