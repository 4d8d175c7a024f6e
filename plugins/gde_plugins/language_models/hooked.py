"""A HookedTransformer of TransformerLens as a language model.

Its own names of hooks are used: weights that it has folded and centred are not those of
transformers. Every token is read anew with all before it, so that an intervention at the
prompt needs no cache; this suits the small models and short answers of such studies.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.completion import ModelInfo, WeighedCompletion
from gde.data.place import ATTENTION, MLP, RESIDUAL, head_of
from gde.errors import GdeError
from gde_plugins.language_models.batching import Answers
from gde_plugins.language_models.capturing import Scores, check_layers, scores_of
from gde_plugins.language_models.generation import Generated, Job
from gde_plugins.language_models.one_in_memory import OneInMemory
from gde_plugins.language_models.places import At
from gde_plugins.language_models.residual_stream import Change, applied
from gde_plugins.language_models.sampling import draw
from gde_plugins.language_models.transformers_model import TransformersModel

HOOKS = {RESIDUAL: "hook_resid_post", ATTENTION: "hook_attn_out", MLP: "hook_mlp_out"}
"""Its names of the places of a layer."""
Hook = tuple[str, Callable[..., Any]]


@dataclass(frozen=True)
class HookedReader:
    """Runs a HookedTransformer."""

    hooked: Any

    @property
    def weights(self) -> Any:
        """What fills the memory."""
        return self.hooked

    @property
    def original(self) -> Any:
        """What is asked of a model of transformers beside its forward pass."""
        cfg = self.hooked.cfg
        shape = SimpleNamespace(
            vocab_size=cfg.d_vocab, max_position_embeddings=cfg.n_ctx
        )
        weights = next(self.hooked.parameters())
        return SimpleNamespace(
            config=SimpleNamespace(get_text_config=lambda: shape),
            generation_config=SimpleNamespace(eos_token_id=None, max_new_tokens=None),
            dtype=weights.dtype,
            device=weights.device,
            num_parameters=lambda: sum(map(Tensor.numel, self.hooked.parameters())),
        )

    def logits(self, tokens: Sequence[int], hooks: Sequence[Hook]) -> Tensor:
        """(T, V) logits at each token."""
        ids = torch.tensor([tokens], device=self.original.device)
        with torch.inference_mode():
            found: Tensor = self.hooked.run_with_hooks(
                ids, return_type="logits", fwd_hooks=[*hooks]
            )
        return found[0]

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """As `gde_plugins.language_models.capturing.Reader.capture`, each alone."""
        check_layers(request, self.hooked.cfg.n_layers)
        return [self._record(sequence, request) for sequence in sequences]

    def _record(
        self, sequence: TokenSequence, request: CaptureRequest
    ) -> ActivationRecord:
        values: dict[tuple[int, str], Any] = {}

        def keep(layer: int, stream: Tensor) -> None:
            for position in request.positions:
                if places := sequence.positions.get(position):
                    read = stream[list(places)].float().cpu().numpy()
                    read.setflags(write=False)
                    values[layer, position] = read

        reading = [
            _hook((layer, request.place), partial(keep, layer))
            for layer in request.layers
        ]
        # Interventions come first, so that what is read at a place is read after them.
        changes = Change.of(sequence.interventions, sequence.positions)
        logits = self.logits(sequence.tokens, [*changing(changes), *reading])
        scores = Scores()
        if n := sequence.scored:
            tokens = torch.tensor(sequence.tokens[-n:], device=logits.device)
            scores = scores_of(logits[-n - 1 :], tokens)
        return ActivationRecord(values=values, **scores._asdict())

    def continued(
        self, job: Job, stops: frozenset[int], context: int, halt: Event
    ) -> Generated:
        """As `gde_plugins.language_models.generation.Generation`, of one prompt."""
        rng = np.random.default_rng(job.seed)
        tokens = [*job.prefill]
        rng.random(len(tokens))
        hooks = [*changing(job.changes)]
        room = min(job.sampling.max_tokens, context - len(job.prompt))
        while len(tokens) < room and not halt.is_set():
            logits = self.logits((*job.prompt, *tokens), hooks)[-1:]
            settings = (job.sampling.temperature, job.sampling.top_p, rng.random())
            temperature, top_p, uniform = torch.tensor(
                settings, dtype=torch.float64, device=logits.device
            )[:, None]
            drawn = draw(logits, temperature=temperature, top_p=top_p, uniform=uniform)
            tokens.append(int(drawn))
            if tokens[-1] in stops:
                return Generated(tokens=tuple(tokens), finish="stop")
        return Generated(tokens=tuple(tokens), finish="length")


class HookedModel(TransformersModel):
    """A white-box language model of TransformerLens.

    Concurrent requests are answered one after another.
    """

    @classmethod
    def of_hooked(
        cls,
        hooked: Any,
        tokenizer: Any,
        name: str,
        *,
        versions: dict[str, str],
        batch_size: int,
        date: str,
        memory: OneInMemory[Any],
    ) -> Self:
        """Make it of a model that the caller holds.

        Raises:
            GdeError: the tokenizer has no chat template.
        """
        cfg = hooked.cfg
        info = ModelInfo(
            name=name,
            n_layers=cfg.n_layers,
            width=cfg.d_model,
            n_heads=cfg.n_heads,
            head_width=cfg.d_head,
            versions=versions,
        )
        make: Any = partial(HookedReader, hooked)
        return cls(memory, make, tokenizer, info, batch_size, date, None)

    def untrained(self, seed: int) -> Self:
        """Make the same architecture, initialised as TransformerLens does."""
        reader: Any
        with self._memory.holding(self._make) as reader:
            hooked = reader.hooked

        def fresh() -> Any:
            cfg = copy.copy(hooked.cfg)
            # Those of loaded weights say that nothing is to be drawn.
            cfg.init_weights = True
            cfg.seed = seed
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                return HookedReader(type(hooked)(cfg, self._tokenizer).eval())

        return self._drawn(fresh, seed)

    def _generate(self, jobs: Sequence[Job], halt: Event) -> Answers[Generated, Job]:
        number = 0
        reader: Any
        while True:
            done = {}
            for job in jobs:
                with self._computing() as reader:
                    done[number] = reader.continued(
                        job, self._stops, self._context, halt
                    )
                number += 1
            jobs = yield done

    async def completions(self, *_: object) -> list[WeighedCompletion]:
        """Refuse: answers are drawn alone."""
        raise GdeError(f"{self.info.name} draws answers, and enumerates none")


def changing(changes: Sequence[Change]) -> Iterator[Hook]:
    """The hooks that make changes, in their order."""
    for change in changes:
        made = change.intervention

        def visit(stream: Tensor, change: Change = change) -> Tensor:
            places = [*change.places]
            changed = stream.clone()
            changed[places] = applied(
                change.intervention, np.arange(len(places)), stream[places]
            )
            return changed

        yield _hook((made.layer, made.place), visit)


def _hook(at: At, visit: Callable[[Tensor], Tensor | None]) -> Hook:
    """A hook that shows a visitor the activations (T, width) at a place."""
    layer, place = at
    head = head_of(place)
    if layer == EMBEDDING:
        name = "blocks.0.hook_resid_pre"
    elif head is not None:
        name = f"blocks.{layer}.attn.hook_z"
    else:
        name = f"blocks.{layer}.{HOOKS[place]}"

    # (1, T, width), and (1, T, heads, width) of heads.
    index = (0,) if head is None else (0, slice(None), head)

    def shown(stream: Tensor, hook: object = None) -> Tensor | None:  # noqa: ARG001 - is given by name
        changed = visit(stream[index])
        if changed is None:
            return None
        whole = stream.clone()
        whole[index] = changed
        return whole

    return name, shown
