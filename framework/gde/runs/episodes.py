"""The episodes of runs as a table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gde.data.episode_table import Tabulated
from gde.data.evidence import Evidence
from gde.data.frame import Table, beside
from gde.data.model_use import Usage
from gde.request.catalogue import Catalogue
from gde.request.ready import Chosen, Ready
from gde.request.settings import dump_what
from gde.stages.context import Resources
from gde.stages.evidence import gather, parts_of
from gde.stages.facts import know_facts
from gde.stages.model_use import used_by_episode
from gde.store.facts import to_row
from gde.store.folder import RunFolder
from gde.store.journal import Journal

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    *("run", "agent", "model", "environment", "episode", "condition"),
    *("world", "base", "seed", "ending", "failure", "turns"),
    *("calls", "prompt_tokens", "answer_tokens", "seconds", "cost"),
)
Row = dict[str, Any]


def episodes_table(*runs: Path | str) -> Table:
    """One row an episode of some runs.

    Columns: `run` (its folder), `agent`, `model`, `environment`, `episode` (its key),
    `condition` (its index), `world`, `base` (the world's cluster), `seed` (of the world),
    `ending`, `failure`, `turns`; `calls` of models, `prompt_tokens`, `answer_tokens`,
    `seconds` that these took, `cost`. Then one for each label of worlds and sweep (a label
    that is called like one of the others is `label.NAME`), one for each fact of a metric,
    `METRIC.FACT` (`success` by its own name), and one for each setting of agent and
    environment, `agent.NAME` and `env.NAME`. What an episode does not have is None.

    Facts that a run does not keep are asked for, and kept nowhere.

    Args:
        *runs: their folders.

    Raises:
        GdeError: there is no such run.
    """
    catalogue = Catalogue.default()
    rows = chain.from_iterable(_rows(Path(run), catalogue) for run in runs)
    return Table.of(rows, COLUMNS)


def episodes_frame(*runs: Path | str) -> "pandas.DataFrame":
    """`gde.open(run).episodes` of any number of runs, one after the other, as a frame.

    Raises:
        MissingExtra: pandas is not installed.
        GdeError: there is no such run.
    """
    return episodes_table(*runs).to_pandas("episodes_frame")


def _rows(run: Path, catalogue: Catalogue) -> Iterator[Row]:
    folder = RunFolder.open(run)
    ready = parts_of(folder, catalogue)
    with closing(folder.journal()) as journal:
        evidence = gather(folder, journal, lambda: ready)
        prices = folder.noted_how(journal).prices
        used = used_by_episode(journal, prices)
        facts = _facts(ready, evidence, journal)
        summaries = [*journal.summaries()]
    whose = {
        "run": str(run),
        "agent": ready.plan.agent.label,
        "model": ready.agent_model,
        "environment": ready.plan.environment.label,
    }
    of_agent = _settings("agent", ready.agent)
    of_worlds = [_settings("env", each.environment) for each in ready.conditions]
    for i, one in enumerate(summaries):
        usage = used.get(one.episode, Usage(cost=0.0))
        yield {
            **whose,
            "episode": one.episode,
            "condition": one.condition,
            "world": one.world,
            "base": one.cluster,
            "seed": one.seed,
            "ending": one.ending,
            "failure": one.failure,
            "turns": one.turns,
            "calls": usage.calls,
            "prompt_tokens": None if usage.untold else usage.prompt_tokens,
            "answer_tokens": None if usage.untold else usage.answer_tokens,
            "seconds": usage.seconds,
            "cost": None if usage.untold else usage.cost,
            **beside(one.labels, COLUMNS, "label"),
            **{name: column[i] for name, column in facts.items()},
            **of_agent,
            **of_worlds[one.condition],
        }


def _facts(
    ready: Ready, evidence: Evidence, journal: Journal
) -> Mapping[str, Sequence[float | None]]:
    """The facts of all metrics, by column."""
    resources = Resources(ready)
    asked = []
    for chosen in ready.metrics:
        if chosen.entry.metric.facts and not chosen.absent:
            asked.append((chosen.label, partial(resources.metric_of, chosen)))
    know_facts(evidence, asked, journal, keep=False)
    tables = evidence.trajectories
    assert isinstance(tables, Tabulated)
    found = {}
    for label, make in asked:
        table = tables.tables[make().metric]
        for name, column in table.facts.items():
            place = name if name == label else f"{label}.{name}"
            values = to_row(column.tolist())
            # E.g. of fog, in a run without any.
            if set(values) != {None}:
                found[place] = values
    return found


def _settings(whose: str, chosen: Chosen) -> Row:
    """The settings of a part that are single values."""
    settings = dump_what(chosen.config)
    return {
        f"{whose}.{name}": value
        for name, value in settings.items()
        if not (value is None or isinstance(value, Mapping | list | tuple))
    }
