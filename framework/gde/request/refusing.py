"""What no file of a plan says: how it is run."""

from collections.abc import Iterator
from typing import Any

from gde.data.plan import Choice, Plan
from gde.errors import GdeError
from gde.offers import ModelReference
from gde.request.catalogue import Catalogue
from gde.request.kinds import MODEL, SEVERAL, SINGLE, Kind
from gde.request.names import references, split_url
from gde.request.planfile import says_how
from gde.request.settings import how_fields


def refuse_how(plan: Plan, catalogue: Catalogue, where: str) -> None:
    """Refuse a plan of a file that says how it is run.

    Raises:
        ConfigError: it does; with the option that does instead.
    """
    for kind in (*SINGLE, *SEVERAL):
        for choice in kind.choices(plan):
            named = {choice.label: choice.name} if kind is MODEL else {}
            for config in _configs(kind, choice, catalogue):
                for name in sorted(how_fields(config) & choice.config.keys()):
                    setting = f"{choice.label or kind.table}.{name}"
                    raise says_how(where, setting, f"{setting}=VALUE")
                for name in references(config, ModelReference):
                    value = str(choice.config.get(name, ""))
                    named[value] = value
            for label, name in named.items():
                if split_url(name)[1]:
                    model, _ = split_url(label)
                    said = f"the server of {model}"
                    raise says_how(where, said, f"{model}@URL")


def _configs(kind: Kind, choice: Choice, catalogue: Catalogue) -> Iterator[type[Any]]:
    """The classes that a choice may configure; none for an object or an unknown part."""
    if kind is MODEL:
        # One without a name is the agent's, whichever that is.
        for entry in catalogue.entries(MODEL.name):
            yield entry.offer.config
        return
    if choice.part is None:
        try:
            yield catalogue.find(kind.name, choice.name).offer.config
        # That it is unknown is said where it is looked up.
        except GdeError:
            return
