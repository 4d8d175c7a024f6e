"""The training losses: the next token, and three auxiliary losses.

The auxiliary losses read single layers of the residual stream. They teach early what
the next token alone would teach slowly: the place of each cell of the prompt, the
places of agent and goal once the prompt is read, and the surroundings of a traced cell.
Their heads are thrown away after training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast

from gde_plugins.language_models.nano.architecture import WIDTH
from nano_training.samples import Sample
from nano_training.tokenizer import LARGEST
from nano_training.tracing import MOVES

IGNORED = -100
CELL_LAYER, LOOK_LAYER = 2, 4
"""Number of layers before the place where the residual stream is read."""
N_AFTER_GRID = 3
"""Tokens of the prompt after the grid: `<|end|>`, `<|start|>`, `assistant`."""
N_AROUND = 3
"""Kinds of neighbours: wall, seen or new."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Samples of as many turns on grids of one size, padded on the right. B samples of
    T tokens, P of them the prompt.
    """

    tokens: Tensor
    """(B, T) ids."""
    targets: Tensor
    """(B, T) ids of the continuation, IGNORED elsewhere."""
    cells: Tensor
    """(T, 2) row and column of the cells of the present grid, IGNORED elsewhere."""
    ends: Tensor
    """(B, 4) row and column of the agent, then of the goal."""
    notes: Tensor
    """(B, T, 5) kinds of the neighbours of a traced cell and the direction of its
    parent, IGNORED elsewhere.
    """
    n_prompt: int
    """Number of tokens of the prompt, P."""

    def to(self, device: str) -> "Batch":
        """Move the batch to a device."""
        names = ("tokens", "targets", "cells", "ends", "notes")
        return replace(self, **{name: getattr(self, name).to(device) for name in names})


class Heads(nn.Module):
    """The linear read-outs of the auxiliary losses."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(WIDTH, 2 * LARGEST)
        self.ends = nn.Linear(WIDTH, 4 * LARGEST)
        self.look = nn.Linear(WIDTH, len(MOVES) * N_AROUND + len(MOVES) + 1)


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Mean cross-entropies in nats."""

    token: Tensor
    """Loss of the continuation's next token."""
    cell: Tensor
    """Loss of row and column of every cell, read at the cell."""
    ends: Tensor
    """Loss of rows and columns of agent and goal, read at the three template tokens
    before the reasoning.
    """
    look: Tensor
    """Loss of neighbours and parent of every traced cell, read at the cell."""
    accuracy: float
    """Share of next tokens that are the likeliest."""


def collate(samples: Sequence[Sample], tokenizer: PreTrainedTokenizerFast) -> Batch:
    """Make a batch of samples of as many turns on grids of one size."""
    vocabulary: Mapping[str, int] = tokenizer.get_vocab()

    # On grids of one size, prompts of as many turns have the same number of tokens.
    prompts = [
        tokenizer.encode(sample.prompt, add_special_tokens=False) for sample in samples
    ]
    n_prompt = len(prompts[0])
    length = n_prompt + max(len(sample.tokens) for sample in samples)

    shape = (len(samples), length)
    tokens = torch.full(shape, tokenizer.pad_token_id)
    targets = torch.full(shape, IGNORED)
    notes = torch.full((*shape, len(MOVES) + 1), IGNORED)
    ends = []
    for row, (prompt, sample) in enumerate(zip(prompts, samples, strict=True)):
        continuation = torch.tensor([vocabulary[token] for token in sample.tokens])
        end = n_prompt + len(continuation)
        tokens[row, :n_prompt] = torch.tensor(prompt)
        tokens[row, n_prompt:end] = continuation
        targets[row, n_prompt:end] = continuation
        for place, note in sample.notes.items():
            notes[row, n_prompt + place] = torch.tensor([*note.around, note.parent])
        ends.append([*sample.grid.place_of("agent"), *sample.grid.place_of("goal")])

    return Batch(
        tokens=tokens,
        targets=targets,
        cells=_cells(samples[0].grid.height, n_prompt, length),
        ends=torch.tensor(ends),
        notes=notes,
        n_prompt=n_prompt,
    )


def _cells(size: int, n_prompt: int, length: int) -> Tensor:
    """(length, 2) row and column of the prompt's cells."""
    # A line of the grid is the index of its row and `size` cells; one space follows the
    # last line.
    n_grid = size * (size + 1)
    first = n_prompt - N_AFTER_GRID - 1 - n_grid
    lines = torch.arange(first, first + n_grid).reshape(size, size + 1)
    places = lines[:, 1:].reshape(-1)

    cells = torch.full((length, 2), IGNORED)
    cells[places] = torch.cartesian_prod(torch.arange(size), torch.arange(size))
    return cells


def measure(model: Any, heads: Heads, batch: Batch) -> Losses:
    """Compute all losses of one batch."""
    output = model.model(
        input_ids=batch.tokens, output_hidden_states=True, use_cache=False
    )
    cell_stream = output.hidden_states[CELL_LAYER]
    look_stream = output.hidden_states[LOOK_LAYER]

    # The output at each token predicts the next one. Only tokens of the continuation
    # need logits.
    next_tokens = batch.targets[:, 1:]
    wanted = next_tokens != IGNORED
    targets = next_tokens[wanted]
    logits = model.lm_head(output.last_hidden_state[:, :-1][wanted])

    template = look_stream[:, batch.n_prompt - N_AFTER_GRID : batch.n_prompt]
    ends = batch.ends[:, None].expand(-1, N_AFTER_GRID, -1)
    return Losses(
        token=cross_entropy(logits, targets),
        cell=_cell_loss(heads, cell_stream, batch.cells),
        ends=cross_entropy(heads.ends(template).reshape(-1, LARGEST), ends.reshape(-1)),
        look=_look_loss(heads, look_stream, batch.notes),
        accuracy=(logits.argmax(-1) == targets).float().mean().item(),
    )


def _cell_loss(heads: Heads, stream: Tensor, cells: Tensor) -> Tensor:
    is_cell = cells[:, 0] != IGNORED
    row, column = heads.cell(stream[:, is_cell]).split(LARGEST, dim=-1)
    wanted = cells[is_cell].expand(len(stream), -1, -1).reshape(-1, 2)
    by_row = cross_entropy(row.reshape(-1, LARGEST), wanted[:, 0])
    return by_row + cross_entropy(column.reshape(-1, LARGEST), wanted[:, 1])


def _look_loss(heads: Heads, stream: Tensor, notes: Tensor) -> Tensor:
    is_traced = notes[..., 0] != IGNORED
    if not is_traced.any():  # all answers of the batch come at once
        return stream.new_zeros(())
    n = len(MOVES)
    around, parent = heads.look(stream[is_traced]).split([n * N_AROUND, n + 1], dim=-1)
    around = around.reshape(-1, N_AROUND)
    wanted = notes[is_traced]
    by_direction = cross_entropy(around, wanted[:, :n].reshape(-1))
    return by_direction + 0.5 * cross_entropy(parent, wanted[:, n])
