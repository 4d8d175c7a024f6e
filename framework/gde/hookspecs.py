"""The hooks that a plugin may implement.

Hooks that return offers are pure: they take nothing, import nothing heavy and may be
called at any time. Events return nothing and cannot change a result. Implementations
are marked with `gde.hookimpl`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from pathlib import Path

    import typer

    from gde.comparisons.contest import Contest
    from gde.data.figure import Figure
    from gde.data.measure import Measures
    from gde.data.plan import Plan
    from gde.data.result import Measurement, Result
    from gde.data.trajectory import Trajectory, Turn
    from gde.offers import EnvironmentOffer, MetricOffer, ModelOffer, Offer, ProbeOffer
    from gde.parts.agent import Agent
    from gde.parts.environment import Environment
    from gde.parts.executor import Executor
    from gde.parts.language_model import LanguageModel
    from gde.parts.metric import Metric
    from gde.parts.probe import Probe
    from gde.parts.reporter import Reporter
    from gde.parts.reproduction import Reproduction
    from gde.parts.reward_model import RewardModel
    from gde.studies.study import Study

PROJECT = "gde"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def gde_environments() -> "Sequence[EnvironmentOffer[Any, Environment]]":
    """Offer environments. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_agents() -> "Sequence[Offer[Any, Agent]]":
    """Offer agents; `make` is called once per episode. Collecting: the lists of all
    plugins are joined.
    """
    return ()


@hookspec
def gde_language_models() -> "Sequence[ModelOffer[Any, LanguageModel]]":
    """Offer language models; `make` is called once per run and worker. Collecting: the
    plugins' lists are joined.
    """
    return ()


@hookspec
def gde_probes() -> "Sequence[ProbeOffer[Any, Probe]]":
    """Offer probes. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_reward_models() -> "Sequence[Offer[Any, RewardModel]]":
    """Offer reward models. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_metrics() -> "Sequence[MetricOffer[Any, Metric]]":
    """Offer metrics. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_executors() -> "Sequence[Offer[Any, Executor]]":
    """Offer executors. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_reporters() -> "Sequence[Offer[Any, Reporter]]":
    """Offer reporters. Collecting: the lists of all plugins are joined."""
    return ()


@hookspec
def gde_reproductions() -> "Sequence[Offer[Any, Reproduction]]":
    """Offer published tables to re-run with `gde reproduce`. Collecting: the lists of
    all plugins are joined.
    """
    return ()


@hookspec
def gde_add_commands(app: "typer.Typer") -> None:
    """Add commands to `gde`. Called when the command line is built; import what a
    command needs inside it.
    """


@hookspec(firstresult=True)
def gde_write_page(shown: "Contest | Study") -> "Path | None":
    """Write the page of a contest or of a reproduced study into its folder, and give
    its file. Stops at the first plugin that gives one.
    """


@hookspec(firstresult=True)
def gde_draw_numbers(
    numbers: "Sequence[Measurement]", meanings: "Measures"
) -> "Sequence[Figure] | None":
    """Draw numbers by their numeric labels, one of which makes a curve and two a heat
    map. Stops at the first plugin that gives figures.
    """


@hookspec
def gde_run_started(plan: "Plan", provenance: dict[str, Any]) -> None:
    """A run begins. Event: called in every plugin, returns nothing."""


@hookspec
def gde_turn_finished(episode: str, turn: "Turn") -> None:
    """A turn is in the record, without its completion. Event: called in the main
    process, in a thread of its own.
    """


@hookspec
def gde_episode_finished(trajectory: "Trajectory", done: int, total: int) -> None:
    """An episode is in the record. Event: called in the main process, in a thread of
    its own.
    """


@hookspec
def gde_run_finished(result: "Result") -> None:
    """A run has its result. Event: called in every plugin, returns nothing."""
