"""LLM-BabyBench for any agent.

It compares with tables 3, 4, 6 and 7 and figures 1, 2, 10 and 11 of Choukrani et al.
(2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.parts.reproduction import Comparison, Run, beside, scaled
from gde_plugins.babyai.config import StudyConfig
from gde_plugins.babyai.study.published import (
    MODELS,
    TABLE_3,
    TABLE_4,
    TABLE_6,
    TABLE_7,
    Shares,
)
from gde_plugins.babyai.worlds.levels import (
    OFFICIAL_SEEDS,
    PAPER_LEVELS,
    PLAN_WORLDS,
    SIZES,
)

PROMPTER = "babyai-prompter"
TASKS = ("predict", "plan", "decompose")
PLAN_SEEDS = 5
ABLATED = ("GoToObj", "BossLevel")
"""The levels of the comparison of prompts (appendix C). Formats are compared on the
same ones, since the publication names none for them.
"""
SUCCESS = "predict.success"
SOURCE = "Choukrani et al. (2025), {}"
BY_CLASS = ("0-2", "3-6", "7-9", "10+")
DECOMPOSED = {
    "decompose.comprehension": "comprehension rate",
    "decompose.precision": "precision rate",
    "decompose.aci": "assistance curve integral, as counted",
    "decompose.aci_defined": "assistance curve integral, as defined",
}


class BabyBenchStudy:
    """The three tasks and formats, and the four prompting methods of the prompter.

    Each has its own run. Other agents, and other models of the same agent, answer the
    three tasks beside it.

    At a smaller scale there are fewer seeds of the published ones, in their order;
    never fewer levels.
    """

    agent = PROMPTER

    def __init__(self, config: StudyConfig) -> None:
        self._config = config

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        """Make the plans with the published seeds.

        There are 20 a level, and 5 for each world of the Plan task.
        """
        n_seeds = len(OFFICIAL_SEEDS)
        plans = {
            "predict": self._plan("predict", PAPER_LEVELS, n_seeds, scale, agent),
            "plan": self._plan("plan", list(PLAN_WORLDS), PLAN_SEEDS, scale, agent),
            "decompose": self._plan("decompose", PAPER_LEVELS, n_seeds, scale, agent),
        }
        for name, other in self._others(agent).items():
            for task in TASKS:
                plans[beside(task, name)] = replace(plans[task], agent=other)

        # Formats and prompts are compared on two levels alone.
        few = self._plan("predict", ABLATED, n_seeds, scale, agent)
        for form in TABLE_6:
            described: dict[str, Json] = {**few.environment.config, "format": form}
            environment = replace(few.environment, config=described)
            plans[f"format-{form}"] = replace(few, environment=environment)

        # Only the prompter can be told how to ask.
        if agent.name == PROMPTER:
            for way in TABLE_7:
                asking = replace(agent, config={**agent.config, "prompting": way})
                plans[f"asked-{way}"] = replace(few, agent=asking)
        return plans

    def _others(self, agent: Choice) -> Mapping[str, Choice]:
        """The agents that answer beside this one, by name."""
        others = {name: Choice(name=name) for name in self._config.agents}
        for model in self._config.models:
            others[model] = replace(agent, config={**agent.config, "model": model})
        others.pop(agent.name, None)
        return others

    def _plan(
        self,
        task: str,
        levels: Sequence[str],
        n_seeds: int,
        scale: float,
        agent: Choice,
    ) -> Plan:
        n_kept = min(n_seeds, scaled(n_seeds, scale))
        seeds = OFFICIAL_SEEDS[:n_kept]
        config: dict[str, Json] = {
            "level": list(levels),
            "seeds": list(seeds),
        }
        return Plan(
            environment=Choice(name=f"babyai-{task}", config=config),
            agent=agent,
            metrics=("success", "outcomes", f"babyai-{task}"),
            episodes=n_kept,
        )

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Compare the agent with the seven models' shares, or with their averages.

        Each table says by which protocol answers were read.
        """
        if self._config.protocol == "published":
            runs = {name: _as_published(run) for name, run in runs.items()}
        label = PROTOCOLS[self._config.protocol]
        rivals = (*self._config.agents, *self._config.models)
        rows = []
        for line in _lines():
            # Only the prompter was asked in several ways.
            if line.plan not in runs:
                continue
            ours = line.found(runs[line.plan])
            # A class may be empty: no world of the run needed so many subgoals.
            if line.of_class and ours.value is None:
                continue
            others = {**line.printed}
            for name in rivals:
                run = runs.get(beside(line.plan, name))
                if run is not None:
                    others[name] = line.found(run)
            row = Comparison(
                quantity=line.quantity,
                paper=line.paper,
                ours=ours,
                source=SOURCE.format(line.source),
                table=f"{line.table}, {label}",
                differs=line.differs,
                others=others,
            )
            rows.append(row)
        return rows

    def figures(self, _: Mapping[str, Run]) -> Sequence[Figure]:
        """None: the tables have the numbers of figures 1, 2, 10 and 11."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a table: a number of one of the plans."""

    plan: str
    table: str
    source: str
    quantity: str
    name: str
    """Of the measurement."""
    where: Mapping[str, str] = field(default_factory=dict)
    """What the measurement is restricted to."""
    paper: float | None = None
    differs: str = ""
    printed: Mapping[str, Measurement] = field(default_factory=dict)
    """The printed number of each model."""
    of_class: bool = False
    """Whether it counts missions of one class, of which there may be none."""

    def found(self, run: Run) -> Measurement:
        """The number of a run."""
        return find(run.result.measurements, self.name, **self.where)


