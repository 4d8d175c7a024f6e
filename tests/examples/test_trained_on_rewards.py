"""A reward that pays for being near rises without success; success itself is learnt."""

from pathlib import Path

import pytest

pytest.importorskip("gymnasium")


@pytest.mark.extended
def test_reward_rises_and_success_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend("examples")
    import trained_on_rewards as example

    monkeypatch.setattr(example, "WORLDS", 4)
    monkeypatch.delitem(example.REWARDS, "progress")
    example.main(tmp_path, episodes=1000)
    before = example.numbers(tmp_path / "untrained")
    hacked = example.numbers(tmp_path / "close")
    taught = example.numbers(tmp_path / "success")
    assert hacked["paid"] > before["paid"] > taught["paid"]
    assert (hacked["success"], taught["success"]) == (0, 1)
    # The distance from the truth does not tell them apart.
    assert hacked["epic"] == taught["epic"] == 0
