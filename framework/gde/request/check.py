"""Whether the parts of a run fit together: everything that can be refused is refused before anything runs."""

from importlib.util import find_spec

from gde.errors import GdeError, MissingExtra
from gde.offers import Facet
from gde.request.resolve import Chosen, Ready

WHAT: dict[Facet, str] = {
    Facet.STATE: "an environment that tells its true state",
    Facet.MODEL: "an environment with a tabular model",
    Facet.GRID: "a grid environment",
    Facet.WORLDS: "an environment that lists its worlds",
    Facet.ACTIVATIONS: "an agent whose language model gives activations",
    Facet.ACTION_PROBS: "an agent that gives action probabilities",
    Facet.REWARD_TRACE: "a reward model",
}


def check(ready: Ready) -> None:
    """Refuse a run whose parts cannot work together or cannot be made here.

    Raises:
        MissingExtra: packages of a part are not installed.
        GdeError: a part needs something that no other part gives.
    """
    parts = [*_parts(ready)]
    for part in parts:
        if missing := part.entry.offer.missing():
            raise MissingExtra(part.name, missing, part.entry.offer.extra or "all")
        if Facet.ACTIVATIONS in part.entry.offer.needs and find_spec("safetensors") is None:
            raise MissingExtra(f"the record that {part.name} reads", ["safetensors"], "probes")
    given = ready.gives | ({Facet.REWARD_TRACE} if ready.rewards else frozenset())
    for part in parts:
        if lacking := sorted(part.entry.offer.needs - given, key=lambda facet: facet.value):
            raise GdeError(f"{part.name} needs {WHAT[lacking[0]]}; {_got(ready, lacking[0])}")


def _parts(ready: Ready) -> list[Chosen]:
    model = [ready.language_model] if ready.language_model else []
    chosen = [*ready.probes, *ready.rewards, *ready.metrics, *ready.reporters]
    return [ready.strata[0].environment, ready.agent, *model, ready.executor, *chosen]


def _got(ready: Ready, facet: Facet) -> str:
    if facet is Facet.REWARD_TRACE:
        return "add one with --reward"
    if facet in {Facet.ACTIVATIONS, Facet.ACTION_PROBS}:
        model = f" with model {ready.language_model.name!r}" if ready.language_model else ""
        return f"agent {ready.agent.name!r}{model} gives none"
    return f"environment {ready.plan.environment.name!r} is not one"
