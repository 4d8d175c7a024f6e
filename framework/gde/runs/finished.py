"""The result of a finished run that nothing has changed since."""

import json
from contextlib import closing

from gde.data.result import Result
from gde.request.provenance import provenance, with_models
from gde.request.ready import Ready
from gde.stages.context import Resources
from gde.stages.models import notes_of
from gde.stages.rollout import digest, list_worlds
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.journal import Journal


def finished_result(ready: Ready, folder: RunFolder) -> Result | None:
    """The stored result, if to compute it again could only repeat it; else None.

    All files are as they were when the run ended, and plan, parts, packages and worlds
    are the same.
    """
    if not folder.is_reported:
        return None
    with closing(Journal.open(folder.journal_path, write=False)) as journal:
        if any(manifest.faults(journal)):
            return None
        now = with_models(provenance(ready), ready.how, notes_of(journal))
        began = journal.noted("provenance", dict) or {}
    # JSON has no tuples. The notice also tells what happened to the run.
    wanted = json.loads(json.dumps({**now, "notice": ""}))
    result = folder.read_result()
    stored = {name: result.provenance.get(name) for name in wanted}
    if {**stored, "notice": ""} != wanted or result.status != "ok":
        return None
    with closing(Resources(ready)) as resources:
        worlds = digest(list_worlds(ready, resources))
    return result if began.get("worlds") == worlds else None
