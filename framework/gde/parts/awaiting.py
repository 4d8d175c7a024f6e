"""What a function gives, whether it is async or not."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(value: Any) -> Any:
    """A value, or what it gives once it is awaited."""
    return await value if isawaitable(value) else value


def in_loop() -> bool:
    """Whether an event loop is running here, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, also where an event loop is running."""
    if not in_loop():
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()
