"""A run that is gone on with: its own plan, with objects, and how it is done."""

from pathlib import Path

from gde.data.how import How
from gde.data.plan import Plan
from gde.request.catalogue import Catalogue
from gde.request.finding import Finder
from gde.request.kinds import EXECUTOR
from gde.request.objects import with_objects
from gde.request.refusing import refuse_how
from gde.store.folder import RunFolder
from gde.store.trust import check_trusted


def reopen(
    path: Path | str,
    catalogue: Catalogue | None,
    plan: Plan | None,
    how: How | None,
    *,
    writes: bool = True,
) -> tuple[RunFolder, Catalogue, Plan, How]:
    """The folder of a run, the parts that are offered, its plan, and how it is done from
    now on.

    Args:
        path: of the folder.
        catalogue: the parts that are offered; None for all that are installed.
        plan: has the objects of the run, which no folder can hold.
        how: it is done; None for the way in which it was done last.
        writes: whether something is written to the folder.

    Raises:
        GdeError: the user does not trust a run that is written to, or its plan says how
            it is run, or the given executor is not here.
    """
    folder = RunFolder.open(Path(path))
    catalogue = catalogue or Catalogue.default()
    if writes:
        check_trusted(folder.path)
    known = folder.plan()
    refuse_how(known, catalogue, f"plan of {folder.path}")
    # A stand-in for what is not here suffices to read, and does no work.
    if how is not None:
        Finder(catalogue).part(EXECUTOR.name, how.executor)
    own = known if plan is None else with_objects(known, plan)
    return folder, catalogue, own, how or folder.last_how()
