"""The evidence of a run: the input of its metrics."""

from collections.abc import Callable, Mapping, Sequence
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
    """Finished episodes in the order of their keys.

    Each iteration may read the run folder. A metric that needs the episodes twice
    iterates twice, and keeps only numbers.
    """
    reward_traces: tuple[RewardTrace, ...] = ()
    probe_reports: tuple[ProbeReport, ...] = ()
    seed: int = 0
    """The seed of resampling. The same evidence and seed give the same intervals."""
    part: Labels = field(default_factory=dict)
    """The condition that this evidence is restricted to; empty for the whole run, where
    conditions can be compared.
    """
    served: Mapping[str, str] = field(default_factory=dict)
    """The name that the model of an agent gave itself, by episode key; those of several
    models in one text.
    """
    remarks: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """What metrics say of single turns, by episode key and turn index. Reporters get
    them, metrics do not.
    """
    mdp: Callable[[Trajectory], TabularMDP] | None = None
    """The Markov decision process at the start of a trajectory, made again from its
    seed; None where no environment is known.

    While a caller holds it, all trajectories of a world get the same object. It raises
    GdeError where the environment gives no process.
    """
    begin: Callable[[Trajectory], object] | None = None
    """A `gde.parts.environment.Environment` at the start of a trajectory, made again
    from its seed, which the caller closes; None where no environment is known.

    It raises GdeError where the recorded world can no longer be made.
    """

    def __repr__(self) -> str:
        """The numbers of its records, of which there may be millions."""
        n, traces = len(self.trajectories), len(self.reward_traces)
        fits = len(self.probe_reports)
        return f"Evidence({n} episodes, {traces} reward traces, {fits} fits of probes)"
