"""What training minimises: the next token, and three auxiliary losses that read single layers of the residual stream.

They say early what the next token alone would teach slowly: where a cell of the prompt lies, where agent and goal
are once the prompt is read, and what lies around a traced cell. Their heads are thrown away after training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast

from gde_plugins.language_models.nano.architecture import WIDTH
from gde_plugins.language_models.nano.samples import Sample
from gde_plugins.language_models.nano.tokenizer import LARGEST
from gde_plugins.language_models.nano.tracing import MOVES

IGNORED = -100
CELL_LAYER, LOOK_LAYER = 2, 4
"""Layers run before the residual stream is read."""
N_AFTER_GRID = 3
"""Tokens of the prompt after the grid: `<|end|>`, `<|start|>`, `assistant`."""
N_AROUND = 3
"""What a neighbour can be: wall, seen or new."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Samples on grids of one size, padded on the right. B samples of T tokens, P of them the prompt."""

    tokens: Tensor
    """(B, T) ids."""
    targets: Tensor
    """(B, T) ids of the continuation, IGNORED elsewhere."""
    cells: Tensor
    """(T, 2) row and column of the prompt's cells, IGNORED elsewhere."""
    ends: Tensor
    """(B, 4) row and column of the agent, then of the goal."""
    notes: Tensor
    """(B, T, 5) what lies around a traced cell and the direction of its parent, IGNORED elsewhere."""
    n_prompt: int
    """P."""

    def to(self, device: str) -> "Batch":
        """The batch where the model is."""
        moved = {each.name: getattr(self, each.name).to(device) for each in fields(self) if each.name != "n_prompt"}
        return replace(self, **moved)


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
    """The continuation's next token."""
    cell: Tensor
    """Row and column of every cell, read at the cell."""
    ends: Tensor
    """Rows and columns of agent and goal, read at the three template tokens before the reasoning."""
    look: Tensor
    """Around and parent of every traced cell, read at the cell."""
    accuracy: float
    """Share of next tokens that are the likeliest."""


def collate(samples: Sequence[Sample], tokenizer: PreTrainedTokenizerFast) -> Batch:
    """Put samples on grids of one size together."""
    vocabulary: Mapping[str, int] = tokenizer.get_vocab()
    prompts = [tokenizer.encode(sample.prompt, add_special_tokens=False) for sample in samples]
    n_prompt = len(prompts[0])
    shape = (len(samples), n_prompt + max(len(sample.tokens) for sample in samples))
    tokens, targets = torch.full(shape, tokenizer.pad_token_id), torch.full(shape, IGNORED)
    notes = torch.full((*shape, len(MOVES) + 1), IGNORED)
    for row, (prompt, sample) in enumerate(zip(prompts, samples, strict=True)):
        said = torch.tensor([vocabulary[token] for token in sample.tokens])
        tokens[row, :n_prompt] = torch.tensor(prompt)
        tokens[row, n_prompt : n_prompt + len(said)] = said
        targets[row, n_prompt : n_prompt + len(said)] = said
        if sample.notes:
            places = torch.tensor(list(sample.notes)) + n_prompt
            notes[row, places] = torch.tensor([[*note.around, note.parent] for note in sample.notes.values()])
    return Batch(
        tokens=tokens,
        targets=targets,
        cells=_cells(samples[0].grid.height, n_prompt, shape[1]),
        ends=torch.tensor([[*sample.grid.place_of("agent"), *sample.grid.place_of("goal")] for sample in samples]),
        notes=notes,
        n_prompt=n_prompt,
    )


def _cells(size: int, n_prompt: int, length: int) -> Tensor:
    """(length, 2); every line of the grid is a row index and `size` cells, the line's end belongs to the next."""
    cells = torch.full((length, 2), IGNORED)
    first = n_prompt - N_AFTER_GRID - 1 - size * (size + 1)  # the last cell is followed by one space
    lines = torch.arange(size * (size + 1)).reshape(size, size + 1)[:, 1:].reshape(-1) + first
    cells[lines] = torch.cartesian_prod(torch.arange(size), torch.arange(size))
    return cells


def measure(model: Any, heads: Heads, batch: Batch) -> Losses:
    """All losses of one batch."""
    output = model.model(input_ids=batch.tokens, output_hidden_states=True, use_cache=False)
    targets = batch.targets[:, 1:]
    wanted = targets != IGNORED
    logits = model.lm_head(output.last_hidden_state[:, :-1][wanted])
    cell_stream, look_stream = output.hidden_states[CELL_LAYER], output.hidden_states[LOOK_LAYER]
    template = look_stream[:, batch.n_prompt - N_AFTER_GRID : batch.n_prompt]
    return Losses(
        token=cross_entropy(logits, targets[wanted]),
        cell=_cell_loss(heads, cell_stream, batch.cells),
        ends=cross_entropy(
            heads.ends(template).reshape(-1, LARGEST), batch.ends[:, None].expand(-1, N_AFTER_GRID, -1).reshape(-1)
        ),
        look=_look_loss(heads, look_stream, batch.notes),
        accuracy=(logits.argmax(-1) == targets[wanted]).float().mean().item(),
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
    wanted = notes[is_traced]
    by_direction = cross_entropy(around.reshape(-1, N_AROUND), wanted[:, :n].reshape(-1))
    return by_direction + 0.5 * cross_entropy(parent, wanted[:, n])
