"""How a run is done, which each user says for himself and no run folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Literal

from annotated_types import Gt, Predicate

from gde.data.json import Json
from gde.data.plan import PartField, PartsField, checked_fields
from gde.data.ranges import Count

Positive = Annotated[float, Gt(0), Predicate(isfinite)]

Settings = Mapping[str, Mapping[str, Json]]
"""Values by part and field, as in `--set PART.FIELD=VALUE`."""
Prices = Mapping[str, tuple[float, float]]
"""Label of a model in the plan to the prices of a million tokens of prompts and of
answers, reasoning included.
"""
PRICES = "prices"
"""The field of a model's configuration with its prices, which budgets read."""
URL = "url"
"""The field of a model's configuration with the address of its server."""


@checked_fields("run")
@dataclass(frozen=True, kw_only=True)
class How:
    """How a run is done: by whom, how fast, within which limits.

    It comes from the call, the command line and the user's settings. A run folder notes
    it and never decides it. As an annotation, it marks such a field of a part's
    configuration: `timeout: Annotated[float, How]`.

    Raises:
        ConfigError: a field has a value that it does not take.
        UnknownName: there is no such field.
    """

    concurrency: Count = 32
    """Most episodes at once in one worker, and most fits of a probe at once, of which
    there are never more than cores.
    """
    executor: PartField = PartField("serial")
    """The place where episodes run, activations are captured and metrics ask local
    models.
    """
    reporters: PartsField = PartsField()
    """Empty for the default ones whose packages are installed."""
    turn_seconds: Positive | None = None
    """Time for one decision and its consequences. An episode with a longer turn fails.
    None for no limit.
    """
    episode_seconds: Positive | None = None
    """Time for one episode. A longer one fails."""
    run_seconds: Positive | None = None
    """Time for all episodes. After it, the run stops and can be resumed."""
    stop_after: Literal["rollout"] | None = None
    """The stage after which the run stops and can be resumed: probes and reward models
    then wait, e.g. until a server has left the GPU. Whoever resumes goes on to the end.
    """
    part_seconds: Positive | None = None
    """Time for a metric on the run or on one of its conditions, and for a report. A
    slower one fails.
    """
    max_calls: Count | None = None
    """Requests to language models in the whole run. After them, the run stops and can
    be resumed.
    """
    max_tokens: Count | None = None
    """Tokens of prompts and answers together, likewise."""
    max_cost: Positive | None = None
    """Money in the currency of the models' prices, likewise. It needs the prices of all
    models that the run asks. Discounts, e.g. for cached prompts, are not counted.
    """
    cache: str = ""
    """A file of answers that runs share; empty for none. A request at temperature 0
    that an earlier run sent to the same model with the same configuration is not sent
    again, and costs nothing.
    """
    settings: Settings = field(default_factory=dict)
    """Values of the marked fields of parts, e.g. {"model": {"timeout": 60}}; "model" is
    the agent's.
    """

    @property
    def prices(self) -> Prices:
        """The prices of the models that have some."""
        found = {}
        for part, values in self.settings.items():
            prices = values.get(PRICES)
            if isinstance(prices, list | tuple):
                prompt, answer = prices
                found[part] = (float(prompt), float(answer))
        return found
