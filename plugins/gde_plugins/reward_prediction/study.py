"""Table 1 and the ablations of Shen et al. (2026): measured numbers beside the
published ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from gde.data.estimate import Estimate
from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.data.reward import READS_NOTHING, READS_TRUTH
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.leaderboard import (
    OVERALL,
    Standing,
    leaderboard,
    mean_interval,
    task_scores,
)
from gde.parts.context import Context
from gde.parts.reproduction import Comparison, Run
from gde_plugins.reward_prediction.baselines import (
    READING_NOTHING,
    ablations,
    as_in_table_1,
    baselines,
    listed,
)
from gde_plugins.reward_prediction.config import StudyConfig
from gde_plugins.reward_prediction.cost import estimates, n_tasks
from gde_plugins.reward_prediction.domains import (
    DOMAINS,
    Domain,
    find_domain,
    offer_of,
)
from gde_plugins.reward_prediction.embedders import row_of
from gde_plugins.reward_prediction.files import find_records
from gde_plugins.reward_prediction.measured import (
    EPIC,
    beside_best,
    find_number,
)
from gde_plugins.reward_prediction.published import (
    ABLATIONS,
    MAIN,
    TABLE_1,
    TRIPLETS,
    Row,
)

NAME = "rewardbench"
TABLE = "EPIC distance of rewards from the truth"
ABLATED = "EPIC distance, ablations of StateFactory"
ORACLES = ("oracle", "goal-oracle")
QWEN = ("judge-brief", "judge-thinking")
"""The judges of another language model."""
EQ_14 = "Shen et al. (2026), eq. 14"


class RewardPredictionStudy:
    """Implements `Reproduction`, `Foresees` and `Agentless` of `gde.parts.reproduction`.

    One run of all reward models, ablations included, over all available domains, one
    condition a domain. It replays records, so that no agent plays a part.
    """

    agentless = True

    def __init__(self, config: StudyConfig, context: Context) -> None:
        """Choose the domains.

        Raises:
            GdeError: an unknown domain, or no available one.
        """
        self._config = config
        self._context = context
        self._unavailable: dict[str, str] = {}
        """Domain to the reason why it is left out."""

        wanted = [*DOMAINS.values()]
        if config.domains not in {"", "all"}:
            wanted = [find_domain(name) for name in config.domains.split("+")]
        self._domains: list[Domain] = []
        for domain in wanted:
            reason = self._why_left_out(domain)
            if reason:
                self._unavailable[domain.name] = reason
            else:
                self._domains.append(domain)
        if not self._domains:
            reasons = "; ".join(self._unavailable.values())
            raise GdeError(f"rewardbench: no domain is available: {reasons}")

    def plans(self, scale: float, _: Choice) -> Mapping[str, Plan]:
        """Scaled, they have that share of the published pairs of every domain, or of
        the tasks of the data.
        """
        config = self._config
        share = min(scale, 1.0)
        rewards = baselines(config)
        metrics: list[str | Choice] = ["epic"]
        if config.ablations:
            # In one run, in which all of them read one extraction.
            rewards += ablations(config)
            embedders = {"words": "words"}
            for embedder in listed(config.embedders):
                embedders.setdefault(row_of(embedder), embedder)
            metrics += map(_probe, embedders.values())
        return {NAME: self._plan(share, rewards, metrics)}

    def estimate(self, plans: Mapping[str, Plan]) -> Sequence[Estimate]:
        """Of every reward model that asks a language model, before anything is made or
        asked.
        """
        return [*estimates(NAME, plans[NAME], self._domains, self._config)]

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Every printed row and every further reward model, in every domain and over
        all.
        """
        measured = runs[NAME].result.measurements
        board = self._board(runs[NAME].evidence)
        labels = {one.label for one in ablations(self._config)} | ABLATIONS.keys()
        main = [one for one in measured if one.where.get("reward") not in labels]
        rows = [*self._table(main, board, TABLE_1, TABLE)]
        if self._config.ablations:
            ablated = [one for one in measured if one.where.get("reward") in labels]
            ablated += self._as_in_table_1(runs)
            rows += self._table(ablated, board, ABLATIONS, ABLATED)
            rows += _triplets(measured)
        return rows

    def figures(self, _: Mapping[str, Run]) -> Sequence[Figure]:
        """None: the table has the intervals."""
        return ()

    def _board(self, evidence: Evidence) -> Sequence[Standing]:
        """The reward models of a run by task, beside the best that reads nothing."""
        domains = [_domain_of(one) for one in evidence.trajectories]
        scores = task_scores(evidence, self._context.metric("epic"), EPIC, domains)
        return leaderboard(scores, READING_NOTHING, EPIC)

    def _plan(
        self,
        share: float,
        rewards: Sequence[Choice],
        metrics: Sequence[str | Choice],
    ) -> Plan:
        config = self._config
        environment: dict[str, Json] = {
            "domain": [domain.name for domain in self._domains],
        }
        if config.data:
            environment["data"] = config.data
        environment["share"] = share
        # Only goals of the oracle are read from it.
        if config.ablations:
            environment["show_success"] = True
        return Plan(
            environment=Choice(name="rewardbench", config=environment),
            agent="random",
            rewards=rewards,
            metrics=metrics,
            episodes=max(n_tasks(domain, config, share) for domain in self._domains),
        )

    def _why_left_out(self, domain: Domain) -> str:
        """Return why a domain is not available; empty if it is."""
        config = self._config
        if config.data is not None:
            folder = Path(config.data) / domain.name
            if any(find_records(folder)):
                return ""
            return f"domain {domain.name}: no TASK/positive.json in {folder}"
        try:
            offer = offer_of(domain)
        except GdeError as error:
            return str(error)
        # An offer that imports packages is a simulator.
        if config.domains or not offer.imports:
            return ""
        wanted = f"name it, set study.domains=all or {domain.name}, or its data, set study.data=FOLDER"
        return f"domain {domain.name}: its simulator takes minutes: {wanted}"

    def _table(
        self,
        measured: Sequence[Measurement],
        board: Sequence[Standing],
        printed: Mapping[str, Row],
        table: str,
    ) -> Iterator[Comparison]:
        """The printed rows first, then those of other reward models."""
        standings = {(one.contender, one.condition): one for one in board}
        blind = {one.contender for one in board if one.baseline}
        judged = dict.fromkeys(
            str(one.where["reward"])
            for one in measured
            if one.name == "epic" and one.where
        )
        for label in dict.fromkeys((*printed, *judged)):
            row = printed.get(label, Row(label, MAIN, {}))
            title = row.title
            differs = _differs(label, self._config.model)
            if label in blind and label not in printed:
                differs = READS_NOTHING
            found: dict[str, Measurement] = {}
            for domain in DOMAINS.values():
                ours = self._found(measured, label, domain, is_judged=label in judged)
                found[domain.name] = ours
                unjudged = find_number(
                    measured, "epic.unjudged", label, domain, self._domains
                )
                yield Comparison(
                    quantity=f"{title}, {domain.title}",
                    paper=row.values.get(domain.name),
                    ours=ours,
                    source=row.source,
                    table=table,
                    column=domain.title,
                    differs=_missing(unjudged) or differs,
                    others=beside_best(standings.get((label, domain.name))),
                )
            yield Comparison(
                quantity=f"{title}, overall",
                paper=row.overall,
                ours=_overall(label, found),
                source=row.source,
                table=table,
                column="overall",
                differs=differs,
                others=beside_best(standings.get((label, OVERALL))),
            )

    def _found(
        self,
        measured: Sequence[Measurement],
        label: str,
        domain: Domain,
        *,
        is_judged: bool,
    ) -> Measurement:
        """The distance of a reward model in a domain, or why there is none."""
        if domain in self._domains:
            one = find_number(measured, "epic", label, domain, self._domains)
            if one is not None:
                return one

        reason = (
            f"this reward model was not in the run: add the reward model {label}=..."
        )
        if is_judged:
            reason = self._unavailable.get(domain.name, "the run has no such number")
        where = {"reward": label, "domain": domain.name}
        return unmeasured("epic", reason, where, "distance")

    def _as_in_table_1(self, runs: Mapping[str, Run]) -> Iterator[Measurement]:
        """StateFactory's numbers as those of the ablations that are its settings."""
        for label in as_in_table_1(self._config):
            for one in runs[NAME].result.measurements:
                if one.where.get("reward") == "statefactory":
                    yield replace(one, where={**one.where, "reward": label})


