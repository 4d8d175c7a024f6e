"""Everything that a metric may look at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.probe import ProbeReport
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One record of the same episodes, from the outside and from the inside."""

    trajectories: Sequence[Trajectory]
    """Finished episodes in the order of their keys. They may be read from the run folder whenever they are iterated
    over: a metric that needs them twice iterates twice, and keeps what it needs of them, not them."""
    reward_traces: tuple[RewardTrace, ...] = ()
    probe_reports: tuple[ProbeReport, ...] = ()
    seed: int = 0
    """For resampling: the same evidence and seed give the same intervals."""
    part: Labels = field(default_factory=dict)
    """The stratum that this evidence is restricted to; empty for the whole run, where strata can be compared."""
    mdp: Callable[[Trajectory], TabularMDP] | None = None
    """The Markov decision process that a trajectory began in, made again from its seed and the same object for all
    trajectories of a world as long as it is held. Raises GdeError where the environment gives none; None where no
    environment is known."""
