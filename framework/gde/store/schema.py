"""The tables of run.sqlite. For the digests of rows see `gde.store.digests`."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache

VERSION = 17
"""Grows with every change that an older reader would misread."""

TABLES = """
CREATE TABLE facts (            -- about the run
    name TEXT PRIMARY KEY,      -- subject, e.g. provenance, conditions, models, resumed with
    value TEXT NOT NULL         -- JSON
) STRICT;
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,   -- condition/world/repeat
    condition INTEGER NOT NULL, -- its index
    world INTEGER NOT NULL,     -- index in its condition
    repeat INTEGER NOT NULL,    -- index in its world
    seed INTEGER NOT NULL,      -- of the world
    world_id TEXT NOT NULL,     -- equal for equal worlds
    base TEXT NOT NULL,         -- equal for variations of one world, the cluster; if empty, world_id
    facts TEXT NOT NULL,        -- constant truth of the world, JSON
    world_labels TEXT NOT NULL, -- the world's own labels, JSON
    labels TEXT NOT NULL,       -- those and the swept values, JSON
    horizon INTEGER NOT NULL,   -- turns allowed
    ending TEXT,                -- terminated, truncated, horizon, failed; null while it runs
    failure TEXT NOT NULL DEFAULT '',   -- reason of a failure
    final_state TEXT,           -- after the last turn, JSON
    turns INTEGER,              -- number; null while it runs
    digest BLOB NOT NULL        -- of the last turn's digest and this row
) STRICT;
CREATE TABLE turns (
    episode TEXT NOT NULL,
    turn INTEGER NOT NULL,      -- index from 0
    observation TEXT NOT NULL,  -- as shown
    actions TEXT,               -- admissible, JSON; null for free text
    state TEXT,                 -- the truth before the decision, JSON
    state_index INTEGER,        -- row in the MDP
    optimal TEXT,               -- all optimal actions, JSON
    value REAL,                 -- optimal expected return
    status TEXT NOT NULL,       -- ok, invalid_action, unparsable, empty, refusal, truncated, error
    action TEXT,                -- null unless ok
    detail TEXT NOT NULL,       -- reason or rule of reading; the agent's notes
    completion TEXT,            -- request of the call that decided it
    reward REAL NOT NULL,       -- of the step
    terminated INTEGER NOT NULL,    -- 1 if the world ended
    truncated INTEGER NOT NULL, -- 1 if the environment cut the episode off
    success REAL,               -- share of the goal reached, 0 to 1; null without a goal
    probabilities TEXT,         -- of actions, JSON; null where the agent tells none
    digest BLOB NOT NULL,       -- of the last turn's digest, the answer's and this row
    PRIMARY KEY (episode, turn)
) STRICT;
CREATE TABLE calls (            -- answers of models
    scope TEXT NOT NULL,        -- an episode, or a part such as "reward_model judge"
    request TEXT NOT NULL,      -- SHA-256 of the model's name and everything that was asked
    model TEXT NOT NULL,        -- the user's name for it
    turn INTEGER,               -- of the first request; null outside episodes
    text TEXT NOT NULL,         -- the answer
    reasoning TEXT,             -- before the answer
    finish TEXT NOT NULL,       -- stop, length, refusal
    prompt_tokens BLOB NOT NULL,    -- ids, little-endian int32
    tokens BLOB NOT NULL,       -- ids of the completion, little-endian int32
    positions TEXT NOT NULL,    -- names to indices into prompt_tokens + tokens, JSON
    n_prompt INTEGER,           -- billed; null if not reported
    n_completion INTEGER,       -- likewise
    answered_by TEXT NOT NULL,  -- name that the model reports
    interventions TEXT NOT NULL,    -- JSON list of those it was made with
    cached INTEGER NOT NULL,    -- 1 if from run.cache
    prompt TEXT NOT NULL,       -- JSON list of [role, text], with tool calls (gde.data.tool_call)
    seconds REAL,               -- with waiting; null if cached
    effort TEXT,                -- sent to a server; else null
    logprobs BLOB NOT NULL,     -- of the completion's tokens, little-endian float32
    digest BLOB NOT NULL,       -- of this row
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE requests (         -- written before they are sent; those without an answer are perhaps billed
    scope TEXT NOT NULL,        -- as in calls
    request TEXT NOT NULL,      -- as in calls
    model TEXT NOT NULL,        -- as in calls
    sent INTEGER NOT NULL,      -- sendings, with retries
    answered INTEGER NOT NULL,  -- answers
    told INTEGER NOT NULL,      -- answers with token counts
    n_prompt INTEGER NOT NULL,  -- their prompt tokens
    n_completion INTEGER NOT NULL,      -- their answer tokens
    most_prompt INTEGER NOT NULL,       -- upper bound of a prompt
    most_completion INTEGER NOT NULL,   -- upper bound of an answer
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE interventions (    -- each once, however many calls it was made in
    intervention TEXT PRIMARY KEY,  -- SHA-256 of the rest
    layer INTEGER NOT NULL,     -- from 0; -1 for the input embeddings
    position TEXT NOT NULL,     -- of the prompt
    kind TEXT NOT NULL,         -- add, replace, project_out
    place TEXT NOT NULL,        -- of the layer: residual, attention, mlp, head:N
    shape TEXT NOT NULL,        -- (width), or (tokens, width)
    vector BLOB NOT NULL        -- little-endian float32
) STRICT;
CREATE TABLE replays (          -- answers of a server in the tokens of local weights
    weights TEXT NOT NULL,      -- hash of weights and settings
    episode TEXT NOT NULL,
    turn INTEGER NOT NULL,
    tokens BLOB NOT NULL,       -- of prompt and completion, little-endian int32
    positions TEXT NOT NULL,    -- names to indices into tokens, JSON
    status TEXT NOT NULL,       -- replayed, not reconstructed, other weights
    reason TEXT NOT NULL,       -- if not replayed
    PRIMARY KEY (weights, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE activations (
    -- With a column of the key at the end, SQLite 3.40 takes others for null.
    source TEXT NOT NULL,       -- model, untrained, untrained-1, ...; of local weights with their hash
    layer INTEGER NOT NULL,     -- from 0; -1 for the input embeddings
    position TEXT NOT NULL,     -- pre, post, or another
    episode TEXT NOT NULL,
    turn INTEGER NOT NULL,
    file TEXT NOT NULL,         -- shard in activations/
    row INTEGER NOT NULL,       -- first row in the shard's array "values", (tokens, width)
    tokens INTEGER NOT NULL,    -- number of rows
    PRIMARY KEY (source, layer, position, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE probes (
    place INTEGER NOT NULL,     -- order of the first fits
    probe TEXT NOT NULL,        -- its name in the run
    fit TEXT PRIMARY KEY,       -- variant, layer, position, control
    made_by TEXT NOT NULL,      -- hash of probe, configuration, model and episodes
    report TEXT NOT NULL        -- scores in held-out worlds, JSON
) STRICT;
CREATE TABLE rewards (
    model TEXT NOT NULL,        -- reward model
    episode TEXT NOT NULL,
    turn INTEGER NOT NULL,      -- -1 for a failure
    value REAL,                 -- predicted reward
    failure TEXT NOT NULL DEFAULT '',   -- reason if missing
    PRIMARY KEY (model, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE judgements (       -- how the rewards of an episode came about, where the reward model says it
    model TEXT NOT NULL,        -- reward model
    episode TEXT NOT NULL,
    made_by TEXT NOT NULL,      -- its method
    counts TEXT NOT NULL,       -- of events, JSON
    PRIMARY KEY (model, episode)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_sets (        -- metrics that have given facts of episodes
    number INTEGER PRIMARY KEY, -- of the set
    made_by TEXT NOT NULL UNIQUE    -- metric, versions and configuration, JSON
) STRICT;
CREATE TABLE episode_facts (    -- `gde rescore --metric NAME` finds them anew
    episode TEXT PRIMARY KEY,
    facts TEXT NOT NULL         -- number of a set to its list of numbers, JSON
) STRICT, WITHOUT ROWID;
"""
"""Every column says what it holds: `sqlite3 RUN/run.sqlite .schema` shows it to users."""


def mismatch(version: int, found: Mapping[tuple[str, str], str | None]) -> str:
    """Why a file is no journal of this version; empty when it is one.

    Args:
        version: its user_version.
        found: (type, name) to the SQL of everything in its schema. Views and triggers
            run when tables are read or written, so a file from elsewhere that has any
            is refused.
    """
    if version not in (0, VERSION):
        other = "an earlier" if version < VERSION else "a newer"
        return f"written by {other} gde (schema {version}, here {VERSION}): use that gde, or export the run there"
    if found != expected():
        return "its tables are not those that gde makes; it is damaged, or made by something else"
    return ""


@cache
def expected() -> Mapping[tuple[str, str], str | None]:
    """The schema of a new journal."""
    with closing(empty()) as connection:
        rows = connection.execute(
            "SELECT type, name, sql FROM sqlite_master"
        ).fetchall()
    return {(kind, name): sql for kind, name, sql in rows}


@dataclass(frozen=True)
class Table:
    """The columns of a table and those of its primary key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


@cache
def tables() -> Mapping[str, Table]:
    """The tables of a new journal, in the order in which they are made."""
    found = {}
    with closing(empty()) as connection:
        names = [name for kind, name in expected() if kind == "table"]
        for table in names:
            rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
            columns = tuple(name for _, name, *_ in rows)
            key = tuple(name for _, name, *_, is_key in rows if is_key)
            found[table] = Table(columns, key)
    return found


def empty() -> sqlite3.Connection:
    """A new journal in memory."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    return connection
