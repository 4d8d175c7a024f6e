"""Other parts that a configuration names, by the mark on the field."""

from typing import get_type_hints

from gde.offers import RewardReference


def referenced(config: object, mark: type) -> dict[str, str]:
    """What a configuration names in fields with a mark, by the field; empty names are left out."""
    hints = get_type_hints(type(config), include_extras=True)
    named = {
        name: getattr(config, name)
        for name, hint in hints.items()
        if any(isinstance(each, mark) for each in getattr(hint, "__metadata__", ()))
    }
    return {field: name for field, name in named.items() if name}


def reward_names(config: object) -> dict[str, str]:
    """The reward models that a configuration names, by the field that names each."""
    return referenced(config, RewardReference)
