"""Everything that a metric may look at."""

from dataclasses import dataclass

from gde.data.probe import ProbeReport
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One record of the same episodes, from the outside and from the inside."""

    trajectories: tuple[Trajectory, ...]
    reward_traces: tuple[RewardTrace, ...] = ()
    probe_reports: tuple[ProbeReport, ...] = ()
    seed: int = 0
    """For resampling: the same evidence and seed give the same intervals."""
