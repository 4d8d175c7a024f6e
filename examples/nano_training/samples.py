"""Training samples of nano: prompts of grids, and their continuations."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import numpy as np

from gde.data.cell_map import CellMap, Position
from gde.seeding import pick
from nano_training.tokenizer import coordinates
from nano_training.tracing import (
    CellNotes,
    annotate,
    answer,
    distances,
    optimal_moves,
    search,
)
from nano_training.walks import Scene

INSTRUCTION = "Go from A to G by the shortest way; # is wall, _ is free.\n"
"""Text before the grid in an episode: the gpt-oss agent's compact style."""
PRACTICE = "Trace ways.\n"
"""Text before the grid in a practice sample: several traces between random cells, each
with its move.
"""
N_WAYS = {"episode": 1, "practice": 4}
OPENING = {"episode": INSTRUCTION, "practice": PRACTICE}
LONGEST = {"episode": 128, "practice": 60}
EFFORTS = ("low", "medium", "high")
END, RETURN = "<|end|>", "<|return|>"
"""Tokens after a message that more follow, and after the last one."""
AT_ONCE = "low"
"""Reasoning effort without any text before the answer."""
DENSITIES = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 0.8, 0.9, 1, 1, 1, 1)
"""Bounds of a sample's density, drawn uniformly."""

Kind = Literal["episode", "practice"]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One grid and the text to write about it."""

    grid: CellMap
    prompt: str
    tokens: tuple[str, ...]
    """The continuation, each a token of the vocabulary."""
    notes: dict[int, CellNotes]
    """The surroundings of every traced cell, by its index in `tokens`."""


def render(contents: Sequence[str], moves: Sequence[str], effort: str) -> str:
    """Return the prompt, as the chat template renders messages of the user and the
    moves that answered all but the last of them.
    """
    parts = [f"<|start|>system<|message|>Reasoning: {effort}<|end|>"]
    for content, move in zip_longest(contents, moves):
        parts.append(f"<|start|>user<|message|>{content}<|end|><|start|>assistant")
        if move is not None:
            parts += _answer(move, END)
    return "".join(parts)


def draw_sample(kind: Kind, scene: Scene, rng: np.random.Generator) -> Sample:
    """A sample on the scene's grid.

    At effort low the answer of an episode comes at once, at other efforts after the
    search.
    """
    grid = scene.grid
    walls = grid.where("wall")
    effort = pick(EFFORTS, rng)
    texts = [*(turn.text for turn in scene.earlier), scene.text]
    contents = [OPENING[kind] + text for text in texts]
    prompt = render(contents, [turn.move for turn in scene.earlier], effort)
    if kind == "episode" and effort == AT_ONCE:
        move = _best_move(grid, rng)
        said = tuple(_answer(move, RETURN))
        return Sample(grid=grid, prompt=prompt, tokens=said, notes={})

    tokens = ["<|channel|>", "analysis", "<|message|>"]
    notes: dict[int, CellNotes] = {}
    for start, goal in _ways(grid, N_WAYS[kind], rng):
        steps = distances(walls, goal)
        trace = search(walls, start, goal, steps, rng, longest=LONGEST[kind])
        tokens += [" A", coordinates(*start), " G", coordinates(*goal), " path"]
        for position, note in zip(trace, annotate(walls, trace), strict=True):
            notes[len(tokens)] = note
            tokens.append(coordinates(*position))
        tokens += _conclusion(kind, answer(walls, steps, trace, rng))
    if kind == "practice":
        tokens.append(END)
    return Sample(grid=grid, prompt=prompt, tokens=tuple(tokens), notes=notes)


def _ways(
    grid: CellMap, n: int, rng: np.random.Generator
) -> list[tuple[Position, Position]]:
    """Return `n` starts and goals: the agent's own first, the others random."""
    free = [(int(row), int(column)) for row, column in np.argwhere(~grid.where("wall"))]
    ways = [(grid.place_of("agent"), grid.place_of("goal"))]
    for _ in range(n - 1):
        start, goal = rng.choice(len(free), 2, replace=False)
        ways.append((free[start], free[goal]))
    return ways


def _best_move(grid: CellMap, rng: np.random.Generator) -> str:
    """One of the optimal moves, all equally likely: an immediate answer follows no
    search.
    """
    walls = grid.where("wall")
    steps = distances(walls, grid.place_of("goal"))
    best = sorted(optimal_moves(walls, steps, grid.place_of("agent")))
    return pick(best, rng)


def _conclusion(kind: Kind, move: str) -> list[str]:
    if kind == "practice":
        return [" move", f" {move}"]
    return [END, "<|start|>", "assistant", *_answer(move, RETURN)]


def _answer(move: str, end: str) -> list[str]:
    return [
        "<|channel|>",
        "final",
        "<|message|>",
        '{"action": "',
        move,
        '"}',
        end,
    ]
