"""Every environment of gde as a task of Inspect, and every metric as a scorer.

For example: `inspect eval gde/grid --model ...`.

Inspect imports this module by the entry-point group `inspect_ai`. A sample is a world;
its solver plays the episode with an agent that asks Inspect's model; its scorer is
given what was recorded: the numbers are those of gde.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from sysconfig import get_path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from gde.request.catalogue import Catalogue
from gde_plugins.exchange.inspect_episodes import RECORD, Setting, episode
from gde_plugins.exchange.inspect_numbers import numbers

WORLDS = 20
# Inspect puts the name of the package before a task's where the package lies among the
# installed ones; of a checkout that is installed editable it looks for a distribution
# of the package's name, which ours does not have.
PREFIX = "" if Path(__file__).is_relative_to(get_path("purelib")) else "gde/"


def make_task(
    environment: str,
    worlds: int = WORLDS,
    seed: int = 0,
    agent: str = "",
    metrics: str | Sequence[str] = (),
    settings: dict[str, Any] | None = None,
) -> Task:
    """A task of worlds in an environment.

    Args:
        environment: by its name in gde.
        worlds: samples; the same seed gives the worlds of a run of gde.
        seed: the root of all randomness that is not the model's.
        agent: an agent of gde that asks a language model; without one, the default of
            the environment's distribution, or the only one there is.
        metrics: of gde; Inspect makes a list of names that commas separate. Without
            any, those of a run of gde.
        settings: `agent.FIELD` to value, and fields of the environment to value.

    Raises:
        GdeError: an unknown name or field, or a value out of range.
    """
    setting = Setting.of(environment, agent, seed, settings or {})
    named = [metrics] if isinstance(metrics, str) else [*metrics]
    measured = named or setting.usual_metrics()
    samples = [
        Sample(id=world, input=setting.objective(world), metadata={"world": world})
        for world in range(worlds)
    ]
    return Task(
        dataset=MemoryDataset(samples, name=environment),
        solver=episode(setting.plain),
        scorer=numbers(measured, setting.plain),
        metadata={RECORD: setting.plain},
    )


def _task_of(environment: str) -> Callable[..., Task]:
    def make(
        worlds: int = WORLDS,
        seed: int = 0,
        agent: str = "",
        metrics: str | Sequence[str] = (),
        **settings: Any,
    ) -> Task:
        return make_task(environment, worlds, seed, agent, metrics, settings)

    make.__doc__ = f"Worlds of {environment}: `-T worlds=20 -T FIELD=VALUE`, see `gde show environment {environment}`."
    made: Callable[..., Task] = task(name=f"{PREFIX}{environment}")(make)
    return made


TASKS = {name: _task_of(name) for name in Catalogue.default().names("environment")}
"""Registered with Inspect as `gde/NAME`."""
