"""What a run has asked of its language models, from the journal's calls."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from sqlite3 import Row

from gde.data.completion import Completion
from gde.data.grouping import collected
from gde.data.how import Prices
from gde.data.model_use import AGENT, PROMPT_CUT, ModelUse, Usage, total
from gde.data.plan import Plan
from gde.stages.budget import cost_of
from gde.stages.models import notes_of
from gde.store.damage import decoding
from gde.store.journal import DAY, FROM_CACHE, LIKELIEST, Journal
from gde.store.rows import to_json

SPENT = """
    count(*) FILTER (WHERE NOT cached) AS calls,
    count(*) FILTER (WHERE cached) AS cached,
    count(n_prompt + n_completion) FILTER (WHERE NOT cached) AS told,
    coalesce(sum(n_prompt) FILTER (WHERE NOT cached), 0) AS prompt,
    coalesce(sum(n_completion) FILTER (WHERE NOT cached), 0) AS answer,
    sum(seconds) FILTER (WHERE NOT cached) AS seconds
"""
MIXED = 3
"""Most values of a mixture that a sentence lists."""
BY_PART = f"""
SELECT CASE WHEN instr(scope, ' ') THEN scope ELSE '' END AS part, model,
    {SPENT}
FROM calls GROUP BY 1, model ORDER BY 1, model
"""
ANSWERED = """
SELECT CASE WHEN instr(scope, ' ') THEN scope ELSE '' END AS part, model, answered_by, count(*) AS n
FROM calls WHERE answered_by <> '' GROUP BY 1, model, answered_by ORDER BY answered_by
"""
BY_EPISODE = f"""
SELECT scope AS episode, model, {SPENT} FROM calls
WHERE NOT instr(scope, ' ') GROUP BY scope, model
"""
"""Scopes of parts are "KIND LABEL"; those of episodes have no blank."""

SENT = """
SELECT CASE WHEN instr(scope, ' ') THEN scope ELSE '' END AS part, model, sum(sent) AS sent
FROM requests GROUP BY 1, model
"""


@decoding("facts or calls")
def models_used(journal: Journal, plan: Plan, prices: Prices) -> tuple[ModelUse, ...]:
    """The models that answered in a run, those of its episodes first."""
    noted = notes_of(journal)
    told = journal.told()
    failed = journal.failed_tries()
    sent = {(row["part"], row["model"]): row["sent"] for row in journal.query(SENT)}

    answered: dict[tuple[str, str], dict[str, int]] = {}
    for row in journal.query(ANSWERED):
        names = answered.setdefault((row["part"], row["model"]), {})
        names[row["answered_by"]] = row["n"]

    found = []
    for row in journal.query(BY_PART):
        name = row["model"]
        kind, _, label = row["part"].partition(" ")
        usage = _usage(row, sent.get((row["part"], name), 0), prices)
        served = told.get((row["part"], name), {})
        served.pop(LIKELIEST, None)
        days = [str(day) for day in served.pop(DAY, ())]
        one = ModelUse(
            name=name,
            model=noted.get(name, {}).get("name", name),
            kind=kind or AGENT,
            part=label or plan.agent.label,
            answered_by=answered.get((row["part"], name), {}),
            failed=failed.get((row["part"], name), {}),
            days=(min(days), max(days)) if days else (),
            served={what: tuple(values) for what, values in served.items()},
            usage=replace(usage, prompt_cached=_from_cache(journal, row)),
        )
        found.append(one)
    return tuple(found)


@decoding("calls")
def used_by_episode(journal: Journal, prices: Prices) -> Mapping[str, Usage]:
    """What each episode that asked a model has used."""
    rows = journal.query(BY_EPISODE)
    found = collected((row["episode"], _usage(row, 0, prices)) for row in rows)
    return {episode: total(usages) for episode, usages in found.items()}


def mixtures(uses: Iterable[ModelUse]) -> Iterator[str]:
    """Sentences on models that were not one and the same during a run.

    Their answers are counted together, which every reader must know.
    """
    for one in uses:
        whose = f"{one.kind.replace('_', ' ')} {one.part}"
        names = [f"{name} (n = {n})" for name, n in one.answered_by.items()]
        told = {"model": names, **one.served}
        for name, values in told.items():
            if len(values) > 1:
                some = ", ".join(values[:MIXED]) + (", ..." if values[MIXED:] else "")
                yield (
                    f"More than one {name} answered {whose}: {some}. All are counted together;"
                    " ask one alone for numbers that can be repeated."
                )
        if PROMPT_CUT in one.served:
            yield (
                f"The server seems to cut prompts of {whose}: it counts fewer tokens than they have. Raise its context."
            )


def _from_cache(journal: Journal, row: Row) -> int:
    """Prompt tokens of a part and model that its server had in its cache."""
    note = f"{FROM_CACHE}{to_json([row['part'], row['model']])}"
    # Of answers that are asked again, the note has both.
    counted: int = journal.noted(note, int) or 0
    return min(int(row["prompt"]), counted)


def _usage(row: Row, sent: int, prices: Prices) -> Usage:
    # Prices are per token, so the sums cost as much as the single answers.
    together = Completion(
        text="",
        reasoning=None,
        finish="stop",
        model=row["model"],
        n_prompt=row["prompt"],
        n_completion=row["answer"],
    )
    return Usage(
        calls=row["calls"],
        unsettled=max(0, sent - row["calls"]),
        cached=row["cached"],
        prompt_tokens=row["prompt"],
        answer_tokens=row["answer"],
        untold=row["calls"] - row["told"],
        seconds=row["seconds"],
        cost=cost_of(together, prices),
    )
