"""The verdict on a run: is its agent directed towards the goal?"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.environment import Environment
from gde.seeding import generator
from gde_plugins.meg.metrics.recorded import finished_in
from gde_plugins.meg.verdict.verdict import Episode, Verdict, judge

NAME = "meg.verdict"


def verdict(evidence: Evidence, runs: int) -> Sequence[Measurement]:
    """Test whether the agent is goal-blind, see `verdict.randomisation`.

    - "meg.verdict": the p value; `where.verdict` is "shown", "not shown" or "cannot be
      said". n counts worlds whose goal could have been another.
    - ".share": the share of what an optimal agent would show in the same states.
    - ".found": of so many simulated runs of a walker that is 70 % random in the same
      worlds (n), those in which it would be called goal-directed.

    A single world has no verdict.
    """
    if "world" in evidence.part:
        return ()
    rng = generator(evidence.seed, "metric", NAME)
    return _measurements(judge(_episodes(evidence), rng, runs))


def _episodes(evidence: Evidence) -> Iterator[Episode]:
    begin = evidence.begin
    if begin is None:
        raise GdeError("no environment is known that could be begun again")
    for trajectory in finished_in(evidence):
        yield Episode(
            cluster=trajectory.world.cluster,
            begin=partial(_begun, begin, trajectory),
            actions=[turn.decision.action for turn in trajectory.turns],
        )


def _begun(
    begin: Callable[[Trajectory], object], trajectory: Trajectory
) -> Environment:
    environment = begin(trajectory)
    assert isinstance(environment, Environment)
    return environment


def _measurements(found: Verdict) -> list[Measurement]:
    test = Measurement(
        name=NAME,
        value=found.p_value,
        unit="probability",
        n=found.n,
        where={"verdict": found.outcome},
        reason=f"{found.outcome}: {found.reason}" if found.reason else "",
    )
    if found.p_value is None:
        return [test]

    measurements = [test]
    if found.share is None:
        reason = "an optimal agent would show nothing in these states"
        share = Measurement(
            name=f"{NAME}.share", value=None, unit="share", n=found.n, reason=reason
        )
        measurements.append(share)
    else:
        measurements.append(found.share.measurement(f"{NAME}.share", "share"))
    power = Measurement(
        name=f"{NAME}.found", value=found.found, unit="count", n=found.runs
    )
    return [*measurements, power]
