"""What a function gives, whether it is async or not."""

from inspect import isawaitable
from typing import Any


async def settled(value: Any) -> Any:
    """A value, or what it gives once it is awaited."""
    return await value if isawaitable(value) else value
