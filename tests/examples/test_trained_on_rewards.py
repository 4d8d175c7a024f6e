"""A reward that pays for being near rises without success; success itself is learnt."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")


def test_reward_rises_and_success_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("examples")
    from trained_on_rewards import REWARDS, SHOWN, learn

    paid, reached = learn(REWARDS["close"], 600)
    assert np.mean(paid[-SHOWN:]) > np.mean(paid[:SHOWN]) + 0.5
    assert np.mean(reached[-SHOWN:]) < 0.2
    _, reached = learn("success", 600)
    assert np.mean(reached[-SHOWN:]) > 0.8
