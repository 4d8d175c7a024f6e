"""A model behind a server with OpenAI's chat completions."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import Any

import openai
from aiohttp import ClientError

from gde.data.completion import ChatRequest, Completion, FirstAnswer, ModelInfo
from gde.data.json import Json
from gde.errors import GdeError, Unavailable
from gde.masking import masked
from gde.parts.interventions import refuse_interventions
from gde.parts.language_model import send_again
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.connection import (
    Connection,
    CutOff,
    TooLong,
    connect,
)
from gde_plugins.language_models.rate_limit import RateLimit
from gde_plugins.language_models.served_tokens import refuses_ids, with_tokens
from gde_plugins.language_models.server_answers import (
    Failed,
    clean,
    failure,
    first_words,
    read_answer,
    usable,
)
from gde_plugins.language_models.server_check import (
    MISNAMED,
    REFUSING,
    advice,
    changes,
    misnamed,
)
from gde_plugins.language_models.server_errors import (
    FOREIGN,
    message_of,
    read_trouble,
    refusal_of,
)
from gde_plugins.language_models.server_requests import (
    EFFORT,
    IDS,
    asks_likeliest,
    request_body,
    sent_effort,
    sent_limit,
)
from gde_plugins.language_models.server_stream import assemble, is_stream

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds before the first retry; doubled for each further one."""
FIRST_RETRIES = 2
"""Most retries of a request before a run: who waits for it may correct the URL."""
NO_LIST = {405, 500, 501}
"""Statuses of servers that have no list of their models."""
LONGEST_MESSAGE = 300
"""Maximum number of characters of a server's error message."""


