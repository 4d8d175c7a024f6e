"""Tables 1 and 2 and the ablations of Shen et al. (2026): what can be run here, beside what is printed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean

from gde.data.figure import Figure
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.parts.reproduction import Comparison, Estimate, Run
from gde_plugins.reward_prediction.baselines import (
    AGENTS,
    AS_IN_TABLE_1,
    ASKING,
    PLANNED,
    REACT,
    REACT_REWARD,
    ablations,
    planning,
    rivals,
)
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.cost import estimates, n_trajectories
from gde_plugins.reward_prediction.domains import DOMAINS, Domain, find_domain, needs_no_simulator, offer_of
from gde_plugins.reward_prediction.published import ABLATIONS, GAINS, MAIN, TABLE_1, TRIPLETS, Row

NAME, ABLATION = "rewardprediction", "ablations"
TABLE, ABLATED = "EPIC distance of rewards from the truth", "EPIC distance, ablations of StateFactory"
TABLE_2 = "Shen et al. (2026), table 2"
PLANNING = "success of planning agents (table 2)"
CONCURRENCY = 4
"""Episodes at once: each may hold several simulators."""


class RewardPredictionStudy:
    """Implements `gde.parts.reproduction.Reproduction` and `Foresees`.

    One run of all reward models over all domains that can be had, one stratum each; one of the ablations; and, where
    they are asked for, one for each planning agent and domain of table 2. In the first two records are replayed, so of
    the agent nothing is taken; in the last it may be one of theirs with settings of its own.
    """

    def __init__(self, config: StudyConfig) -> None:
        """Choose the domains.

        Raises:
            GdeError: an unknown domain, or none that can be had.
        """
        self._config = config
        self._missing: dict[str, str] = {}
        named = config.domains not in {"", "all"}
        wanted = [*map(find_domain, config.domains.split("+"))] if named else [*DOMAINS.values()]
        self._domains = [domain for domain in wanted if self._can_be_had(domain)]
        if not self._domains:
            raise GdeError(f"rewardprediction: wanted a domain that can be had: {'; '.join(self._missing.values())}")

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """Scaled, they have that share of the published pairs of every domain, or of the tasks of the data."""
        share = min(scale, 1.0)
        found = {NAME: self._plan(share, rivals(self._config), ("epic",), shown=False)}
        if self._config.ablations:
            probes = tuple(Choice(name="triplets", alias=f"triplets-{each}", config={"embedder": each})
                           for each in ("words", *_listed(self._config.embedders)))  # fmt: skip
            found[ABLATION] = self._plan(share, ablations(self._config), ("epic", *probes), shown=True)
        return {**found, **(planning(self._config, self._domains, share, agent) if self._config.agents else {})}

    def estimate(self, plans: Mapping[str, Plan]) -> Sequence[Estimate]:
        """Of every reward model that asks a language model, before anything is made or asked."""
        return [*estimates(plans, self._domains, self._config)]

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every printed row, every reward model besides, in every domain and over all."""
        rows = [self._table(runs[NAME].result.measurements, TABLE_1, TABLE)]
        if ABLATION in runs:
            measured = [*runs[ABLATION].result.measurements, *self._as_in_table_1(runs)]
            rows += [self._table(measured, ABLATIONS, ABLATED), _triplets(measured)]
        return [*chain.from_iterable(rows), *self._planned(runs)]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None."""
        return ()

    def _plan(self, share: float, rewards: Sequence[Choice], metrics: Sequence[str | Choice], *, shown: bool) -> Plan:
        config = self._config
        environment = {
            "domain": [domain.name for domain in self._domains],
            "padding": config.padding,
            "offset": config.offset,
            **({"data": config.data} if config.data else {}),
            "share": share,
            **({"show_success": True} if shown else {}),
        }
        return Plan(
            environment=Choice(name="rewardbench", config=environment),
            agent=Choice(name="random"),
            rewards=tuple(rewards),
            metrics=tuple(metrics),  # type: ignore[arg-type]
            episodes=max(n_trajectories(domain, config, share) for domain in self._domains),
            concurrency=CONCURRENCY,
        )

    def _can_be_had(self, domain: Domain) -> bool:
        config = self._config
        try:
            if config.data is not None and not (Path(config.data) / domain.name).is_dir():
                raise GdeError(f"domain {domain.name}: no such folder in {config.data}")
            if config.data is None:
                offer_of(domain)
            if config.data is None and not config.domains and not needs_no_simulator(domain):
                wanted = f"name it, --set study.domains=all or {domain.name}, or its data, --set study.data=FOLDER"
                raise GdeError(f"domain {domain.name}: its simulator takes minutes: {wanted}")
        except GdeError as error:
            self._missing[domain.name] = str(error)
        return domain.name not in self._missing

    def _table(self, measured: Sequence[Measurement], printed: Mapping[str, Row], table: str) -> Iterator[Comparison]:
        """The printed rows first, then those of other reward models."""
        judged = dict.fromkeys(str(one.where["reward"]) for one in measured if one.name == "epic" and one.where)
        for label in dict.fromkeys((*printed, *judged)):
            row = printed.get(label, Row(label, MAIN, {}))
            how = _made_by(measured, label)
            title = f"{row.title}; ours: {how}" if how else row.title
            found = {each.name: self._found(measured, label, each, label in judged) for each in DOMAINS.values()}
            for each in DOMAINS.values():
                paper = row.values.get(each.name)
                yield _comparison(f"{title}, {each.title}", paper, found[each.name], row.source, table)
            yield _comparison(f"{title}, overall", row.overall, _overall(label, found), row.source, table)

    def _found(self, measured: Sequence[Measurement], label: str, domain: Domain, judged: bool) -> Measurement:
        where = {"reward": label, **({"domain": domain.name} if len(self._domains) > 1 else {})}
        for one in measured if domain in self._domains else ():
            if one.name == "epic" and dict(one.where) == where:
                return one
        reason = "the run has no such number" if judged else f"nobody was asked for it: --reward {label}=..."
        reason = self._missing.get(domain.name, reason) if judged else reason
        where = {"reward": label, "domain": domain.name}
        return Measurement(name="epic", value=None, unit="distance", n=0, where=where, reason=reason)

    def _as_in_table_1(self, runs: Mapping[str, Run]) -> Iterator[Measurement]:
        """StateFactory's numbers as those of the ablations that leave it as it is; its effort is that of a model."""
        for label in AS_IN_TABLE_1 if self._config.model else AS_IN_TABLE_1[:-1]:
            for one in runs[NAME].result.measurements:
                if one.where.get("reward") == "statefactory":
                    yield replace(one, where={**one.where, "reward": label})

    def _planned(self, runs: Mapping[str, Run]) -> Iterator[Comparison]:
        """Table 2, of whose numbers two gains are told."""
        for domain in PLANNED:
            found = {agent: self._success(runs, agent, domain) for agent in AGENTS}
            for agent, ours in found.items():
                yield _comparison(f"{agent}, {DOMAINS[domain].title}", None, ours, TABLE_2, PLANNING)
            title = f"gain of {REACT_REWARD} over {REACT}, {DOMAINS[domain].title}"
            yield _comparison(title, GAINS.get(domain), _gain(found[REACT], found[REACT_REWARD]), TABLE_2, PLANNING)

    def _success(self, runs: Mapping[str, Run], agent: str, domain: str) -> Measurement:
        run = runs.get(f"{agent}-{domain}")
        for one in run.result.measurements if run else ():
            if one.name == "success" and not one.where:
                return one
        return _none("success", "the run has no such number" if run else self._why_no_run(agent, domain))

    def _why_no_run(self, agent: str, domain: str) -> str:
        if not self._config.agents:
            return "agents are run with --set study.agents=true"
        if domain not in {each.name for each in self._domains}:
            return self._missing.get(domain, f"its domain was not named: --set study.domains={domain}")
        asks = "it asks a language model: --set study.model=hf:PATH_OR_ID or openai:BASE_URL"
        return asks if agent in ASKING else "the run has no such number"


