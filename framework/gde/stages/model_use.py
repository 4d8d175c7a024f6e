"""What a run has asked of its language models, from the journal's calls."""

import json
from collections.abc import Mapping
from sqlite3 import Row

from gde.data.completion import Completion
from gde.data.how import Prices
from gde.data.model_use import AGENT, ModelUse, Usage, total
from gde.data.plan import Plan
from gde.stages.budget import cost_of
from gde.stages.models import notes_of
from gde.store.damage import decoding
from gde.store.journal import ASKED, Journal

SPENT = """
    count(*) FILTER (WHERE NOT cached) AS calls,
    count(*) FILTER (WHERE cached) AS cached,
    count(n_prompt + n_completion) FILTER (WHERE NOT cached) AS told,
    coalesce(sum(n_prompt) FILTER (WHERE NOT cached), 0) AS prompt,
    coalesce(sum(n_completion) FILTER (WHERE NOT cached), 0) AS answer,
    sum(seconds) FILTER (WHERE NOT cached) AS seconds
"""
BY_PART = f"""
SELECT CASE WHEN instr(scope, ' ') THEN scope ELSE '' END AS part, model,
    json_group_array(DISTINCT answered_by) AS answered_by, {SPENT}
FROM calls GROUP BY 1, model ORDER BY 1, model
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
    days = _days_asked(journal)
    sent = {(row["part"], row["model"]): row["sent"] for row in journal.query(SENT)}

    found = []
    for row in journal.query(BY_PART):
        name = row["model"]
        kind, _, label = row["part"].partition(" ")
        answered_by = sorted(filter(None, json.loads(row["answered_by"])))
        one = ModelUse(
            name=name,
            model=noted.get(name, {}).get("name", name),
            kind=kind or AGENT,
            part=label or plan.agent.label,
            answered_by=tuple(answered_by),
            days=days.get((row["part"], name), ()),
            usage=_usage(row, sent.get((row["part"], name), 0), prices),
        )
        found.append(one)
    return tuple(found)


@decoding("calls")
def used_by_episode(journal: Journal, prices: Prices) -> Mapping[str, Usage]:
    """What each episode that asked a model has used."""
    found: dict[str, list[Usage]] = {}
    for row in journal.query(BY_EPISODE):
        found.setdefault(row["episode"], []).append(_usage(row, 0, prices))
    return {episode: total(usages) for episode, usages in found.items()}


def _days_asked(journal: Journal) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The first and the last day on which a part had answers of a model.

    By the part's scope, which is empty for all episodes, and the model's name.
    """
    days: dict[tuple[str, str], list[str]] = {}
    for row in journal.query(f"SELECT * FROM facts WHERE name LIKE '{ASKED}[%'"):
        part, model, day = json.loads(row["name"].removeprefix(ASKED))
        days.setdefault((part, model), []).append(str(day))
    return {place: (min(found), max(found)) for place, found in days.items()}


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
