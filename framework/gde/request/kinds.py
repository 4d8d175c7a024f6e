"""The kinds of parts, with their names in plans, options and Python."""

from collections.abc import Mapping
from dataclasses import dataclass

from gde.data.plan import Choice, Plan
from gde.offers import (
    AnyOffer,
    EnvironmentOffer,
    MetricOffer,
    ModelOffer,
    Offer,
    ProbeOffer,
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of part."""

    name: str
    """In Python and in the record, e.g. "reward_model"."""
    table: str = ""
    """Its table in a plan file, its option of `gde eval` and its name in `--set`; empty
    for what no plan chooses.
    """
    field: str = ""
    """Its field of a `Plan`, or of a `How`."""
    how: bool = False
    """Whether it says how a run is done: then no plan file names it."""
    offer: type[AnyOffer] = Offer
    """The class of its offers."""
    several: bool = False
    """Whether a plan may choose more than one."""
    skeleton: bool = True
    """Whether `gde new-plugin` writes a plugin that offers one."""

    @property
    def hook(self) -> str:
        """The hook that offers parts of the kind."""
        return f"gde_{self.name}s"

    def choices(self, plan: Plan) -> tuple[Choice, ...]:
        """Those of a plan."""
        asked = getattr(plan, self.field)
        return asked if self.several else (asked,)

    @property
    def title(self) -> str:
        """The name of the kind in messages."""
        return self.name.replace("_", " ")


_IN_ORDER = (
    Kind(name="environment", table="env", field="environment", offer=EnvironmentOffer),
    Kind(name="agent", table="agent", field="agent"),
    Kind(
        name="language_model",
        table="model",
        field="models",
        offer=ModelOffer,
        several=True,
    ),
    Kind(name="probe", table="probe", field="probes", offer=ProbeOffer, several=True),
    Kind(name="reward_model", table="reward", field="rewards", several=True),
    Kind(
        name="metric", table="metric", field="metrics", offer=MetricOffer, several=True
    ),
    Kind(name="executor", table="executor", field="executor", how=True),
    Kind(name="reporter", table="report", field="reporters", how=True, several=True),
    Kind(name="reproduction", skeleton=False),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _IN_ORDER}
"""By name, in the order in which a run meets them."""
_OF_PLAN = tuple(kind for kind in KINDS.values() if kind.field and not kind.how)
SINGLE = tuple(kind for kind in _OF_PLAN if not kind.several)
SEVERAL = tuple(kind for kind in _OF_PLAN if kind.several)
"""The kinds of which a plan chooses one, and those of which it may choose several."""
EXECUTOR = KINDS["executor"]
REPORTER = KINDS["reporter"]
MODEL = KINDS["language_model"]
"""The kind of which a part names what it asks: a plan configures those."""
SKELETONS = tuple(
    kind.name.replace("_", "-") for kind in KINDS.values() if kind.skeleton
)
"""The values of `gde new-plugin --kind`."""
