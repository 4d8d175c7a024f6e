"""A model of transformers: completes conversations and gives its activations."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from threading import Event
from typing import Any, Self

import torch

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import (
    ChatRequest,
    Completion,
    ModelInfo,
    Tokenization,
    WeighedCompletion,
)
from gde.errors import GdeError
from gde.parts.answer_forms import refuse_form
from gde.parts.batching import Answers, Batcher
from gde.parts.interventions import check_interventions, positions_of
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.channels import channels_of
from gde_plugins.language_models.chat_template import ChatTemplate
from gde_plugins.language_models.enumeration import Answer, Question, enumerate_answers
from gde_plugins.language_models.generation import Generated, Generation, Job
from gde_plugins.language_models.loading import (
    Found,
    Untrained,
    choose_kernels,
    find,
    versions_of,
)
from gde_plugins.language_models.one_in_memory import OneInMemory
from gde_plugins.language_models.residual_stream import Change
from gde_plugins.language_models.retokenizing import Retokenizing
from gde_plugins.language_models.support import (
    check_answers,
    readable_heads,
    readable_layers,
)

Initial = Callable[[Any, int], Any]
"""Makes a model with random weights on the CPU from the tokenizer and a seed.

It leaves the global random state as it is.
"""
DATE = "2025-08-05"
"""For chat templates that print one."""
SMALL = 20_000_000
"""Number of parameters up to which a second core is slower: a product ends before the
other core has begun, and beside another busy process each waits for the slower one.
"""


class TransformersModel:
    """A white-box language model.

    Concurrent requests are generated together; equal requests give equal tokens.
    """

    def __init__(
        self,
        memory: OneInMemory[Reader],
        make: Callable[[], Reader],
        tokenizer: Any,
        info: ModelInfo,
        batch_size: int,
        date: str,
        initial: Initial | None,
    ) -> None:
        self._memory = memory
        self._make = make
        self._tokenizer = tokenizer
        self.info = info
        self._batch_size = batch_size
        self._date = date
        self._initial = initial
        self._template = ChatTemplate(tokenizer, whose=info.name, date=date)
        self._channels = channels_of(tokenizer)
        with memory.holding(make) as reader:
            config = reader.original.config.get_text_config()
            answers = reader.original.generation_config
            self._dtype = reader.original.dtype
        self._stops = _stop_tokens(answers, tokenizer) | self._channels.stops
        self._vocabulary: int = config.vocab_size
        self._retokenizing = Retokenizing(
            tokenizer=tokenizer,
            template=self._template,
            channels=self._channels,
            stops=self._stops,
            vocabulary=self._vocabulary,
        )
        self._context: int = getattr(config, "max_position_embeddings", None) or 2**31
        self._longest: int = answers.max_new_tokens or 2**31
        """The checkpoint's own limit of an answer: one that never ends need not fill
        the context.
        """
        self._batcher: Batcher[Job, Generated] = Batcher(self._generate, batch_size)
        self._enumerator: Batcher[Question, list[Answer]] = Batcher(
            self._enumerate, batch_size
        )

    @classmethod
    def load(
        cls,
        source: str | Path,
        *,
        device: str = "auto",
        dtype: str = "auto",
        batch_size: int = 32,
        revision: str | None = None,
        date: str = DATE,
        name: str = "",
        notice: str = "",
        initial: Initial | None = None,
    ) -> Self:
        """Load a folder, a GGUF file or, by its id, a model of a hub.

        `initial` makes the model's initial weights, if known.

        Raises:
            GdeError: it cannot be read or asked, or has no chat template.
        """
        found = find(source, device=device, dtype=dtype, revision=revision)
        whose = name or f"hf:{source}"
        return cls.of(
            found,
            whose,
            batch_size=batch_size,
            date=date,
            notice=notice,
            initial=initial,
        )

    @classmethod
    def of(
        cls,
        found: Found,
        whose: str,
        *,
        batch_size: int = 32,
        date: str = DATE,
        notice: str = "",
        initial: Initial | None = None,
        memory: OneInMemory[Reader] | None = None,
    ) -> Self:
        """Make it of a model that was found, in memory beside others that share it.

        Raises:
            GdeError: it cannot be asked, or has no chat template.
        """
        memory = memory or OneInMemory[Reader](attrgetter("original"))
        make = partial(_made, found.make, batch_size)
        with memory.holding(make) as reader:
            model = reader.original
            check_answers(model, whose)
            n_heads, head_width = readable_heads(model)
            info = ModelInfo(
                name=whose,
                n_layers=readable_layers(model),
                width=model.config.get_text_config().hidden_size,
                n_heads=n_heads,
                head_width=head_width,
                notice=notice,
                versions=found.versions | versions_of(model),
            )
        return cls(memory, make, found.tokenizer, info, batch_size, date, initial)

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        A prompt that fills the model's context gets an empty answer with finish
        "length".

        Interventions are made as prompt and prefill are read, at the positions that the
        prompt has before anything is answered, and at those of the request.

        Raises:
            GdeError: an intervention at a layer or position that is not there, or of
                another width; a prefill that the model could not have begun; a form of
                the answer.
        """
        job = self._job(request)
        return self._completion(job.prompt, request, await self._batcher.submit(job))

    async def completions(
        self, request: ChatRequest, least: float
    ) -> list[WeighedCompletion]:
        """Return every completion of at least this probability, the likeliest first.

        See `enumeration`.

        Raises:
            GdeError: as `complete`, or `least` is no probability above 0.
        """
        if not 0 < least <= 1:
            raise GdeError(f"least: wanted a probability above 0, got {least}")
        job = self._job(request)
        answers = await self._enumerator.submit(Question(job, least))
        return [
            WeighedCompletion(
                completion=self._completion(job.prompt, request, answer.generated),
                probability=answer.probability,
            )
            for answer in sorted(answers, key=lambda each: -each.probability)
        ]

    def _job(self, request: ChatRequest) -> Job:
        refuse_form(request, self.info)
        prompt = self._template.render(request.messages, request.effort)
        limit = min(request.sampling.max_tokens, self._longest)
        changes: tuple[Change, ...] = ()
        if request.interventions or request.positions:
            template = self._channels.read(prompt, ()).positions
            positions = positions_of(request, template, len(prompt), self.info)
            check_interventions(request.interventions, positions, self.info)
            changes = Change.of(request.interventions, positions)
        self._check_prefill(request.prefill, limit)
        return Job(
            prompt=prompt,
            seed=request.seed,
            sampling=replace(request.sampling, max_tokens=limit),
            changes=changes,
            prefill=request.prefill,
        )

    def _check_prefill(self, prefill: tuple[int, ...], limit: int) -> None:
        """Refuse a prefill that is too long, ends the completion or is no text."""
        if len(prefill) > limit:
            raise GdeError(
                f"{self.info.name}: wanted a prefill of at most max_tokens={limit} tokens, got {len(prefill)}"
            )
        # Models have more ids than their tokenizers, and may generate any of them.
        for token in prefill:
            if token in self._stops or not 0 <= token < self._vocabulary:
                wanted = f"token ids below {self._vocabulary} that end no completion"
                raise GdeError(
                    f"{self.info.name}: wanted a prefill of {wanted}, got {token}"
                )

    def _completion(
        self, prompt: tuple[int, ...], request: ChatRequest, generated: Generated
    ) -> Completion:
        reading = self._channels.read(prompt, generated.tokens)
        return Completion(
            text=reading.text,
            reasoning=reading.reasoning,
            finish=generated.finish,
            prompt_tokens=prompt,
            tokens=generated.tokens,
            positions={**reading.positions, **request.positions},
            n_prompt=len(prompt),
            n_completion=len(generated.tokens),
        )

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """Return the requested activations of stored tokens, and their scores.

        Raises:
            GdeError: a layer that the model does not have, or an intervention that does
                not fit it.
        """
        for sequence in sequences:
            check_interventions(sequence.interventions, sequence.positions, self.info)
        with self._computing() as reader:
            return reader.capture(sequences, request)

    def tokenize(self, text: str) -> Tokenization:
        """Return token ids and their character spans.

        Raises:
            GdeError: the tokenizer cannot tell spans.
        """
        if not self._tokenizer.is_fast:
            raise GdeError(
                f"{self.info.name}: wanted a tokenizer that knows character spans (a tokenizer.json)"
            )
        encoded = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True
        )
        spans = tuple((begin, end) for begin, end in encoded["offset_mapping"])
        return Tokenization(ids=tuple(encoded["input_ids"]), spans=spans)

    def retokenize(self, completion: Completion) -> Completion:
        """Return a server's completion with tokens and positions.

        Raises:
            CannotReplay: its tokens cannot be reconstructed.
        """
        return self._retokenizing.retokenize(completion)

    def untrained(self, seed: int) -> Self:
        """Make the same architecture, freshly initialised from `seed`.

        If this model's own initialisation is unknown, it is that of transformers. The
        global random state is left as it is. The model itself leaves the memory, and
        is loaded again when it is next asked.
        """
        if self._initial:
            initial = partial(self._initial, self._tokenizer, seed)
            fresh: Callable[[], Any] = partial(_converted, initial, self._dtype)
        else:
            with self._memory.holding(self._make) as reader:
                fresh = Untrained.like(reader.original, seed).make
        info = replace(
            self.info,
            name=f"{self.info.name} (untrained)",
            versions={**self.info.versions, "weights": f"random, seed {seed}"},
        )
        return type(self)(
            self._memory,
            partial(_made, fresh, self._batch_size),
            self._tokenizer,
            info,
            self._batch_size,
            self._date,
            self._initial,
        )

    def close(self) -> None:
        """Stop the worker, and release the weights."""
        self._batcher.close()
        self._enumerator.close()
        self._memory.release(self._make)

    def _generate(self, jobs: Sequence[Job], halt: Event) -> Answers[Generated, Job]:
        generation = Generation(stops=self._stops, context=self._context)
        while True:
            with self._computing() as reader:
                done = generation.advance(reader.original, jobs, halt)
            jobs = yield done

    def _enumerate(
        self, questions: Sequence[Question], halt: Event
    ) -> Answers[list[Answer], Question]:
        with self._computing() as reader:
            answers = enumerate_answers(
                reader.original,
                questions,
                stops=self._stops,
                context=self._context,
                halt=halt,
            )
        yield dict(enumerate(answers))

    @contextmanager
    def _computing(self) -> Iterator[Reader]:
        """Hold the model exclusively, and suggest a remedy if memory runs out.

        This thread computes in one core if the model is small and on the CPU.
        """
        threads = torch.get_num_threads()
        with self._memory.holding(self._make) as reader:
            model = reader.original
            is_small = model.device.type == "cpu" and model.num_parameters() <= SMALL
            try:
                torch.set_num_threads(1 if is_small else threads)
                yield reader
            except torch.OutOfMemoryError as error:
                raise GdeError(
                    f"{self.info.name}: out of memory with model.batch_size={self._batch_size}; set a smaller one"
                ) from error
            finally:
                torch.set_num_threads(threads)


def _made(make: Callable[[], Any], batch_size: int) -> Reader:
    return Reader(make(), batch_size)


def _converted(make: Callable[[], Any], dtype: torch.dtype) -> Any:
    model = make().to(dtype=dtype).eval()
    choose_kernels(model)
    return model


def _stop_tokens(answers: Any, tokenizer: Any) -> frozenset[int]:
    """Return the checkpoint's own tokens for the end of an answer."""
    configured = answers.eos_token_id
    several = configured if isinstance(configured, list) else [configured]
    return frozenset([*several, tokenizer.eos_token_id]) - {None}
