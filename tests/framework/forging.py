"""Records that say something else, as if gde had written them so."""

from contextlib import closing
from pathlib import Path

from gde.store import digests
from gde.store.journal import Journal

TURNS = 99
"""More than an episode here has."""


def forge(run: Path, *changes: str) -> None:
    """Change rows, give all the digests that fit, and remove the manifest."""
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.write([(change, ()) for change in changes])
        renewed = [digests.renewing("calls")]
        # Each digest depends on that of the turn before.
        for turn in range(TURNS):
            renewed.append(f"{digests.renewing('turns')} WHERE turn = {turn}")
        renewed.append(digests.renewing("episodes"))
        journal.write([(each, ()) for each in renewed])
    (run / "manifest.json").unlink(missing_ok=True)