def _lines() -> Iterator[Line]:
    """Every row, table by table."""
    yield from _of_models("table 3", "difficulty", TABLE_3)
    yield from _of_models("table 4", "competency", TABLE_4)
    yield from _of_task(
        "predict", "Predict, beyond the publication", "section 4.5", PREDICTED
    )
    yield from _of_task("plan", "Plan (figure 10)", "figure 10", PLANNED)
    # Figure 1 prints no numbers to compare with.
    for size in SIZES:
        yield Line(
            plan="plan",
            table="Plan by size (figure 1)",
            source="figure 1",
            quantity=size,
            name="plan.success",
            where={"size": size},
        )
    yield from _decomposed()
    yield from _averages("format", "format (table 6", TABLE_6)
    yield from _averages("asked", "way of asking (table 7", TABLE_7)


def _of_models(source: str, by: str, table: Mapping[str, Shares]) -> Iterator[Line]:
    for kind, shares in table.items():
        printed = {}
        for model, percent in zip(MODELS, shares, strict=True):
            success = Measurement(name=SUCCESS, value=percent / 100, unit="share", n=0)
            printed[model] = success
        yield Line(
            plan="predict",
            table=f"Predict by {by} ({source}; words of prompts and classes are ours)",
            source=source,
            quantity=kind,
            name=SUCCESS,
            where={by: kind},
            printed=printed,
        )


def _of_task(
    task: str, table: str, source: str, titles: Mapping[str, str]
) -> Iterator[Line]:
    for name, title in titles.items():
        yield Line(plan=task, table=table, source=source, quantity=title, name=name)


def _averages(
    plan: str, title: str, table: Mapping[str, tuple[float, float]]
) -> Iterator[Line]:
    _, _, source = title.partition("(")
    for setting, (percent, cells) in table.items():
        numbers = (
            ("success rate", SUCCESS, percent / 100),
            ("Manhattan distance", "predict.distance", cells),
        )
        for quantity, name, paper in numbers:
            yield Line(
                plan=f"{plan}-{setting}",
                table=f"Predict by {title}; words of prompts are ours)",
                source=source,
                quantity=f"{setting}: {quantity}",
                name=name,
                paper=paper,
                differs="published as a mean over seven models",
            )


def _decomposed() -> Iterator[Line]:
    for name, title in DECOMPOSED.items():
        whole = Line(
            plan="decompose",
            table="Decompose by subgoals that the expert adds (figure 2)",
            source="figure 2",
            quantity=title,
            name=name,
        )
        yield whole
        for each in BY_CLASS:
            yield replace(
                whole,
                quantity=f"{title}, {each} added",
                where={"added": each},
                of_class=True,
            )


def _as_published(run: Run) -> Run:
    """Put the numbers of the published reading in the place of the lenient ones.

    A number that the published harness does not have is left out, with this reason.
    """
    found = run.result.measurements
    published = {}
    for one in found:
        for suffix in (".published", "_published"):
            if one.name.endswith(suffix):
                name = one.name.removesuffix(suffix)
                published[replace(one, name=name).identity] = replace(one, name=name)

    measurements = []
    for one in found:
        reason = "not in the published harness"
        other = unmeasured(one.name, reason, one.where, one.unit)
        measurements.append(published.get(one.identity, other))
    return replace(run, result=replace(run.result, measurements=tuple(measurements)))


PROTOCOLS = {
    "lenient": "read leniently, unusable answers as 0",
    "published": "read as published, unusable answers left out",
}
PREDICTED = {
    "predict.success": "success rate",
    "predict.position": "success rate, position alone (equation 1)",
    "predict.distance": "Manhattan distance, all usable answers",
    "predict.distance_wrong": "Manhattan distance, wrong answers",
    "predict.unusable": "answers that cannot be used",
}
PLANNED = {
    "plan.success": "success rate",
    "plan.efficiency": "efficiency, 0 without success",
    "plan.efficiency_successful": "efficiency, successful plans",
    "plan.optimality": "the same against the shortest way",
    "plan.unusable": "answers that cannot be used",
}


def find(measurements: Sequence[Measurement], name: str, **where: str) -> Measurement:
    """Return the measurement restricted to exactly `where`.

    If there is none, the result has a reason instead.
    """
    for one in measurements:
        if one.name == name and dict(one.where) == where:
            return one
    return unmeasured(name, "not in the run", where, "share")
