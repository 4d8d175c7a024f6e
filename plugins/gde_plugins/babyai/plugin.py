"""Offers BabyAI's worlds, questions, agents and metrics, and LLM-BabyBench."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    EnvironmentOffer,
    MetricOffer,
    NoConfig,
    Offer,
)

if TYPE_CHECKING:
    import typer

    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde_plugins.babyai.config import QuestionConfig

IMPORTS, EXTRA = ("gymnasium", "minigrid"), "minigrid"
BABYAI = "babyai"
"""Capability of the worlds that OmniBot acts in."""
QUESTIONS = "babyai-questions"
"""Capability of environments that ask questions about worlds."""
TEXT = "babyai-text"
"""Capability of both, whose texts describe a BabyAI world."""
SUMMARIES = {
    "predict": "one question about a BabyAI world: where is the agent after these actions?",
    "plan": "one question about a BabyAI world: which actions lead to that cell?",
    "decompose": "one question about a BabyAI world: which subgoals fulfil the mission?",
}


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the worlds and three question tasks (Choukrani et al. 2025)."""
    from gde_plugins.babyai.config import (
        BabyAIConfig,
        PlanConfig,
        QuestionConfig,
    )

    configs = {
        "predict": QuestionConfig,
        "plan": PlanConfig,
        "decompose": QuestionConfig,
    }

    both_give = {
        Capability.STATE,
        Capability.SNAPSHOT,
        Capability.WORLDS,
        Capability.MAP,
        TEXT,
    }
    offers: list[AnyOffer] = [
        EnvironmentOffer(
            name="babyai",
            summary="BabyAI levels in text: a mission, rooms with doors, keys, balls, boxes (Choukrani et al. 2025)",
            config=BabyAIConfig,
            make="gde_plugins.babyai.environment:BabyAIEnvironment",
            gives={
                *both_give,
                Capability.OPTIMUM,
                Capability.GOALS,
                Capability.SIMULATOR,
                BABYAI,
            },
            version=3,
            imports=IMPORTS,
            extra=EXTRA,
        )
    ]
    for task, summary in SUMMARIES.items():
        question = EnvironmentOffer(
            name=f"babyai-{task}",
            summary=summary,
            config=configs[task],
            make=partial(_question, task),
            gives={*both_give, Capability.REMARKS, QUESTIONS, f"babyai-{task}"},
            version=6 if task == "predict" else 5,
            imports=IMPORTS,
            extra=EXTRA,
        )
        offers.append(question)
    return offers


def _question(task: str, config: "QuestionConfig", _: "Context") -> "Environment":
    from gde_plugins.babyai.tasks.environment import QuestionEnvironment

    return QuestionEnvironment(task, config)


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Offer the bot, and agents that answer questions."""
    from gde_plugins.babyai.config import (
        BlindConfig,
        OmniBotConfig,
        PrompterConfig,
    )

    return (
        Offer(
            name="omnibot",
            summary="BabyAI expert with full view that works through subgoals, perhaps with noise",
            config=OmniBotConfig,
            make="gde_plugins.babyai.agents.omnibot:OmniBotAgent",
            needs={Capability.SNAPSHOT, BABYAI},
            imports=IMPORTS,
            extra=EXTRA,
        ),
        Offer(
            name="babyai-prompter",
            summary="a language model that answers BabyAI questions, with one of four prompting methods",
            config=PrompterConfig,
            make="gde_plugins.babyai.agents.prompter:Prompter",
            version=2,
            needs={Capability.SNAPSHOT, QUESTIONS},
            gives={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
            imports=IMPORTS,
            extra=EXTRA,
        ),
        Offer(
            name="babyai-blind",
            summary="answers to BabyAI questions that do not read the world, as baselines",
            config=BlindConfig,
            make="gde_plugins.babyai.agents.blind:BlindAnswerer",
            needs={Capability.SNAPSHOT, QUESTIONS},
            imports=IMPORTS,
            extra=EXTRA,
        ),
        Offer(
            name="babyai-scripted",
            summary="the solutions of BabyAI questions",
            config=NoConfig,
            make="gde_plugins.babyai.agents.scripted:ScriptedAnswerer",
            needs={Capability.SNAPSHOT, QUESTIONS},
            imports=IMPORTS,
            extra=EXTRA,
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the scores of answers, and bounds of the optimum."""
    from gde_plugins.babyai.measures import BOUNDS, MEASURES

    bounds: AnyOffer = MetricOffer(
        name="babyai-bounds",
        summary="certified bounds of accuracy and regret where the optimum is not exact",
        config=NoConfig,
        part="gde_plugins.babyai.scoring.bounds:bounds",
        measures=BOUNDS,
        needs={BABYAI},
        group="babybench",
        default=True,
        facts="turns",
    )
    scores: Iterator[AnyOffer] = (
        MetricOffer(
            name=f"babyai-{task}",
            summary=f"answers to {task} questions: success, related scores, unusable answers",
            config=NoConfig,
            part=f"gde_plugins.babyai.scoring.metrics:{task}",
            measures=measures,
            needs={f"babyai-{task}"},
            version=4,
            group="babybench",
            default=True,
            facts="turns",
        )
        for task, measures in MEASURES.items()
    )
    return (bounds, *scores)


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the tables of LLM-BabyBench."""
    from gde_plugins.babyai.config import StudyConfig

    return (
        Offer(
            name="babybench",
            summary="Predict, Plan and Decompose in BabyAI worlds (Choukrani et al. 2025, section 5 and appendices)",
            config=StudyConfig,
            make="gde_plugins.babyai.study.babybench:BabyBenchStudy",
        ),
    )


@hookimpl
def gde_add_commands(app: "typer.Typer") -> None:
    """Add `gde babyai`."""
    from gde_plugins.babyai.commands import add_commands

    add_commands(app)
