"""Connections to a server that need not be trusted: it cannot send more than is wanted, nor send the key elsewhere."""

from collections.abc import AsyncIterator
from functools import cache
from importlib import import_module
from typing import Any

import openai

from gde_plugins.language_models.rate_limit import MOST

CONNECTING = 30.0
"""Seconds to reach a server."""


class TooLong(Exception):
    """An answer of more bytes than is allowed."""


def connect(url: str, key: str, seconds: float, most_bytes: int) -> openai.AsyncOpenAI:
    """A client that tries once, follows no redirect, and breaks off an answer of too many bytes.

    Args:
        url: the server's.
        key: sent with every request.
        seconds: the longest time between two pieces of an answer.
        most_bytes: of an answer.

    Raises:
        ValueError: what is no URL.
    """
    http = http_package()

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

    return openai.AsyncOpenAI(
        base_url=url,
        api_key=key,
        max_retries=0,
        default_headers={"Accept-Encoding": "identity"},
        # By aiohttp, of which a request costs a third of the client's own HTTP, however many are in flight.
        http_client=openai.DefaultAioHttpClient(
            follow_redirects=False,
            event_hooks={"response": [cap]},
            timeout=openai.Timeout(seconds, connect=min(seconds, CONNECTING)),
            limits=http.Limits(max_connections=MOST, max_keepalive_connections=MOST),
        ),
    )


@cache  # every request asks
def http_package() -> Any:
    """The package whose types openai speaks HTTP in, whichever it is."""
    (home,) = {each.__module__ for each in openai.DefaultAsyncHttpxClient.__mro__ if each.__name__ == "AsyncClient"}
    return import_module(home.partition(".")[0])
