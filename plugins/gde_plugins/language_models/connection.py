"""Connections to untrusted servers: bounded answers, and no redirect of the key."""

import json
from collections.abc import AsyncIterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import openai

from gde_plugins.language_models.rate_limit import MOST

CONNECTING = 30.0
"""Time limit in seconds for connecting to a server."""


class TooLong(Exception):
    """An answer with a maximum number of bytes."""


class CutOff(Exception):
    """An answer that is empty, or begins as JSON and does not end as such."""


class Connection:
    """A server's API, and a short way to what a run asks again and again."""

    def __init__(self, url: str, http_client: Any) -> None:
        """Take the base URL and the HTTP client."""
        self._url = http_package().URL(url)
        self._http = http_client

    async def models(self) -> list[str]:
        """The names of the server's models.

        Raises:
            ValueError: the answer is no list of models.
            openai.APIStatusError: as `post`.
            openai.APIConnectionError: as `post`.
        """
        response = await self._send("GET", "models")
        try:
            return [str(one["id"]) for one in response.json()["data"]]
        except (KeyError, TypeError) as error:
            raise ValueError("the answer is no list of models") from error

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send JSON to a path of the API, and return the HTTP package's response.

        openai's own method builds and checks every request anew, which takes as long as
        sending it.

        Raises:
            openai.APIStatusError: the server refuses the request.
            openai.APIConnectionError: it cannot be reached, or is too slow.
        """
        return await self._send("POST", path, body)

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Any:
        http = http_package()
        whole = f"{self._url.path.rstrip('/')}/{path}"
        request = self._http.build_request(
            method, self._url.copy_with(path=whole), json=body
        )
        try:
            response = await self._http.send(request)
        except http.TimeoutException as error:
            raise openai.APITimeoutError(request=request) from error
        except http.TransportError as error:
            raise openai.APIConnectionError(request=request) from error
        if not response.is_success:
            raise _refusal(response)
        return response

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def _refusal(response: Any) -> openai.APIStatusError:
    """Return the exception of openai's client for such a response."""
    try:
        body = json.loads(response.text)
    except (ValueError, RecursionError):
        body = response.text.strip()
    if isinstance(body, Mapping):
        body = body.get("error", body)
    return openai.APIStatusError(
        f"Error code: {response.status_code} - {body}", response=response, body=body
    )


def connect(
    url: str,
    headers: Mapping[str, str],
    seconds: float,
    most_bytes: int,
) -> Connection:
    """Connect without retries, redirects or oversized answers.

    Args:
        url: base URL of the server.
        headers: sent with every request, the key among them.
        seconds: the longest time between two pieces of an answer.
        most_bytes: the most bytes of an answer.
    """
    http = http_package()

    class Capped(http.AsyncByteStream):  # type: ignore[misc, name-defined]  # the base is known at run time only
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            n = 0
            async for piece in self._stream:
                n += len(piece)
                if n > most_bytes:
                    raise TooLong(
                        f"the answer has more than {most_bytes} bytes. Raise model.max_bytes"
                    )
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def cap(response: Any) -> None:
        # A few compressed bytes can unpack to any number, and the request asks for
        # none.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLong(
                "the server sent a compressed answer. Make it respect Accept-Encoding: identity"
            )
        response.stream = Capped(response.stream)

    # aiohttp takes a third of the time of the client's own HTTP, however many requests
    # are in flight.
    http_client = openai.DefaultAioHttpClient(
        headers={
            "Accept": "application/json",
            "User-Agent": "gde",
            **headers,
            "Accept-Encoding": "identity",
        },
        follow_redirects=False,
        event_hooks={"response": [cap]},
        timeout=openai.Timeout(seconds, connect=min(seconds, CONNECTING)),
        limits=http.Limits(max_connections=MOST, max_keepalive_connections=MOST),
    )
    return Connection(url, http_client)


@cache  # every request needs it
def http_package() -> Any:
    """Return the HTTP package of openai's types, which differs between its versions."""
    ancestors = openai.DefaultAsyncHttpxClient.__mro__
    (home,) = {each.__module__ for each in ancestors if each.__name__ == "AsyncClient"}
    package, _, _ = home.partition(".")
    return import_module(package)
