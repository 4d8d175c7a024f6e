"""The evidence of a run, which metrics are computed from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.probe import ProbeReport
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One record of the same episodes: behaviour, rewards and decoded activations."""

    trajectories: Sequence[Trajectory]
    """Finished episodes in the order of their keys. Each iteration may read the run folder: a metric that needs them
    twice iterates twice, and keeps only numbers."""
    reward_traces: tuple[RewardTrace, ...] = ()
    probe_reports: tuple[ProbeReport, ...] = ()
    seed: int = 0
    """For resampling: the same evidence and seed give the same intervals."""
    part: Labels = field(default_factory=dict)
    """The condition that this evidence is restricted to; empty for the whole run, where conditions can be compared."""
    mdp: Callable[[Trajectory], TabularMDP] | None = None
    """The Markov decision process that a trajectory began in, made again from its seed and the same object for all
    trajectories of a world as long as it is held. Raises GdeError where the environment gives none; None where no
    environment is known."""