def _differs(label: str, model: str) -> str:
    """What is other than in the publication in the way in which a row is found."""
    if label in ORACLES:
        return READS_TRUTH
    if label.startswith(("supervised", "vlwm")):
        return "trained here"
    if label not in {*TABLE_1, *ABLATIONS} - {"monotonic"} or "backbone-" in label:
        return ""
    if not model:
        return "read by rules, published by gpt-oss-20b"
    printed = "qwen3-14b" if label in QWEN else "gpt-oss-20b"
    return "" if printed in model.lower() else f"asked {model}, published {printed}"


def _missing(unjudged: Measurement | None) -> str:
    share = unjudged.value if unjudged else None
    return f"{share:.0%} of the episodes unjudged" if share else ""


def _probe(embedder: str) -> Choice:
    alias = f"triplets-{row_of(embedder)}"
    return Choice(name="triplets", alias=alias, config={"embedder": embedder})


def _triplets(measured: Sequence[Measurement]) -> Iterator[Comparison]:
    """The printed triplet accuracies, and those of further embedders."""
    found: dict[str, Measurement] = {}
    for one in measured:
        if one.name == "triplets" and set(one.where) == {"embedder"}:
            found[row_of(str(one.where["embedder"]))] = one
    for name in dict.fromkeys((*TRIPLETS, *found)):
        lacking = "this embedder was not in the run: set study.embedders=FOLDER"
        yield Comparison(
            quantity=f"triplet accuracy of {name}",
            paper=TRIPLETS.get(name),
            ours=found.get(name) or unmeasured("triplets", lacking, unit="share"),
            source=EQ_14,
            table=ABLATED,
        )


def _overall(label: str, found: Mapping[str, Measurement]) -> Measurement:
    """The mean over the five domains, as printed."""
    where = {"reward": label}
    missing = [name for name, one in found.items() if one.value is None]
    if missing:
        reason = f"without {', '.join(missing)}"
        return unmeasured("epic", reason, where, "distance")
    values = [one.value for one in found.values() if one.value is not None]
    interval = mean_interval(values, [one.interval for one in found.values()])
    return Measurement(
        name="epic",
        value=mean(values),
        unit="distance",
        n=sum(one.n for one in found.values()),
        interval=interval,
        where=where,
    )


def _domain_of(one: Trajectory) -> str:
    return str(one.world.facts.get("domain"))
