"""Table 1 of Shen et al. (2026): the rows that need no language model, and those of reward models that one names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from gde.data.figure import Figure
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.parts.reproduction import Comparison, Run
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.domains import DOMAINS, PRINTED_OVERALL, Domain, find_domain, offer_of

NAME = "rewardprediction"
BASELINES = ("monotonic", "constant", "random", "oracle")
SOURCE = "Shen et al. (2026), table 1"
TABLE = "EPIC distance of rewards from the truth"
CONCURRENCY = 4
"""Episodes at once: each may hold several simulators."""


class RewardPredictionStudy:
    """Implements `gde.parts.reproduction.Reproduction`.

    One run over all domains that can be had, one stratum each. Of the agent nothing is taken: records are replayed.
    """

    def __init__(self, config: StudyConfig) -> None:
        """Choose the domains.

        Raises:
            GdeError: an unknown domain, or none that can be had.
        """
        self._config = config
        self._missing: dict[str, str] = {}
        wanted = [*DOMAINS.values()] if config.domains == "all" else [*map(find_domain, config.domains.split("+"))]
        self._domains = [domain for domain in wanted if self._can_be_had(domain)]
        if not self._domains:
            raise GdeError(f"rewardprediction: wanted a domain that can be had: {'; '.join(self._missing.values())}")

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """One run; scaled, it has that share of the published pairs of every domain."""
        share = min(scale, 1.0)
        config = self._config
        named = {"data": config.data} if config.data else {"share": share}
        environment = {
            "domain": [domain.name for domain in self._domains],
            "padding": config.padding,
            "offset": config.offset,
            **named,
        }
        plan = Plan(
            environment=Choice(name="rewardbench", config=environment),
            agent=Choice(name="random"),
            rewards=self._models,  # type: ignore[arg-type]
            metrics=("epic",),  # type: ignore[arg-type]
            episodes=2 * max(domain.tasks(share) for domain in self._domains),
            concurrency=CONCURRENCY,
        )
        return {NAME: plan}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every reward model in every domain, and over all domains."""
        measured = runs[NAME].result.measurements
        rows = []
        for model in self._models:
            found = {domain.name: self._found(measured, model, domain) for domain in DOMAINS.values()}
            rows += [_row(model, domain, found[domain.name]) for domain in DOMAINS.values()]
            overall = PRINTED_OVERALL if model == "monotonic" else None
            rows.append(_comparison(f"{model}, overall", overall, _overall(model, found)))
        return rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None."""
        return ()

    @property
    def _models(self) -> tuple[str, ...]:
        return (*BASELINES, *(each for each in self._config.rewards.split("+") if each))

    def _can_be_had(self, domain: Domain) -> bool:
        try:
            if self._config.data is None:
                offer_of(domain)
            elif not (Path(self._config.data) / domain.name).is_dir():
                raise GdeError(f"domain {domain.name}: no such folder in {self._config.data}")
        except GdeError as error:
            self._missing[domain.name] = str(error)
        return domain.name not in self._missing

    def _found(self, measured: Sequence[Measurement], model: str, domain: Domain) -> Measurement:
        where = {"reward": model, **({"domain": domain.name} if len(self._domains) > 1 else {})}
        if domain in self._domains:
            for one in measured:
                if one.name == "epic" and dict(one.where) == where:
                    return one
        reason = self._missing.get(domain.name, "the run has no such number")
        where = {"reward": model, "domain": domain.name}
        return Measurement(name="epic", value=None, unit="distance", n=0, where=where, reason=reason)


def _row(model: str, domain: Domain, ours: Measurement) -> Comparison:
    return _comparison(f"{model}, {domain.title}", domain.monotonic if model == "monotonic" else None, ours)


def _comparison(quantity: str, paper: float | None, ours: Measurement) -> Comparison:
    return Comparison(quantity=quantity, paper=paper, ours=ours, source=SOURCE, table=TABLE)


def _overall(model: str, found: Mapping[str, Measurement]) -> Measurement:
    """The mean over the five domains, as printed."""
    values = [one.value for one in found.values() if one.value is not None]
    where = {"reward": model}
    if len(values) < len(DOMAINS):
        lacking = ", ".join(name for name, one in found.items() if one.value is None)
        return Measurement(name="epic", value=None, unit="distance", n=0, where=where, reason=f"without {lacking}")
    return Measurement(name="epic", value=mean(values), unit="distance", n=len(values), where=where)
