"""A small run in a corridor, as metrics, probes and reporters receive it."""

from dataclasses import replace

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.plan import Choice, Plan
from gde.data.result import Failure, Measurement, Result
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.testing.parts import LEFT, RIGHT, Corridor

LENGTH = 5
SCRIPTS = ((RIGHT,), (LEFT, RIGHT, RIGHT), (LEFT,))
"""Straight to the goal, by a detour, and never."""


def sample_evidence(episodes: int = 6) -> Evidence:
    """Episodes in corridors, with successes and failures to reach the goal.

    One episode fails in its first turn.
    """
    trajectories = [_episode(world) for world in range(episodes)]
    failed = replace(
        trajectories[-1],
        key=EpisodeKey(condition=0, world=episodes),
        turns=(),
        ending="failed",
        failure="RuntimeError: for the sake of the example",
    )

    def mdp(trajectory: Trajectory) -> TabularMDP:
        corridor = Corridor(LENGTH)
        corridor.reset(trajectory.seed)
        return corridor.mdp()

    return Evidence(trajectories=(*trajectories, failed), mdp=mdp)


def sample_plan() -> Plan:
    """The plan of the sample."""
    return Plan(
        environment=Choice(name="corridor", config={"length": LENGTH}),
        agent="scripted",
        episodes=7,
    )


def sample_result() -> Result:
    """A result with a number, a measurement without a value, and a failure."""
    measured = Measurement(
        name="success", value=0.5, unit="share", n=6, interval=(0.2, 0.8)
    )
    unmeasured = Measurement(
        name="regret", value=None, unit="", n=0, reason="no episode has a model"
    )
    reason = "RuntimeError: for the sake of the example"
    where = f'Traceback (most recent call last):\n  File "agent.py", line 1, in act\n{reason}\n'
    failure = Failure(stage="rollout", subject="0/6/0", reason=reason, traceback=where)
    return Result(
        run="runs/sample",
        status="partial",
        plan_hash="0" * 12,
        measurements=(measured, unmeasured),
        failures=(failure,),
        provenance={
            "plan_hash": "0" * 12,
            "parts": {},
            "models": {},
            "notice": "",
            "python": "3.11",
            "packages": {},
        },
    )


def _episode(world: int) -> Trajectory:
    corridor = Corridor(LENGTH)
    observation = corridor.reset(world)
    horizon = corridor.task().horizon
    script = SCRIPTS[world % len(SCRIPTS)]
    turns: list[Turn] = []
    for index in range(horizon):
        state = corridor.state()
        action = script[index % len(script)]
        outcome = corridor.step(action)
        turns.append(
            Turn(
                index=index,
                observation=observation,
                decision=Decision.act(action),
                reward=outcome.reward,
                terminated=outcome.terminated,
                truncated=outcome.truncated,
                success=outcome.success,
                state=state,
                optimal=(RIGHT,),
                value=float(state.index or 0) - (LENGTH - 1),
            )
        )
        observation = outcome.observation
        if outcome.terminated:
            break

    return Trajectory(
        key=EpisodeKey(condition=0, world=world),
        seed=world,
        world=corridor.world(),
        labels=corridor.world().labels,
        horizon=horizon,
        turns=tuple(turns),
        ending="terminated" if turns[-1].terminated else "horizon",
        final_state=corridor.state(),
    )