class OpenAIModel:
    """Sends each request at once, within the server's rate limit.

    The server makes the batches.
    """

    def __init__(
        self,
        config: OpenAIConfig,
        key: str = "",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Take the options, and the key and headers without references to variables."""
        self._config = config
        self._as_set = config
        """The options as the user has set them."""
        self._key = key
        self._headers = headers
        self._name = config.source
        self._loop: asyncio.AbstractEventLoop | None = None
        """Event loop of connection and limit."""
        self._session: AsyncGenerator[Connection, None] | None = None
        self._connection: Connection | None = None
        self._limit: RateLimit | None = None

    @property
    def _address(self) -> str:
        """The model with its server, for messages and the record."""
        source, url = self._config.source, self._config.url
        return f"openai:{source}@{url}" if source else f"openai:{url}"

    @property
    def _keys(self) -> str:
        """The environment variables with the keys that are sent; empty for none."""
        named = [self._config.api_key_env] if self._key else []
        for header in self._headers:
            _, variable, name = self._config.headers[header].partition("$")
            if variable:
                named.append(name)
        return " and ".join(named)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            name=self._address,
            versions={
                "server": self._config.url,
                "model": self._name or "the only one",
            },
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            Unavailable: the server cannot be reached, refuses the key, or answers
                nobody after all tries.
            GdeError: the server gives no usable answer, or the request has
                interventions, which no server takes.
        """
        refuse_interventions(request, self.info)
        answer = await self._answered(request)
        try:
            limit = sent_limit(request, self._config)
            completion = with_tokens(read_answer(answer, limit), answer)
        except RecursionError as error:
            raise GdeError(
                self._in_one_line(
                    "the answer is nested too deeply. See the server's log"
                )
            ) from error
        return replace(
            completion,
            effort=sent_effort(request, self._config),
            likeliest=asks_likeliest(request, self._config),
        )

    async def _answered(self, request: ChatRequest) -> Mapping[str, Any]:
        """Return the server's answer, after as many tries as it takes or are allowed.

        Raises:
            Unavailable: as `complete`.
            GdeError: as `complete`.
        """
        tries = 0
        in_pieces = False
        while True:
            connection, limit = await self._connected()
            answers_before = limit.answers
            in_pieces = in_pieces or self._config.stream
            try:
                async with limit.turn() as sent:
                    begun = perf_counter()
                    answer = await self._ask(connection, request, in_pieces)
            except (
                openai.OpenAIError,
                ClientError,
                TooLong,
                CutOff,
                Failed,
                ValueError,
                TimeoutError,
            ) as error:
                seconds = perf_counter() - begun
                trouble = read_trouble(error, self._config, seconds, self._keys)
                if trouble.busy:
                    limit.refused(sent, trouble.wait)
                is_own_try = in_pieces and not self._config.stream
                is_hopeless = not (trouble.passing or is_own_try)
                if is_hopeless or tries >= self._config.retries:
                    message = self._in_one_line(trouble.message)
                    if trouble.away:
                        raise Unavailable(message, trouble.own) from error
                    raise GdeError(message) from error
            else:
                limit.answered()
                # An answer in pieces has shown that they pass the proxy.
                if in_pieces:
                    self._config = replace(self._config, stream=True)
                return answer

            if not trouble.busy:
                await asyncio.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries))
            # While the server answers others, a refusal only means to wait for one's
            # turn.
            if not trouble.busy or limit.answers == answers_before:
                tries += 1
            in_pieces = trouble.late and not in_pieces
            await send_again(trouble.kind)

    async def first(self, request: ChatRequest) -> FirstAnswer:
        """Ask once, and leave out harmless fields that the server refuses.

        Raises:
            GdeError: the server cannot be reached, has no such model, or refuses more.
        """
        before = self._as_set
        few = min(before.retries, FIRST_RETRIES)
        self._config = replace(self._config, retries=few)
        refusals: list[str] = []
        begun = perf_counter()
        completion = await self._settled(request, refusals)
        seconds = perf_counter() - begun
        said = "; ".join(dict.fromkeys(refusals))
        if needed := advice(before, self._config):
            problem = f"the server refuses the request: {needed} ({said})"
            raise GdeError(self._in_one_line(problem))

        self._config = replace(self._config, retries=before.retries)
        settings: dict[str, Json] = {}
        if self._config.without != before.without:
            settings["without"] = list(self._config.without)
        if self._config.limit_field != before.limit_field:
            settings["limit_field"] = self._config.limit_field
        is_dropped = EFFORT in self._config.without and EFFORT not in before.without
        return FirstAnswer(
            completion=completion,
            settings=settings,
            seconds=seconds,
            unsent={"effort": said} if is_dropped else {},
        )

    async def _settled(self, request: ChatRequest, refusals: list[str]) -> Completion:
        """Answer a request with the options that it needs, which are kept.

        Raises:
            GdeError: no change of the options has helped.
        """
        try:
            return await self.complete(request)
        except GdeError as error:
            unanswered = error
        refused = refusal_of(unanswered.__cause__)
        if refused is None:
            raise unanswered
        await self._check_name(refused.status, unanswered)
        if refused.status not in REFUSING:
            raise unanswered

        config = self._config
        refusals.append(self._masked(refused.said))
        for changed in changes(config, refused.whole):
            self._config = changed
            try:
                return await self._settled(request, refusals)
            except GdeError:
                # Without a harmless field, the next refusal tells more.
                if not advice(config, changed):
                    raise
        self._config = config
        raise unanswered

    async def _check_name(self, status: int, unanswered: GdeError) -> None:
        """Say so if a server refused a request since it has no such model.

        Raises:
            GdeError: it lists others.
        """
        source = self._config.source
        if status not in MISNAMED or not source:
            return
        connection, _ = await self._connected()
        try:
            names = await connection.models()
        except (openai.OpenAIError, ClientError, TooLong, ValueError):
            # Some servers have no list of models.
            names = []
        if problem := misnamed(source, names):
            raise GdeError(self._in_one_line(problem)) from unanswered

    def close(self) -> None:
        """Forget the connection, which ends with its event loop."""
        self._connection = None
        self._session = None
        self._loop = None
        self._limit = None

    async def _ask(
        self, connection: Connection, request: ChatRequest, in_pieces: bool
    ) -> Mapping[str, Any]:
        """Return the server's JSON, within the time limit of an answer.

        Raises:
            Failed: it tells of a failure of the server, or is no chat completion.
        """
        # The client's own time limit is for a piece of the answer.
        async with asyncio.timeout(self._config.timeout):
            response = await self._post(connection, request, in_pieces)
        try:
            read = assemble if is_stream(response.content) else json.loads
            answer: object = read(response.content)
        # Of JSON that is nested without end, Python only says that it goes too deep.
        except (ValueError, RecursionError) as error:
            answer = text = str(response.text).strip()
            if not text or text.startswith("{"):
                end = f"it ends {text[-60:]!r}" if text else "it is empty"
                raise CutOff(f"the answer is no whole JSON: {end}") from error
        if failed := failure(answer):
            raise failed
        if not usable(answer):
            raise Failed(first_words(answer), FOREIGN)
        return answer

    async def _post(
        self, connection: Connection, request: ChatRequest, in_pieces: bool
    ) -> Any:
        """Send a request, which asks for token ids unless the server refuses that."""
        while True:
            body = await self._body(connection, request, in_pieces)
            try:
                return await connection.post("chat/completions", body)
            except openai.APIStatusError as error:
                is_ours = IDS in body and IDS not in self._config.body
                if not is_ours or not refuses_ids(error):
                    raise
            await send_again()
            if IDS not in self._config.without:
                without = (*self._config.without, IDS)
                self._config = replace(self._config, without=without)

    async def _connected(self) -> tuple[Connection, RateLimit]:
        """Return the connection of the running event loop, and its rate limit."""
        loop = asyncio.get_running_loop()
        if self._connection is None or self._limit is None or self._loop is not loop:
            self._loop = loop
            self._session = self._sessions()
            self._limit = RateLimit(loop.time)
            self._connection = await anext(self._session)
        return self._connection, self._limit

    async def _sessions(self) -> AsyncGenerator[Connection, None]:
        """Yield the connection.

        When an event loop ends it closes its open generators, and so the connections.
        """
        config = self._config
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        headers = {**key, **self._headers}
        connection = connect(config.url, headers, config.timeout, config.max_bytes)
        try:
            yield connection
        finally:
            await connection.close()

    async def _body(
        self, connection: Connection, request: ChatRequest, in_pieces: bool
    ) -> dict[str, Any]:
        if not self._name:
            self._name = await self._only_model(connection)
        config = replace(self._config, stream=in_pieces)
        return request_body(request, self._name, config)

    async def _only_model(self, connection: Connection) -> str:
        try:
            names = await connection.models()
        except openai.APIStatusError as error:
            if error.status_code not in NO_LIST:
                raise
            problem = (
                f"the server does not list its models ({message_of(error)}). "
                f"Name one: openai:MODEL@{self._config.url}"
            )
            raise GdeError(self._in_one_line(problem)) from error
        if len(names) != 1:
            listed = ", ".join(sorted(names)[:10])
            problem = f"the server lists {len(names)} models: {listed}. Name one: openai:MODEL@{self._config.url}"
            raise GdeError(self._in_one_line(problem))
        return names[0]

    def _in_one_line(self, problem: str) -> str:
        """Return a message that names the server, but not the key."""
        return f"{self._address}: {self._masked(problem)}"

    def _masked(self, problem: str) -> str:
        """Return a line without the key, which a server may have sent back."""
        text = " ".join(clean(problem).split())
        for secret in (self._key, *self._headers.values()):
            text = masked(text, secret)
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[:LONGEST_MESSAGE]}..."
        return text
