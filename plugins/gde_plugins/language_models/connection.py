"""Connections to a server that need not be trusted: it cannot send more than is wanted, nor send the key elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import openai

AT_ONCE = 8
"""Requests in flight at once in one client: for each of them it looks at all of its connections."""
CONNECTING = 30.0
"""Seconds to reach a server."""


class TooLong(Exception):
    """An answer of more bytes than is allowed."""


class Clients:
    """Clients of one server in one event loop, as many as are needed for all requests in flight."""

    def __init__(self, make: Callable[[], openai.AsyncOpenAI]) -> None:
        self._make = make
        self._clients = [make()]
        self._busy = [0]

    @contextmanager
    def one(self) -> Iterator[openai.AsyncOpenAI]:
        """A client for one request."""
        place = next((i for i, n in enumerate(self._busy) if n < AT_ONCE), len(self._busy))
        if place == len(self._busy):
            self._clients.append(self._make())
            self._busy.append(0)
        self._busy[place] += 1
        try:
            yield self._clients[place]
        finally:
            self._busy[place] -= 1

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            await client.close()


def connect(url: str, key: str, seconds: float, most_bytes: int) -> Clients:
    """Clients that try once, follow no redirect, and break off an answer of too many bytes.

    Args:
        url: the server's.
        key: sent with every request.
        seconds: the longest time between two pieces of an answer.
        most_bytes: of an answer.

    Raises:
        ValueError: what is no URL.
    """
    http = _http()

    class Capped(http.AsyncByteStream):  # type: ignore[misc, name-defined]  # known only now
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            n = 0
            async for piece in self._stream:
                n += len(piece)
                if n > most_bytes:
                    raise TooLong(f"an answer of more than {most_bytes} bytes")
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def cap(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLong("a compressed answer, which may be of any length; it was asked not to compress")
        response.stream = Capped(response.stream)

    trusted = http.create_ssl_context()  # takes longer to make than all the rest of a client

    def client() -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            base_url=url,
            api_key=key,
            max_retries=0,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                event_hooks={"response": [cap]},
                timeout=openai.Timeout(seconds, connect=min(seconds, CONNECTING)),
                limits=http.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE),
                verify=trusted,
            ),
        )

    return Clients(client)


def _http() -> Any:
    """The package that openai speaks HTTP by, whichever it is."""
    (home,) = {each.__module__ for each in openai.DefaultAsyncHttpxClient.__mro__ if each.__name__ == "AsyncClient"}
    return import_module(home.partition(".")[0])
