"""Other parts that a configuration names, by the mark on the field."""

from typing import TypeVar, get_type_hints

from gde.offers import RewardReference

MarkT = TypeVar("MarkT")


def marked(config: type, mark: type) -> tuple[str, ...]:
    """The fields of a configuration class that carry a mark."""
    hints = get_type_hints(config, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if any(isinstance(each, mark) for each in getattr(hint, "__metadata__", ()))
    )


def mark_of(config: type, field: str, mark: type[MarkT]) -> MarkT:
    """The mark that a field carries."""
    hint = get_type_hints(config, include_extras=True)[field]
    return next(each for each in hint.__metadata__ if isinstance(each, mark))


def referenced(config: object, mark: type) -> dict[str, str]:
    """What a configuration names in fields with a mark, by the field; empty names are left out."""
    named = {name: getattr(config, name) for name in marked(type(config), mark)}
    return {field: name for field, name in named.items() if name}


def reward_names(config: object) -> dict[str, str]:
    """The reward models that a configuration names, by the field that names each."""
    return referenced(config, RewardReference)
