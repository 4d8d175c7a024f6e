"""Batched generation of tokens that do not depend on the rest of the batch.

Rows that have finished leave, and others join while the rest goes on: answers differ in
length, and a batch that waits for its longest one would leave most of its rows idle.

Sampling noise is a function of the request's seed and of the place in its completion.
The batch still changes how matrix products are rounded. In float64, by about 1e-15,
this practically never moves a draw from one token to another. In bfloat16 on an
accelerator it sometimes does: only a batch size of 1 repeats bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from gde.data.completion import Sampling
from gde_plugins.language_models.residual_stream import Change, changing
from gde_plugins.language_models.sampling import draw


@dataclass(frozen=True, kw_only=True)
class Job:
    """One prompt to continue."""

    prompt: tuple[int, ...]
    seed: int
    sampling: Sampling
    changes: tuple[Change, ...] = ()
    """Interventions on prompt and prefill; generated tokens see them only through the KV
    cache.
    """
    prefill: tuple[int, ...] = ()
    """The first tokens of the continuation, which are given."""

    @property
    def reading(self) -> "Reading":
        """What is read before anything is generated, with its interventions."""
        return self.prompt + self.prefill, self.changes


Reading = tuple[tuple[int, ...], tuple[Change, ...]]
"""A prompt and its interventions."""
PIECE_CPU, PIECE_ACCELERATOR = 512, 16_384
"""Maximum number of tokens that one forward pass reads, of all prompts together. A pass
cannot be interrupted, and attention takes time in proportion to the square of its
tokens.
"""
LEFT_CPU, LEFT_ACCELERATOR = 0.0, 0.75
"""Share of the rows that still go on when others join. On an accelerator a pass takes as
long for few rows as for many. On the CPU its time grows with its rows, and rounds that
read fewer prompts each in wider caches took 11 % longer for answers of similar length.
"""
JOINABLE = (DynamicLayer, DynamicSlidingWindowLayer)
"""Layers of a cache whose tokens are columns, which can be moved."""


@dataclass(frozen=True, kw_only=True)
class Generated:
    """The continuation of one prompt."""

    tokens: tuple[int, ...]
    """Its tokens, the prefill and the stop token included."""
    finish: Literal["stop", "length"]


@dataclass
class _Row:
    """A growing continuation."""

    index: int
    """Number of its job among all."""
    job: Job
    room: int
    """Maximum number of tokens, the prefill included."""
    rng: np.random.Generator
    tokens: list[int] = field(init=False)
    stopped: bool = False

    def __post_init__(self) -> None:
        """Begin with the prefill."""
        self.tokens = [*self.job.prefill]
        # Noise belongs to a place, so that a completion that is given its own first
        # tokens goes on as before.
        self.rng.random(len(self.tokens))

    @property
    def finished(self) -> bool:
        return self.stopped or len(self.tokens) >= self.room

    @property
    def generated(self) -> Generated:
        finish: Literal["stop", "length"] = "stop" if self.stopped else "length"
        return Generated(tokens=tuple(self.tokens), finish=finish)


class Decoder:
    """Left-padded prompts and their KV cache."""

    logits: Tensor
    """(B, V) logits of the next token of each row."""

    def __init__(self, model: Any, readings: Sequence[Reading], halt: Event) -> None:
        self.model = model
        self._cache: Any = DynamicCache(config=model.config)

        width = max(len(prompt) for prompt, _ in readings)
        padding = [width - len(prompt) for prompt, _ in readings]
        ids = torch.zeros(len(readings), width, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, (prompt, _) in enumerate(readings):
            ids[row, padding[row] :] = torch.tensor(prompt)
            mask[row, padding[row] :] = 1
        ids = ids.to(model.device)
        self._mask = mask.to(model.device)

        # Positions count from the first token of each prompt, not from its padding.
        positions = (self._mask.cumsum(dim=-1) - 1).clamp(min=0)
        self._last = positions[:, -1:]
        with changing(model, [changes for _, changes in readings], padding):
            self._read(ids, positions, halt)

    def _read(self, ids: Tensor, positions: Tensor, halt: Event) -> None:
        """Read the prompts (B, T) piece by piece, until halted."""
        rows, width = ids.shape
        piece = PIECE_CPU if ids.device.type == "cpu" else PIECE_ACCELERATOR
        step = max(1, piece // rows)
        for start in range(0, width, step):
            if start and halt.is_set():
                return
            end = start + step
            self.logits = self._forward(
                ids[:, start:end], positions[:, start:end], self._mask[:, :end]
            )

    @classmethod
    def begin(cls, model: Any, readings: Sequence[Reading], halt: Event) -> "Decoder":
        """Read all prompts, each distinct one once.

        Episodes in the same world often ask the same.
        """
        rows = {reading: row for row, reading in enumerate(dict.fromkeys(readings))}
        decoder = cls(model, [*rows], halt)
        if len(rows) < len(readings):
            chosen = decoder._choose([rows[reading] for reading in readings])
            decoder.logits = decoder.logits[chosen]
        return decoder

    def advance(self, tokens: Sequence[int], rows: Sequence[int]) -> None:
        """Continue only `rows`, each by its token.

        A row that is named several times continues in several ways.
        """
        if [*rows] != [*range(len(self._mask))]:
            # Dropping rows at once is never dearer: the cache is copied at every step
            # as it grows.
            self._choose(rows)
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(rows), 1)], dim=-1)
        self._last = self._last + 1
        ids = torch.tensor(tokens, device=self._mask.device).unsqueeze(-1)
        self.logits = self._forward(ids, self._last, self._mask)

    @property
    def is_joinable(self) -> bool:
        """Whether rows can join."""
        return all(type(layer) in JOINABLE for layer in self._cache.layers)

    def join(self, other: "Decoder") -> None:
        """Take over the rows of another decoder, after the own ones.

        Prompts stay aligned on the right, where every token finds the ones before it.
        """
        self._trim()
        width = max(self._mask.shape[-1], other._mask.shape[-1])
        for own, joining in zip(self._cache.layers, other._cache.layers, strict=True):
            n = max(own.keys.shape[-2], joining.keys.shape[-2])
            own.keys = torch.cat([_widened(each.keys, n) for each in (own, joining)])
            own.values = torch.cat(
                [_widened(each.values, n) for each in (own, joining)]
            )
            if isinstance(own, DynamicSlidingWindowLayer):
                own.cumulative_length = width
        masks = [
            pad(each._mask, (width - each._mask.shape[-1], 0)) for each in (self, other)
        ]
        self._mask = torch.cat(masks)
        self._last = torch.cat([self._last, other._last])
        self.logits = torch.cat([self.logits, other.logits])

    def _trim(self) -> None:
        """Drop the columns that only rows which have left had filled."""
        n = self._mask.shape[-1] - int(self._mask.any(dim=0).int().argmax())
        self._mask = self._mask[:, -n:]
        for layer in self._cache.layers:
            layer.keys = layer.keys[..., -n:, :]
            layer.values = layer.values[..., -n:, :]
            if isinstance(layer, DynamicSlidingWindowLayer):
                layer.cumulative_length = n

    def _choose(self, rows: Sequence[int]) -> Tensor:
        """Keep these rows, in this order, as often as they are named."""
        chosen = torch.tensor(rows, device=self._mask.device)
        self._cache.batch_select_indices(chosen)
        self._mask = self._mask[chosen]
        self._last = self._last[chosen]
        return chosen

    def _forward(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        output = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = output.logits[:, -1]
        return logits


class Generation:
    """Continues prompts, each until a stop token or a limit.

    The limit is its own or the end of the model's context.

    Args:
        stops: token ids that end a continuation.
        context: longest sequence that the model takes, prompt included.
    """

    def __init__(self, *, stops: frozenset[int], context: int) -> None:
        self._stops = stops
        self._context = context
        self._rows: list[_Row] = []
        """Those that go on, in the order of the decoder's."""
        self._decoder: Decoder | None = None
        self._n_jobs = 0

    @torch.inference_mode()
    def advance(
        self, model: Any, jobs: Sequence[Job], halt: Event
    ) -> dict[int, Generated]:
        """Let jobs join, and go on until some of all have finished.

        Args:
            model: a causal language model of transformers, always the same weights.
            jobs: may differ in length and sampling.
            halt: once it is set, all end with the tokens generated so far.

        Returns:
            What has finished, by the number of its job in the order of joining.
        """
        done = self._join(model, jobs, halt)
        decoder = self._decoder
        if decoder is None:
            return done
        decoder.model = model
        going = self._rows
        share = LEFT_CPU if model.device.type == "cpu" else LEFT_ACCELERATOR
        n_left = int(share * len(going)) if decoder.is_joinable else 0
        while len(going) > n_left and not halt.is_set():
            for row, token in zip(going, _draw(decoder.logits, going), strict=True):
                row.tokens.append(token)
                row.stopped = token in self._stops

            done |= {row.index: row.generated for row in going if row.finished}
            kept = [index for index, row in enumerate(going) if not row.finished]
            going = [going[index] for index in kept]
            if going:
                decoder.advance([row.tokens[-1] for row in going], kept)

        if halt.is_set():
            done |= {row.index: row.generated for row in going}
            going = []
        # The weights may have to make room before this goes on.
        decoder.model = None
        self._rows = going
        return done

    def _join(
        self, model: Any, jobs: Sequence[Job], halt: Event
    ) -> dict[int, Generated]:
        """Read the prompts of jobs; return those that are finished already."""
        rows = []
        for index, job in enumerate(jobs, start=self._n_jobs):
            room = min(job.sampling.max_tokens, self._context - len(job.prompt))
            rows.append(_Row(index, job, room, np.random.default_rng(job.seed)))
        self._n_jobs += len(jobs)

        joining = [row for row in rows if not row.finished]
        if joining:
            readings = [row.job.reading for row in joining]
            decoder = Decoder.begin(model, readings, halt)
            if self._decoder is not None and self._rows:
                self._decoder.join(decoder)
            else:
                self._decoder = decoder
            self._rows += joining
        return {row.index: row.generated for row in rows if row.finished}


def _widened(values: Tensor, n: int) -> Tensor:
    """(B, H, n, D) cached values with columns of zeros before them."""
    return pad(values, (0, 0, n - values.shape[-2], 0))


def _draw(logits: Tensor, rows: Sequence[_Row]) -> list[int]:
    settings = []
    for row in rows:
        sampling = row.job.sampling
        settings.append((sampling.temperature, sampling.top_p, row.rng.random()))
    columns = torch.tensor(settings, dtype=torch.float64, device=logits.device)
    temperature, top_p, uniform = columns.unbind(dim=-1)
    drawn = draw(logits, temperature=temperature, top_p=top_p, uniform=uniform)
    return list(drawn.tolist())
