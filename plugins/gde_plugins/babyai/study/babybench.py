"""LLM-BabyBench for any agent.

It compares with tables 3, 4, 6 and 7 and figures 1, 2, 10 and 11 of Choukrani et al.
(2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

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

Tasks = Mapping[str, Sequence[Measurement]]
"""The measurements of one agent by task."""
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
            "release": self._config.release,
        }
        return Plan(
            environment=Choice(name=f"babyai-{task}", config=config),
            agent=agent,
            metrics=(
                Choice(name="success"),
                Choice(name="outcomes"),
                Choice(name=f"babyai-{task}"),
            ),
            episodes=n_kept,
        )

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        """Compare the agent with the seven models' shares, or with their averages.

        Each table says by which protocol answers were read.
        """
        if self._config.protocol == "published":
            runs = {name: _as_published(run) for name, run in runs.items()}
        found = self._found(runs)
        rows = _rows(found[""])
        for form in TABLE_6:
            ours = runs[f"format-{form}"].result.measurements
            rows += _beside_averages("format (table 6)", form, TABLE_6, ours)
        for way in TABLE_7:
            if f"asked-{way}" in runs:
                ours = runs[f"asked-{way}"].result.measurements
                rows += _beside_averages("way of asking (table 7)", way, TABLE_7, ours)

        for name, theirs in found.items():
            if name:
                by_row = {(row.table, row.quantity): row.ours for row in _rows(theirs)}
                rows = [_with(row, name, by_row) for row in rows]
        label = PROTOCOLS[self._config.protocol]
        return [replace(row, table=f"{row.table}, {label}") for row in rows]

    def figures(self, _: Mapping[str, Run]) -> Sequence[Figure]:
        """None: the tables have the numbers of figures 1, 2, 10 and 11."""
        return ()

    def _found(self, runs: Mapping[str, Run]) -> Mapping[str, Tasks]:
        """The measurements by agent and task; the evaluated agent has no name."""
        found: dict[str, Tasks] = {}
        for name in ("", *self._config.agents, *self._config.models):
            of_tasks = {}
            for task in TASKS:
                run = runs.get(beside(task, name) if name else task)
                if run is not None:
                    of_tasks[task] = run.result.measurements
            if of_tasks:
                found[name] = of_tasks
        return found


def _with(
    row: Comparison, name: str, by_row: Mapping[tuple[str, str], Measurement]
) -> Comparison:
    """The row beside the same number of another agent."""
    other = by_row.get((row.table, row.quantity))
    return replace(row, others={**row.others, name: other}) if other else row


def _rows(found: Tasks) -> list[Comparison]:
    """The rows of the three tasks."""
    predict, plan, decompose = (found[task] for task in TASKS)
    rows = [
        *_beside_models("table 3", "difficulty", TABLE_3, predict),
        *_beside_models("table 4", "competency", TABLE_4, predict),
        *_ours("Predict, beyond the publication", "section 4.5", predict, PREDICTED),
        *_ours("Plan (figure 10)", "figure 10", plan, PLANNED),
    ]
    # Figure 1 prints no numbers to compare with.
    for size in SIZES:
        ours = find(plan, "plan.success", size=size)
        rows.append(_row("Plan by size (figure 1)", "figure 1", size, ours))
    return [*rows, *_decomposed(decompose)]


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


def _row(
    table: str,
    source: str,
    quantity: str,
    ours: Measurement,
    paper: float | None = None,
) -> Comparison:
    return Comparison(
        quantity=quantity,
        paper=paper,
        ours=ours,
        source=SOURCE.format(source),
        table=table,
    )


def _beside_models(
    source: str,
    by: str,
    printed: Mapping[str, Shares],
    ours: Sequence[Measurement],
) -> Iterator[Comparison]:
    for kind, shares in printed.items():
        models = {}
        for model, percent in zip(MODELS, shares, strict=True):
            success = Measurement(name=SUCCESS, value=percent / 100, unit="share", n=0)
            models[model] = success
        measured = find(ours, "predict.success", **{by: kind})
        title = f"Predict by {by} ({source}; words of prompts and classes are ours)"
        row = _row(title, source, kind, measured)
        yield replace(row, others=models)


def _ours(
    table: str,
    source: str,
    measurements: Sequence[Measurement],
    titles: Mapping[str, str],
) -> Iterator[Comparison]:
    for name, title in titles.items():
        yield _row(table, source, title, find(measurements, name))


def _beside_averages(
    title: str,
    quantity: str,
    printed: Mapping[str, tuple[float, float]],
    ours: Sequence[Measurement],
) -> Iterator[Comparison]:
    percent, cells = printed[quantity]
    _, _, source = title.strip(")").partition("(")
    table = f"Predict by {title.strip(')')}; words of prompts are ours)"
    success = find(ours, "predict.success")
    distance = find(ours, "predict.distance")
    name = f"{quantity}: success rate"
    rows = (
        _row(table, source, name, success, percent / 100),
        _row(table, source, f"{quantity}: Manhattan distance", distance, cells),
    )
    for row in rows:
        yield replace(row, differs="published as a mean over seven models")


def _decomposed(measurements: Sequence[Measurement]) -> Iterator[Comparison]:
    table = "Decompose by subgoals that the expert adds (figure 2)"
    for name, title in DECOMPOSED.items():
        yield _row(table, "figure 2", title, find(measurements, name))
        for each in BY_CLASS:
            # A class may be empty: no world of the run needed so many subgoals.
            ours = find(measurements, name, added=each)
            if ours.value is not None:
                yield _row(table, "figure 2", f"{title}, {each} added", ours)
