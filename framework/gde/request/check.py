"""Check that the parts of a run fit together, before anything runs."""

from collections.abc import Set
from importlib.util import find_spec

from gde.errors import GdeError, MissingExtra
from gde.offers import Capability
from gde.request.kinds import MODEL
from gde.request.names import weights_field, weights_name
from gde.request.ready import OF_MODEL, Alone, Chosen, Ready

WHAT: dict[str, str] = {
    Capability.STATE: "an environment with a recorded true state (capability state)",
    Capability.MDP: "an environment with a tabular decision process (capability mdp)",
    Capability.OPTIMUM: "an environment with certified optimal actions (capability optimum)",
    Capability.DEMONSTRATION: "an environment with demonstrations (capability demonstration)",
    Capability.GOALS: "an environment that draws its goal again (capability goals)",
    Capability.SNAPSHOT: "an environment with snapshots (capability snapshot)",
    Capability.SIMULATOR: "an environment with a simulator (capability simulator)",
    Capability.MAP: "an environment with a map (capability map)",
    Capability.VIEW: "an environment with drawings (capability view)",
    Capability.WORLDS: "an environment with a list of worlds (capability worlds)",
    Capability.REMARKS: "an environment that remarks on its worlds (capability remarks)",
    Capability.ACTIVATIONS: "an agent whose language model gives activations",
    Capability.ACTION_PROBS: "an agent with action probabilities (capability action_probs)",
    Capability.INTERVENTIONS: "an agent whose language model accepts interventions",
    Capability.ANSWER_FORMS: "a language model that keeps to a form of answers, such as a served one",
    Capability.REWARD_TRACE: "a reward model",
    Capability.BASELINE: "a baseline (capability baseline)",
    Capability.SHOWN_SUCCESS: "an environment that can show a success (capability shown_success)",
    Capability.TRUE_REWARD: "an environment with certified optimal actions or true rewards",
}
"""What a part wants that needs a capability, in words; the capabilities of plugins are
named as they are.
"""


def check_parts(ready: Ready) -> None:
    """Refuse a run whose parts cannot work together or cannot be made here.

    Raises:
        MissingExtra: packages of a part are not installed.
        GdeError: a part needs something that no other part gives.
    """
    for part in ready.parts:
        check_installed(part)
        if Capability.ACTIVATIONS in part.needs and find_spec("safetensors") is None:
            raise MissingExtra(
                f"the record that {part.label} reads", ["safetensors"], "probes"
            )

    plan = ready.plan
    unpriced = sorted(ready.models.keys() - ready.how.prices.keys())
    if ready.how.max_cost is not None and unpriced:
        raise GdeError(
            f"run.max_cost: wanted the prices of model {unpriced[0]!r}, got none;"
            f" set {_called(ready, unpriced[0])}.prices=PROMPT,ANSWER"
        )

    given = ready.gives
    if plan.goal_swap and Capability.GOALS not in given:
        wanted = WHAT[Capability.GOALS]
        raise GdeError(
            f"run.goal_swap needs {wanted}; environment {ready.environment.label!r} is not one"
        )
    for part in ready.parts:
        if reason := lacking(part, ready, given):
            raise GdeError(reason)


def check_alone(alone: Alone) -> None:
    """Refuse a part that cannot be made here, or needs something of a run.

    Raises:
        MissingExtra: packages of a part are not installed.
        GdeError: a part needs something that only a run gives.
    """
    for part in (alone.part, *alone.models.values(), *alone.judges.values()):
        check_installed(part)
        for needed in sorted(part.needs):
            raise GdeError(f"{part.label} needs {_what(needed)}: ask it in a run")


def check_installed(part: Chosen) -> None:
    """Refuse a part whose packages are not installed.

    Raises:
        MissingExtra: they are not.
    """
    offer = part.entry.offer
    if missing := offer.missing():
        raise MissingExtra(part.label, missing, offer.extra or "all")


def _what(capability: str) -> str:
    return WHAT.get(capability, f"a part that gives {capability!r}")


def _called(ready: Ready, model: str) -> str:
    """The PART in `--set PART.FIELD` of a language model."""
    return MODEL.table if model == ready.agent_model else model


def lacking(part: Chosen, ready: Ready, given: Set[str]) -> str:
    """A sentence on a missing capability of the part; empty for none."""
    if part.kind == "probe" or weights_field(type(part.config)):
        # The weights of another part are of no use to this one.
        of_model = ready.given_by(ready.read_model(part)) & OF_MODEL
        given = (given - OF_MODEL) | of_model
    needed = sorted(part.needs - given)
    if not needed:
        return ""
    got = _got(part, ready, needed[0])
    return f"{part.label} needs {_what(needed[0])}; {got}"


def _got(part: Chosen, ready: Ready, capability: str) -> str:
    """Why nothing gives a capability, or how to get it."""
    if capability == Capability.REWARD_TRACE:
        return "add one"
    if capability not in {
        Capability.ACTIVATIONS,
        Capability.ACTION_PROBS,
        Capability.INTERVENTIONS,
        Capability.ANSWER_FORMS,
    }:
        return f"environment {ready.environment.label!r} is not one"

    # Of the others, both the agent's offer and its model must give them.
    agent = f"agent {ready.agent.label!r}"
    if not ready.agent_model:
        return f"{agent} asks no language model"
    if capability == Capability.ANSWER_FORMS:
        return f"{ready.agent_model!r} does not: take another form, or another model"
    if capability in ready.agent.entry.offer.gives:
        if weights := weights_name(part.config):
            return f"{weights!r} gives none: wanted local weights, e.g. hf:PATH_OR_ID"
        gives_none = f"{agent} with model {ready.agent_model!r} gives none"
        if not weights_field(type(part.config)):
            return gives_none
        return f"{gives_none}; to read a served model's, give local weights, e.g. hf:PATH_OR_ID"
    return (
        f"the offer of {agent} does not say gives={{Capability.{capability.upper()}}}"
    )