def _gain(without: Measurement, rewarded: Measurement) -> Measurement:
    if without.value is None or rewarded.value is None:
        return _none("gain", without.reason or rewarded.reason)
    return Measurement(name="gain", value=rewarded.value - without.value, unit="share", n=min(without.n, rewarded.n))


def _none(name: str, reason: str) -> Measurement:
    return Measurement(name=name, value=None, unit="share", n=0, reason=reason)


def _listed(names: str) -> list[str]:
    return [each for each in names.split("+") if each]


def _made_by(measured: Sequence[Measurement], label: str) -> str:
    """What made a reward model's numbers, as far as it says it, in all domains together."""
    told = (one.where.get("made by") for one in measured if one.where.get("reward") == label)
    ways = dict.fromkeys(str(each).partition(",")[0].partition(" for ")[0] for each in told if each)
    return ", ".join(ways)


def _triplets(measured: Sequence[Measurement]) -> Iterator[Comparison]:
    for one in measured:
        if one.name == "triplets" and set(one.where) == {"embedder"}:
            name = str(one.where["embedder"])
            yield _comparison(
                f"triplet accuracy of {name}", TRIPLETS.get(name), one, "Shen et al. (2026), eq. 14", ABLATED
            )


def _comparison(quantity: str, paper: float | None, ours: Measurement, source: str, table: str) -> Comparison:
    return Comparison(quantity=quantity, paper=paper, ours=ours, source=source, table=table)


def _overall(label: str, found: Mapping[str, Measurement]) -> Measurement:
    """The mean over the five domains, as printed."""
    values = [one.value for one in found.values() if one.value is not None]
    where = {"reward": label}
    if len(values) < len(DOMAINS):
        lacking = ", ".join(name for name, one in found.items() if one.value is None)
        return Measurement(name="epic", value=None, unit="distance", n=0, where=where, reason=f"without {lacking}")
    return Measurement(name="epic", value=mean(values), unit="distance", n=len(values), where=where)
