"""Offers the kit's parts by name, for runs in tests: name this module in
GDE_LOAD_PLUGINS.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    EnvironmentOffer,
    ModelOffer,
    NoConfig,
    Offer,
    ProbeOffer,
)
from gde.testing.config import (
    AdvisedConfig,
    AskingConfig,
    CorridorConfig,
    DictationConfig,
    JudgeConfig,
    PlanConfig,
    PlantedConfig,
    RecipeConfig,
    ScriptedConfig,
    SlowConfig,
    SteeringConfig,
)

if TYPE_CHECKING:
    from gde.parts.context import Context

OF_MODEL = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
"""What the planted model gives, and an agent that asks it."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The corridor, a slow one, and two worlds that are no decision processes."""
    return (
        EnvironmentOffer(
            name="corridor",
            summary="A row of cells with the goal in the last.",
            config=CorridorConfig,
            make=_corridor,
            gives=frozenset(
                {
                    Capability.STATE,
                    Capability.MDP,
                    Capability.SNAPSHOT,
                    Capability.SIMULATOR,
                    Capability.MAP,
                }
            ),
        ),
        EnvironmentOffer(
            name="slow-corridor",
            summary="A corridor that takes its time, and may keep a step for ever.",
            config=SlowConfig,
            make=_slow,
            gives=frozenset(
                {
                    Capability.STATE,
                    Capability.MDP,
                    Capability.SNAPSHOT,
                    Capability.SIMULATOR,
                    Capability.MAP,
                }
            ),
            blocking=True,
        ),
        EnvironmentOffer(
            name="recipe",
            summary="Steps in an order; the expert's way is known, a decision process is not.",
            config=RecipeConfig,
            make=_recipe,
            gives=frozenset({Capability.OPTIMUM, Capability.DEMONSTRATION}),
        ),
        EnvironmentOffer(
            name="dictation",
            summary="Lines of any length to be written down in free text.",
            config=DictationConfig,
            make=_dictation,
            gives=frozenset({Capability.OPTIMUM}),
        ),
    )


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Agents that follow a script, copy, ask a model, ask two, or steer the one they
    ask.
    """
    return (
        Offer(
            name="copyist",
            summary="Says again what it is shown.",
            config=NoConfig,
            make=_copyist,
        ),
        Offer(
            name="scripted",
            summary="Takes given actions in turn.",
            config=ScriptedConfig,
            make=_scripted,
        ),
        Offer(
            name="asking",
            summary="Takes the language model's answer as the action.",
            config=AskingConfig,
            make=_asking,
            gives=OF_MODEL,
        ),
        Offer(
            name="steering",
            summary="Asks under an intervention, which turns the planted model.",
            config=SteeringConfig,
            make=_steering,
            gives=OF_MODEL,
            needs=frozenset({Capability.INTERVENTIONS}),
        ),
        Offer(
            name="advised",
            summary="Asks one language model for advice and another for the action.",
            config=AdvisedConfig,
            make=_advised,
            gives=frozenset({Capability.ACTIVATIONS}),
        ),
    )


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """The judge."""
    return (
        Offer(
            name="progress-judge",
            summary="Asks a language model about every turn.",
            config=JudgeConfig,
            make=_judge,
        ),
    )


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """The planted model, and one that judges."""
    return (
        ModelOffer(
            name="appraising",
            summary="Says how far along a corridor the agent stands.",
            config=NoConfig,
            make=_appraising,
        ),
        ModelOffer(
            name="planted",
            summary="Always answers RIGHT unless steered; the text is planted in its activations.",
            config=PlantedConfig,
            make=_planted,
            gives=OF_MODEL,
        ),
    )


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """The plan decoder."""
    return (
        ProbeOffer(
            name="moves",
            summary="Decodes the next actions in a corridor from single tokens.",
            config=PlanConfig,
            make=_plan,
            needs=frozenset({Capability.ACTIVATIONS}),
        ),
    )


def _corridor(config: CorridorConfig, _: "Context") -> object:
    from gde.testing.parts import Corridor

    return Corridor(config.length)


def _scripted(config: ScriptedConfig, _: "Context") -> object:
    from gde.testing.parts import ScriptedAgent

    return ScriptedAgent(config.actions)


def _asking(config: AskingConfig, context: "Context") -> object:
    from gde.testing.parts import AskingAgent

    return AskingAgent(context.model(config.model))


def _steering(config: SteeringConfig, context: "Context") -> object:
    import numpy as np

    from gde.data.activations import Intervention
    from gde.testing.parts import AskingAgent

    model: Any = context.model(config.model)
    vector = (
        np.asarray(config.vector, dtype=np.float32) if config.vector else model.turning
    )
    vector = vector * np.float32(config.strength)
    change = Intervention(
        layer=config.layer, position=config.position, kind=config.kind, vector=vector
    )
    return AskingAgent(model, (change,))


def _planted(config: PlantedConfig, _: "Context") -> object:
    from gde.testing.parts import PlantedModel

    return PlantedModel(width=config.width)


def _plan(config: PlanConfig, _: "Context") -> object:
    from gde.testing.plan_probe import PlanProbe

    return PlanProbe(ahead=config.ahead, layers=config.layer, position=config.position)


def _slow(config: SlowConfig, _: "Context") -> object:
    from gde.testing.worlds import SlowCorridor

    return SlowCorridor(config.length, config.seconds, config.trap)


def _recipe(config: RecipeConfig, _: "Context") -> object:
    from gde.testing.worlds import Recipe

    return Recipe(config.length)


def _dictation(config: DictationConfig, _: "Context") -> object:
    from gde.testing.worlds import Dictation

    return Dictation(config.lines)


def _copyist(_: NoConfig, __: "Context") -> object:
    from gde.testing.parts import Copyist

    return Copyist()


def _advised(config: AdvisedConfig, context: "Context") -> object:
    from gde.testing.parts import AdvisedAgent

    return AdvisedAgent(
        context.model(config.model), adviser=context.model(config.adviser)
    )


def _judge(config: JudgeConfig, context: "Context") -> object:
    from gde.testing.judging import Judge

    return Judge(context.model(config.model))


def _appraising(_: NoConfig, __: "Context") -> object:
    from gde.testing.judging import appraise
    from gde.testing.parts import ScriptedModel

    return ScriptedModel(appraise)
