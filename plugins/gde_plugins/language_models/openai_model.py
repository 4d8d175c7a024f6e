"""A model behind a server that speaks OpenAI's chat completions."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import openai

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.errors import GdeError, Unavailable
from gde.parts.interventions import refuse_interventions
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.connection import TooLong, connect, http_package
from gde_plugins.language_models.rate_limit import RateLimit, retry_after
from gde_plugins.language_models.server_answers import clean, read_answer, usable

SEEDS = 2**31
"""Servers differ in the integers that they take as a seed; all take these."""
TRY_AGAIN = {408, 409, 500, 502, 503, 504, 529}
"""Statuses that may pass."""
AWAY = {401, 402, 403, 404, *range(300, 400), 429, *range(500, 600)}
"""Statuses that say nothing about the request: nobody is answered."""
SPENT = "insufficient_quota"
"""The code of a refusal that no waiting helps against."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds before the next try; twice as many each time."""


class OpenAIModel:
    """Sends requests on as fast as the server takes them: batching belongs to it. How exactly it repeats an answer
    does, too."""

    def __init__(self, config: OpenAIConfig, key: str = "") -> None:
        self._config, self._key = config, key
        self._name = config.model
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: AsyncGenerator[openai.AsyncOpenAI, None] | None = None
        self._client: openai.AsyncOpenAI | None = None
        self._limit: RateLimit | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            name=f"openai:{self._config.source}",
            versions={"server": self._config.source, "model": self._name or "the only one"},
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            Unavailable: the server is not reached, refuses the key, or answers nobody after all tries.
            GdeError: no usable answer, or interventions, which no server takes.
        """
        refuse_interventions(request, self.info)
        tries = 0
        while True:
            client, limit = await self._connected()
            answers = limit.answers
            try:
                async with limit.turn() as sent:
                    answer = await self._asked(client, request)
            except (openai.OpenAIError, TooLong, ValueError, TimeoutError) as error:
                pause = self._pause(error, limit, sent, tries)
                # To be refused while others are answered is to wait for one's turn.
                tries += not (pause == 0.0 and limit.answers > answers)
                await asyncio.sleep(pause)
                continue
            limit.answered(sent)
            if not usable(answer):
                raise GdeError(self._failure(f"got {answer}"))
            return read_answer(answer)

    def close(self) -> None:
        """Forget the client; its connections end with the event loop that they belong to."""
        self._client = self._session = self._loop = self._limit = None

    async def _asked(self, client: openai.AsyncOpenAI, request: ChatRequest) -> object:
        """What comes back, within the time for one answer: the client's own limit is for a piece of it."""
        async with asyncio.timeout(self._config.timeout):
            # Without the method for it, which walks through every message to check and change what needs neither, and
            # without the types of its answers, which nothing checks and which take as long to make as the request.
            body = await self._body(client, request)
            response = await client.post("/chat/completions", cast_to=http_package().Response, body=body)
            return _read(response)

    def _pause(self, error: Exception, limit: RateLimit, sent: float, tries: int) -> float:
        """Seconds until the next try; 0 where the limit has the next one wait.

        Raises:
            Unavailable: there is no next one, and it is the server's fault.
            GdeError: there is none, and the request may be at fault.
        """
        status = error.status_code if isinstance(error, openai.APIStatusError) else None
        told = retry_after(error.response.headers) if isinstance(error, openai.APIStatusError) else None
        busy = status == 429 or (status in TRY_AGAIN and told is not None)
        lost = isinstance(error, openai.APIConnectionError) and not _in_answer(error)
        hopeless = getattr(error, "code", None) == SPENT or (told or 0.0) > self._config.longest_wait
        if busy and not hopeless:  # else those behind it would wait for what is given up here
            limit.refused(sent, told)
        if not hopeless and (busy or lost or status in TRY_AGAIN) and tries < self._config.retries:
            return 0.0 if busy else min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
        failure = self._failure(_reason(error, self._config.timeout))
        raise (Unavailable if lost or status in AWAY else GdeError)(failure) from error

    async def _connected(self) -> tuple[openai.AsyncOpenAI, RateLimit]:
        """The client of the running event loop, and how fast it may ask."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._limit is None or self._loop is not loop:
            self._loop, self._session, self._limit = loop, self._sessions(), RateLimit(loop.time)
            try:
                self._client = await anext(self._session)
            except ValueError as error:  # what is no URL
                raise GdeError(self._failure(error)) from error
        return self._client, self._limit

    async def _sessions(self) -> AsyncGenerator[openai.AsyncOpenAI, None]:
        """Yields the client. A loop closes the generators that are still open when it ends, and so the connections."""
        config = self._config
        client = connect(config.source, self._key or "none", config.timeout, config.max_bytes)
        try:
            yield client
        finally:
            await client.close()

    async def _body(self, client: openai.AsyncOpenAI, request: ChatRequest) -> dict[str, Any]:
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

    async def _only_model(self, client: openai.AsyncOpenAI) -> str:
        names = [model.id async for model in client.models.list()]
        if len(names) != 1:
            raise GdeError(
                f"openai:{self._config.source}: wanted model.model, for the server has {len(names)} models: "
                + ", ".join(sorted(names)[:10])
            )
        return names[0]

    def _failure(self, reason: object) -> str:
        """In one line, and without the key, which a server may have sent back."""
        text = " ".join(clean(str(reason)).split()) or type(reason).__name__
        text = text.replace(self._key, "***") if self._key else text
        short = text if len(text) <= 300 else f"{text[:300]}..."
        return f"openai:{self._config.source}: wanted a chat completion; {short}"


def _read(response: Any) -> object:
    """What a server has sent: JSON, or whatever text it is."""
    try:
        return json.loads(response.content)
    except ValueError:
        return response.text


def _in_answer(error: BaseException) -> bool:
    """Whether the connection stood, and it was the answer that was too slow or too long."""
    too_slow = isinstance(error, openai.APITimeoutError) and "Connect" not in type(error.__cause__).__name__
    return too_slow or _too_long(error) is not None


def _too_long(error: BaseException) -> BaseException | None:
    """Which versions of the client wrap."""
    return next((each for each in (error, error.__cause__) if isinstance(each, TooLong)), None)


def _reason(error: Exception, seconds: float) -> str:
    if isinstance(error, openai.APIConnectionError) and not _in_answer(error):
        return f"Connection error: {error.__cause__ or error}"
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return f"timed out: no whole answer within {seconds:g} seconds (model.timeout)"
    if too_long := _too_long(error):
        return f"got {too_long} (model.max_bytes)"
    if isinstance(error, openai.APIStatusError) and 300 <= error.status_code < 400:
        where = error.response.headers.get("location", "nowhere")
        return f"got a redirect to {where}, which is not followed: name the address itself"
    return str(error)
