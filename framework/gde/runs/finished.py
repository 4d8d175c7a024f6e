"""The result of a finished run that nothing has changed since."""

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from gde.data.result import Result
from gde.request.provenance import provenance
from gde.request.ready import Ready
from gde.stages.context import Resources
from gde.stages.models import notes_of
from gde.stages.rollout import digest, list_worlds
from gde.store import digests
from gde.store.folder import RunFolder
from gde.store.seal import is_sealed


def finished_result(ready: Ready, folder: RunFolder) -> Result | None:
    """The stored result, if to compute it again could only repeat it.

    All files are as they were when the run ended, and plan, worlds, versions and packages
    are the same. None if any is not, or if it is not known.
    """
    if not is_sealed(folder.path):
        return None
    with closing(folder.journal(write=False)) as journal:
        if any(digests.faults(journal, folder.path)):
            return None
        now = provenance(ready, notes_of(journal))
        began = journal.noted("provenance", dict) or {}
    result = folder.read_result()
    if not _same(result.provenance, now):
        return None
    with closing(Resources(ready)) as resources:
        worlds = digest(list_worlds(ready, resources))
    return result if began.get("worlds") == worlds else None


def _same(stored: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a result was made with the same."""
    # JSON has no tuples. The notice also tells what happened to the run.
    wanted = json.loads(json.dumps(now))
    del wanted["notice"]
    return all(stored.get(name) == wanted[name] for name in wanted)
