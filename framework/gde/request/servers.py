"""Where language models are served, which no plan says."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from gde.data.how import URL, How
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, GdeError
from gde.offers import ModelReference
from gde.request.catalogue import Catalogue
from gde.request.howfile import with_settings
from gde.request.kinds import MODEL, SEVERAL, SINGLE, Kind
from gde.request.names import references, split_url
from gde.request.planfile import says_how
from gde.request.settings import how_fields


def without_servers(plan: Plan, how: How, catalogue: Catalogue) -> tuple[Plan, How]:
    """The plan without addresses behind names of models, and a `How` with them.

    Raises:
        ConfigError: one model at two addresses.
    """
    found = _Servers(catalogue)
    fields: dict[str, Any] = {}
    for kind in SINGLE:
        fields[kind.field] = found.without(kind, getattr(plan, kind.field))
    for kind in SEVERAL:
        choices = getattr(plan, kind.field)
        fields[kind.field] = tuple(found.without(kind, each) for each in choices)
    settings = {label: {URL: url} for label, url in found.urls.items()}
    return replace(plan, **fields), with_settings(how, settings)


def refuse_how(plan: Plan, catalogue: Catalogue, where: str) -> None:
    """Refuse a plan of a file that says how it is run.

    Raises:
        ConfigError: it does; with the option that does instead.
    """
    for kind in (*SINGLE, *SEVERAL):
        asked = getattr(plan, kind.field)
        for choice in asked if kind.several else (asked,):
            marked = {
                name
                for one in _configs(kind, choice, catalogue)
                for name in how_fields(one)
            }
            for name in sorted(marked & choice.config.keys()):
                setting = f"{choice.label or kind.table}.{name}"
                raise says_how(where, setting, f"--set {setting}=VALUE")
    _, located = without_servers(plan, How(), catalogue)
    for label in located.settings:
        raise says_how(where, f"the server of {label}", f"--model {label}@URL")


@dataclass(frozen=True)
class _Servers:
    catalogue: Catalogue
    urls: dict[str, str] = field(default_factory=dict)
    """Addresses that stood behind names, by model."""

    def without(self, kind: Kind, choice: Choice) -> Choice:
        if kind is MODEL:
            return replace(choice, name=self._bare(choice.name, choice.alias))
        config = dict(choice.config)
        for one in _configs(kind, choice, self.catalogue):
            for name in references(one, ModelReference).keys() & config.keys():
                value = config[name]
                if isinstance(value, str):
                    config[name] = self._bare(value)
        return replace(choice, config=config)

    def _bare(self, name: str, alias: str = "") -> str:
        bare, url = split_url(name)
        known = self.urls.setdefault(alias or bare, url) if url else ""
        if known != url:
            raise ConfigError(
                f"language model {bare!r} is asked at {known} and at {url}: give each a name of its own, e.g."
                f" --model first={bare}@{known}"
            )
        return bare


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
