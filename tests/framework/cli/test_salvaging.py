"""gde doctor RUN --salvage OUT."""

from pathlib import Path

from commands import Gde


def test_losses_are_told_with_what_to_do(gde: Gde, tmp_path: Path) -> None:
    gde(
        *("eval", "--env", "corridor", "--agent", "scripted", "--metric", "success"),
        *("--episodes", "3", "--out", "run"),
    )
    journal = tmp_path / "run" / "run.sqlite"
    (tmp_path / "run" / "run.sqlite-wal").unlink(missing_ok=True)
    content = journal.read_bytes()
    journal.write_bytes(content[: 5 * 4096])

    told = gde("doctor", "run", "--salvage", "out")
    assert told.returncode == 3
    assert "Salvaged from a damaged run: 0 of 3 episodes" in told.stdout
    assert "lost: episode 0/0/0: " in told.stdout
    assert "gde resume out" in told.stderr
    assert (tmp_path / "out" / "lost.txt").read_text().count("episode 0/") == 3
    for command in ("report", "show"):
        assert gde(command, "out").returncode == 0

    refused = gde("doctor", "run", "--salvage", "out")
    assert refused.returncode == 2
    assert "--out out exists" in refused.stderr
    assert "name the damaged run" in gde("doctor", "--salvage", "new").stderr
