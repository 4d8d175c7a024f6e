"""The checks of reward models (`gde.parts.reward_model`)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from gde.data.reward import Rewards
from gde.data.transcript import Step, Transcript
from gde.parts.reward_model import RewardModel, TruthReader
from gde.testing.promises import promise, promise_equal, promise_protocol
from gde.testing.samples import sample_evidence


def check_reward_model(
    make: Callable[[], RewardModel], transcripts: Sequence[Transcript] = ()
) -> None:
    """Check every promise of `RewardModel`, one transcript at a time and at once.

    Args:
        make: gives the reward model.
        transcripts: episodes to judge; by default those in a corridor.

    Raises:
        AssertionError: a promise is broken, or the model reads what it is not shown.
    """
    sample = [Transcript.of(one) for one in sample_evidence().trajectories]
    transcripts = transcripts or sample
    model = make()
    promise_protocol(model, RewardModel)
    alone = []
    for transcript in transcripts:
        rewards = asyncio.run(_one(model, transcript))
        _check_rewards(rewards, len(transcript.steps))
        alone.append(_comparable(rewards))

    # The other order shows a model that carries something from one episode to the next.
    async def at_once(each: Sequence[Transcript]) -> list[Rewards]:
        return list(await asyncio.gather(*map(model.rewards, each)))

    backwards = asyncio.run(at_once(transcripts[::-1]))
    same = (
        "an episode must get the same rewards alone, at once with others and in any"
        " order"
    )
    promise_equal(alone, [_comparable(one) for one in reversed(backwards)], same)


def check_truth_reader(make: Callable[[], TruthReader]) -> None:
    """Check every promise of `TruthReader`.

    Raises:
        AssertionError: a promise is broken.
    """
    model = make()
    promise_protocol(model, TruthReader)
    for trajectory in sample_evidence().trajectories:
        rewards = asyncio.run(_awaited(model.true_rewards(trajectory)))
        _check_rewards(rewards, len(trajectory.turns))


def is_causal(
    make: Callable[[], RewardModel], transcripts: Sequence[Transcript] = ()
) -> bool:
    """Whether every reward stays the same when all later steps are cut off.

    Args:
        make: gives the reward model.
        transcripts: episodes to judge, cut after each of their steps; by default those
            in a corridor.
    """
    sample = [Transcript.of(one) for one in sample_evidence().trajectories]
    model = make()
    for transcript in transcripts or sample:
        whole = asyncio.run(_one(model, transcript)).values
        for n_steps in range(1, len(transcript.steps)):
            cut = asyncio.run(_one(model, transcript.until(n_steps))).values
            if not np.allclose(cut, whole[: len(cut)], rtol=1e-5, atol=1e-6):
                return False
    return True


async def _awaited(rewards: Awaitable[Rewards]) -> Rewards:
    return await rewards


async def _one(model: RewardModel, transcript: Transcript) -> Rewards:
    try:
        return await model.rewards(transcript)
    except Exception as error:
        if isinstance(error, AttributeError) and isinstance(
            error.obj, Transcript | Step
        ):
            raise AssertionError(
                f"rewards must not read `{error.name}`: a reward model is shown the"
                " objective, and each action with the observation after it"
            ) from error
        task = f"{len(transcript.steps)} steps at {transcript.objective!r}"
        raise AssertionError(
            f"rewards must not raise on {task}, got {type(error).__name__}: {error};"
            " a part for other worlds is checked with `transcripts` of them"
        ) from error


def _check_rewards(rewards: Rewards, n_steps: int) -> None:
    promise(isinstance(rewards, Rewards), f"rewards must give Rewards, got {rewards!r}")
    promise(
        np.isfinite(rewards.values).all(),
        "rewards must be finite; a failure is said in `failure`",
    )
    expected = (0,) if rewards.failure else (n_steps,)
    promise_equal(
        rewards.values.shape,
        expected,
        "rewards must be one a step, or none and a failure",
    )


def _comparable(rewards: Rewards) -> tuple[str, list[float]]:
    """Rewards without arrays, which cannot be compared with `==`."""
    return rewards.failure, rewards.values.tolist()
