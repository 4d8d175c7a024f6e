"""Other parts that a configuration names, by the mark on the field."""

from typing import get_type_hints

from gde.offers import RewardReference


def marked(config: type, mark: type) -> tuple[str, ...]:
    """The fields of a configuration class that carry a mark."""
    hints = get_type_hints(config, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if any(isinstance(each, mark) for each in getattr(hint, "__metadata__", ()))
    )


def referenced(config: object, mark: type) -> dict[str, str]:
    """What a configuration names in fields with a mark, by the field; empty names are left out."""
    named = {name: getattr(config, name) for name in marked(type(config), mark)}
    return {field: name for field, name in named.items() if name}


def reward_names(config: object) -> dict[str, str]:
    """The reward models that a configuration names, by the field that names each."""
    return referenced(config, RewardReference)
