"""From trajectories to reward traces: every reward model on every episode.

Each trace is journaled on its own.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass, replace

import numpy as np

from gde.data.reward import (
    NOT_ISOLATED,
    PREFIX_TESTS,
    READS_AHEAD,
    READS_TRUTH,
    Rewards,
    RewardTrace,
)
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.errors import RunFailed, Unavailable
from gde.offers import Capability
from gde.parts.reward_model import RewardModel, TruthReader, given
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.outages import Reach, SecondChances
from gde.store.journal import Journal
from gde.store.rewards import judged, write_trace

PREFIX_TESTED = 6
"""Worlds of each condition in whose episodes a reward model is tested for causality."""


@dataclass(frozen=True)
class Shown:
    """Implements `gde.parts.reward_model.RewardSource`.

    The one place where a trajectory becomes what a reward model is shown of it.
    """

    name: str
    model: RewardModel | TruthReader
    needs: Set[str] = frozenset()
    """What its offer declares: TRUE_REWARD, or SHOWN_SUCCESS for a demonstration."""
    could_cheat: bool = False
    """Whether it is code of others that runs in the process of the run."""

    @property
    def sighted(self) -> bool:
        """Whether the rewards are made from the truth."""
        return Capability.TRUE_REWARD in self.needs

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        if self.sighted and isinstance(self.model, TruthReader):
            found = given(await self.model.true_rewards(trajectory))
            mark = {READS_TRUTH: 1}
        else:
            found = await self._asked(self._transcript(trajectory))
            mark = {NOT_ISOLATED: 1} if self.could_cheat else {}
        return RewardTrace(
            model=self.name,
            episode=str(trajectory.key),
            values=found.values,
            failure=found.failure,
            made_by=found.made_by,
            counts={**found.counts, **mark},
        )

    async def reads_ahead(self, trajectory: Trajectory, whole: RewardTrace) -> bool:
        """Whether rewards change when all steps after them are cut off.

        One cut is tested, after a half of the steps. The episode has at least two.
        """
        n_steps = len(trajectory.turns) // 2
        found = await self._asked(self._transcript(trajectory).until(n_steps))
        # The last digits of a sum depend on the length of the batch it is computed in.
        same = found.values.shape == (n_steps,) and np.allclose(
            found.values, whole.values[:n_steps], rtol=1e-5, atol=1e-6
        )
        return not same

    def _transcript(self, trajectory: Trajectory) -> Transcript:
        shows_success = Capability.SHOWN_SUCCESS in self.needs
        return Transcript.of(trajectory, shows_success=shows_success)

    async def _asked(self, transcript: Transcript) -> Rewards:
        assert isinstance(self.model, RewardModel)
        return given(await self.model.rewards(transcript))


async def reward(
    shown: Shown,
    trajectories: Iterable[Trajectory],
    concurrency: int,
    journal: Journal,
    reach: Reach | None = None,
) -> None:
    """Write the model's trace of each trajectory that has none yet.

    An exception becomes the trace's failure.

    Args:
        shown: judges the trajectories.
        trajectories: of the run.
        concurrency: number of trajectories judged at once.
        journal: of the run.
        reach: whether the model's own language models answer.

    Raises:
        RunFailed: the journal cannot be written, or a language model answers nobody.
    """
    done = judged(journal, shown.name)
    unjudged = (each for each in trajectories if str(each.key) not in done)
    waiting = SecondChances(unjudged, reach or Reach())

    async def judge(trajectory: Trajectory) -> None:
        try:
            found = await trace(shown, trajectory, journal)
        except Unavailable as error:
            if waiting.put_back(trajectory, str(trajectory.key), error):
                return
            found = _failed(shown.name, trajectory, error)
        write_trace(found, journal)

    await waiting.handle(judge, concurrency)


async def trace(
    shown: Shown, trajectory: Trajectory, journal: Journal | None = None
) -> RewardTrace:
    """The model's rewards of one trajectory, or the reason why there are none.

    The journal keeps the traceback.

    Raises:
        RunFailed: the run cannot go on.
        Unavailable: a language model answers nobody at the moment.
    """
    try:
        found = await shown.rewards(trajectory)
        check_rewards(found, len(trajectory.turns))
        if not _tests_prefix(shown, trajectory) or found.failure:
            return found
        ahead = await shown.reads_ahead(trajectory, found)
        counts = {**found.counts, PREFIX_TESTS: 1}
        if ahead:
            counts[READS_AHEAD] = 1
        return replace(found, counts=counts)
    except (RunFailed, Unavailable):
        raise
    except BaseException as error:
        pass_on(error)
        if journal is not None:
            whose = f"reward model {shown.name} on {trajectory.key}"
            journal.tell_failure(whose, reason_of(error), traceback_of(error))
        return _failed(shown.name, trajectory, error)


def _tests_prefix(shown: Shown, trajectory: Trajectory) -> bool:
    """Whether an episode is one of the few that show if the model is causal."""
    key = trajectory.key
    is_early = key.world < PREFIX_TESTED and key.repeat == 0
    return is_early and len(trajectory.turns) > 1 and not shown.sighted


def _failed(name: str, trajectory: Trajectory, error: BaseException) -> RewardTrace:
    return RewardTrace(
        model=name,
        episode=str(trajectory.key),
        values=np.empty(0),
        failure=reason_of(error),
    )


def check_rewards(found: Rewards, n_steps: int) -> None:
    """Check that there is one finite reward a step, or a reason for none.

    Raises:
        ValueError: there is not; the step is named.
    """
    values = found.values
    if found.failure:
        return
    if values.shape != (n_steps,):
        got = "x".join(map(str, values.shape)) or "one number"
        raise ValueError(f"wanted {n_steps} rewards, one a step, got {got}")
    for step in np.flatnonzero(~np.isfinite(values)):
        raise ValueError(f"step {step}: wanted a finite reward, got {values[step]}")
