"""What a part is made with."""

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
from gde.parts.reward_model import RewardModel

Through = Callable[[LanguageModel], LanguageModel]
"""What an agent asks instead of a model."""


@runtime_checkable
class Context(Protocol):
    """The run as one of its parts may use it. Nothing that a part needs is looked up anywhere else."""

    @property
    def seed(self) -> int:
        """The part's own randomness is a function of this alone."""

    @property
    def scratch(self) -> Path:
        """A folder of the part's own, empty at first and gone after the run."""

    def model(self, name: str) -> LanguageModel:
        """A language model by the text that a user writes. One text is one model for all parts of a run; what it is
        asked through here is journaled, and what was answered before is not asked again.

        Raises:
            GdeError: there is no such model, or it cannot be made.
        """

    def reward_model(self, name: str) -> RewardModel:
        """A reward model of the run, or with its defaults one that is offered. What it asks language models is asked
        on behalf of the part that it is made for, e.g. of the agent in its episode.

        Raises:
            GdeError: there is no such reward model, or it cannot be made.
        """

    def secret(self, variable: str, url: str) -> str:
        """What an environment variable holds, e.g. a key, to be sent to that URL and no other; empty where it holds
        nothing. It is kept out of the record.

        Raises:
            GdeError: the plan comes from a folder, which anyone may have written, and the user did not name the host.
        """

    def metric(self, name: str) -> Metric:
        """A metric of the run, or with its defaults one that is offered, by its name or by that of a number it gives.

        Raises:
            GdeError: there is no such metric.
        """

    def readout(self, probe: str, arm: str) -> Readout:
        """A fitted probe of this run, by the names of the probe and of its arm.

        Raises:
            GdeError: the run holds no such arm, or the probe cannot be loaded again.
        """

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:
        """The agent of a recorded episode, begun as it was then. It asks what `through` makes of its models, on behalf
        of the part whose context this is: shown what it was shown, it asks what it asked.

        Raises:
            GdeError: the run has no such agent, its agents are given the environment, or the environment no longer
                makes the world that the record has.
        """


class OutsideRun:
    """Where a part is made that belongs to no run, e.g. by a command: there is nothing to ask for."""

    seed = 0

    @cached_property
    def scratch(self) -> Path:
        return Path(mkdtemp(prefix="gde-"))

    def model(self, name: str) -> NoReturn:
        raise GdeError(f"language model {name!r}: a part that is made outside of a run has none to ask")

    def reward_model(self, name: str) -> NoReturn:
        raise GdeError(f"reward model {name!r}: a part that is made outside of a run has none to ask")

    def secret(self, variable: str, url: str) -> str:  # noqa: ARG002 - whoever makes the part has named it
        return os.environ.get(variable, "")

    def metric(self, name: str) -> NoReturn:
        raise GdeError(f"metric {name!r}: a part that is made outside of a run has none to ask")

    def readout(self, probe: str, arm: str) -> NoReturn:
        raise GdeError(f"arm {arm!r} of probe {probe!r}: a part that is made outside of a run has none to ask")

    def agent(self, trajectory: Trajectory, through: Through) -> NoReturn:  # noqa: ARG002
        raise GdeError(f"episode {trajectory.key}: a part that is made outside of a run has no agent to show it to")
