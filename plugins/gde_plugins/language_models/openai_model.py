"""A model behind a server that speaks OpenAI's chat completions."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from openai import AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from gde.data.completion import ChatRequest, Completion, Finish, ModelInfo
from gde.errors import GdeError
from gde.parts.interventions import refuse_interventions
from gde_plugins.language_models.config import OpenAIConfig

FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}
"""All other reasons of the protocol are an ordinary stop."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put what the model thought; the protocol itself has no place for it."""
SEEDS = 2**31
"""Servers differ in the integers that they take as a seed; all take these."""


class OpenAIModel:
    """Sends every request on at once: batching belongs to the server. How exactly it repeats an answer does, too."""

    def __init__(self, config: OpenAIConfig) -> None:
        self._config = config
        self._name = config.model
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: AsyncGenerator[AsyncOpenAI, None] | None = None
        self._client: AsyncOpenAI | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            name=f"openai:{self._config.source}",
            versions={"server": self._config.source, "model": self._name or "the only one"},
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            GdeError: no usable answer after all tries, or interventions, which no server takes.
        """
        refuse_interventions(request, self.info)
        try:
            client = await self._connected()
            answer = await client.chat.completions.create(**await self._arguments(client, request))
        except (OpenAIError, ValueError) as error:
            raise self._failure(error) from error
        if not _usable(answer):
            raise self._failure(f"got {_short(answer)}")
        return _completion(answer)

    def close(self) -> None:
        """Forget the client; its connections end with the event loop that they belong to."""
        self._client = self._session = self._loop = None

    async def _connected(self) -> AsyncOpenAI:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop, self._session = loop, self._sessions()
            self._client = await anext(self._session)
        return self._client

    async def _sessions(self) -> AsyncGenerator[AsyncOpenAI, None]:
        """Yields one client. A loop closes the generators that are still open when it ends, and so the connections."""
        client = AsyncOpenAI(
            base_url=self._config.source,
            api_key=os.environ.get(self._config.api_key_env) or "none",
            timeout=self._config.timeout,
            max_retries=self._config.retries,
        )
        try:
            yield client
        finally:
            await client.close()

    async def _arguments(self, client: AsyncOpenAI, request: ChatRequest) -> dict[str, Any]:
        if not self._name:
            self._name = await self._only_model(client)
        effort = {"reasoning_effort": request.effort} if self._config.send_effort else {}
        return {
            "model": self._name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "seed": request.seed % SEEDS,
            "temperature": request.sampling.temperature,
            "top_p": request.sampling.top_p,
            self._config.limit_field: request.sampling.max_tokens,
            **effort,
        }

    async def _only_model(self, client: AsyncOpenAI) -> str:
        names = [model.id async for model in client.models.list()]
        if len(names) != 1:
            raise GdeError(
                f"openai:{self._config.source}: wanted model.model, for the server has {len(names)} models: "
                + ", ".join(sorted(names)[:10])
            )
        return names[0]

    def _failure(self, reason: object) -> GdeError:
        return GdeError(f"openai:{self._config.source}: wanted a chat completion; {_short(reason)}")


def _usable(answer: object) -> bool:
    """The client checks nothing of what a server sends: whatever parses as JSON arrives here."""
    if not isinstance(answer, ChatCompletion) or not isinstance(answer.choices, list) or not answer.choices:
        return False
    message = getattr(answer.choices[0], "message", None)
    return isinstance(message, ChatCompletionMessage) and isinstance(message.content, str | None)


def _completion(answer: ChatCompletion) -> Completion:
    choice = answer.choices[0]
    message = choice.message
    thoughts = [getattr(message, field, None) for field in REASONING_FIELDS]
    refusal = getattr(message, "refusal", None)
    return Completion(
        text=_clean(refusal or message.content or ""),
        reasoning=next((_clean(str(thought)) for thought in thoughts if thought), None),
        finish="refusal" if refusal else FINISHES.get(choice.finish_reason, "stop"),
        n_prompt=answer.usage.prompt_tokens if answer.usage else 0,
        n_completion=answer.usage.completion_tokens if answer.usage else 0,
    )


def _clean(text: str) -> str:
    """Without lone surrogates, which JSON can carry but no journal can store."""
    return text.encode("utf-8", "replace").decode()


def _short(reason: object) -> str:
    text = " ".join(_clean(str(reason)).split()) or type(reason).__name__
    return text if len(text) <= 300 else f"{text[:300]}..."
