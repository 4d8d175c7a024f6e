"""A run that is gone on with: its own plan, with objects, and how it is done."""

from gde.data.how import How
from gde.data.plan import Plan
from gde.request.catalogue import Catalogue
from gde.request.objects import with_objects
from gde.request.refusing import refuse_how
from gde.store.folder import RunFolder
from gde.store.trust import check_trusted


def reopen(
    folder: RunFolder,
    catalogue: Catalogue,
    plan: Plan | None,
    how: How | None,
    *,
    writes: bool = True,
) -> tuple[Plan, How]:
    """The plan of a run, and how it is done from now on.

    Args:
        folder: of the run.
        catalogue: the parts that are offered.
        plan: has the objects of the run, which no folder can hold.
        how: it is done; None for the way in which it was done last.
        writes: whether something is written to the folder.

    Raises:
        GdeError: the user does not trust a run that is written to, or its plan says how
            it is run.
    """
    if writes:
        check_trusted(folder.path)
    known = folder.plan()
    refuse_how(known, catalogue, f"plan of {folder.path}")
    own = known if plan is None else with_objects(known, plan)
    return own, how or folder.last_how()
