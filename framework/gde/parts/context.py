"""The context that a part of a run is made with."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import NoReturn, Protocol, runtime_checkable

from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.agent import Agent
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Metric
from gde.parts.probe import Readout
from gde.parts.reward_model import RewardSource

Through = Callable[[LanguageModel], LanguageModel]
"""Wraps a model for an agent, which then asks the wrapper instead."""


@runtime_checkable
class Context(Protocol):
    """The run as one of its parts may use it.

    A part gets everything that it needs from here.
    """

    @property
    def seed(self) -> int:
        """The seed of the part, of which alone its randomness is a function."""

    @property
    def scratch(self) -> Path:
        """A folder of the part's own, empty at first and gone after the run."""

    def model(self, name: str) -> LanguageModel:
        """A language model by its written name, the same for all parts of a run.

        Answers are journaled, and a request that was answered before is not asked
        again.

        Raises:
            GdeError: there is no such model, or it cannot be made.
        """

    def reward_model(self, name: str) -> RewardSource:
        """A reward model of the run by its label, else an offered one with defaults.

        It asks language models on behalf of the part that it is made for, e.g. of the
        agent in its episode.

        Raises:
            GdeError: there is no such reward model, or it cannot be made.
        """

    def secret(self, variable: str) -> str:
        """The value of an environment variable, e.g. a key; empty where it has none.

        It is kept out of the record.
        """

    def metric(self, name: str) -> Metric:
        """A metric of the run, else an offered one with its defaults.

        It is found by its name or by that of a number it gives.

        Raises:
            GdeError: there is no such metric.
        """

    def readout(self, probe: str, fit: str) -> Readout:
        """A fitted probe of this run, by the names of the probe and of the fit.

        Raises:
            GdeError: the run holds no such fit, or the probe cannot be loaded again.
        """

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:
        """The agent of a recorded episode, begun as it was then.

        It asks the wrappers that `through` makes of its models, on behalf of the part
        whose context this is. Shown the same observations, it asks the same requests.

        Raises:
            GdeError: the run has no such agent, the agent needs the environment, or the
                environment no longer makes the recorded world.
        """


def _nothing(what: str) -> NoReturn:
    raise GdeError(f"{what}: a part that is made outside of a run has none to ask")


class OutsideRun:
    """The context of a part outside of any run: no models, no other parts.

    A command makes parts in it, for example.
    """

    seed = 0

    @cached_property
    def scratch(self) -> Path:
        return Path(mkdtemp(prefix="gde-"))

    def model(self, name: str) -> LanguageModel:
        return _nothing(f"language model {name!r}")

    def reward_model(self, name: str) -> RewardSource:
        return _nothing(f"reward model {name!r}")

    def secret(self, variable: str) -> str:
        return os.environ.get(variable, "")

    def metric(self, name: str) -> Metric:
        return _nothing(f"metric {name!r}")

    def readout(self, probe: str, fit: str) -> Readout:
        return _nothing(f"fit {fit!r} of probe {probe!r}")

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:  # noqa: ARG002
        return _nothing(f"agent of episode {trajectory.key}")
