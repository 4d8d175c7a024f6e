"""The tables of run.sqlite. For the digests of rows see `gde.store.digests`."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache

VERSION = 14
"""Grows with every change that an older reader would misread."""

TABLES = """
CREATE TABLE facts (    -- about the run, e.g. which model answered
    name TEXT PRIMARY KEY, value TEXT NOT NULL
) STRICT;
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,   -- condition/world/repeat
    condition INTEGER NOT NULL, world INTEGER NOT NULL, repeat INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    world_id TEXT NOT NULL, base TEXT NOT NULL, facts TEXT NOT NULL, world_labels TEXT NOT NULL, labels TEXT NOT NULL,
    horizon INTEGER NOT NULL,
    ending TEXT, failure TEXT NOT NULL DEFAULT '', final_state TEXT, turns INTEGER,
    digest BLOB NOT NULL
) STRICT;
CREATE TABLE turns (
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    observation TEXT NOT NULL, actions TEXT,
    state TEXT, state_index INTEGER, optimal TEXT, value REAL,
    status TEXT NOT NULL, action TEXT, detail TEXT NOT NULL,
    completion TEXT,            -- the request of the call that decided it
    reward REAL NOT NULL, terminated INTEGER NOT NULL, truncated INTEGER NOT NULL, success REAL,
    probabilities TEXT,         -- JSON, of actions, where the agent tells them
    digest BLOB NOT NULL,
    PRIMARY KEY (episode, turn)
) STRICT;
CREATE TABLE calls (
    scope TEXT NOT NULL,        -- on whose behalf: an episode, or a part such as "reward judge"
    request TEXT NOT NULL,      -- SHA-256 of the model's name and everything that was asked
    model TEXT NOT NULL, turn INTEGER,
    text TEXT NOT NULL, reasoning TEXT, finish TEXT NOT NULL,
    prompt_tokens BLOB NOT NULL, tokens BLOB NOT NULL,   -- little-endian int32
    positions TEXT NOT NULL, n_prompt INTEGER, n_completion INTEGER, answered_by TEXT NOT NULL,
    interventions TEXT NOT NULL,    -- JSON list of those it was made with
    cached INTEGER NOT NULL,    -- whether it was given in an earlier run
    prompt TEXT NOT NULL,       -- JSON list of [role, text]
    seconds REAL,
    effort TEXT,                -- that a server was sent
    logprobs BLOB NOT NULL,     -- of the completion's tokens, little-endian float32
    digest BLOB NOT NULL,
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE requests (     -- what was sent to models, written before it is sent
    scope TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL,    -- as in calls
    sent INTEGER NOT NULL,      -- how often; what got no answer is perhaps billed
    answered INTEGER NOT NULL,
    told INTEGER NOT NULL,      -- answers whose tokens were reported
    n_prompt INTEGER NOT NULL, n_completion INTEGER NOT NULL,           -- of those
    most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL,     -- that one answer may take
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE interventions (    -- each once, however many calls it was made in
    intervention TEXT PRIMARY KEY,  -- SHA-256 of all that follows
    layer INTEGER NOT NULL, position TEXT NOT NULL, kind TEXT NOT NULL,
    shape TEXT NOT NULL, vector BLOB NOT NULL  -- little-endian float32
) STRICT;
CREATE TABLE replays (      -- answers of a server in the tokens of local weights
    weights TEXT NOT NULL,      -- identifies them
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    tokens BLOB NOT NULL,       -- of prompt and completion, little-endian int32
    positions TEXT NOT NULL,    -- JSON
    status TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (weights, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE activations (
    -- With a column of the key at the end, SQLite 3.40 takes others for null.
    source TEXT NOT NULL, layer INTEGER NOT NULL, position TEXT NOT NULL,
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    file TEXT NOT NULL, row INTEGER NOT NULL, tokens INTEGER NOT NULL,   -- the first of so many rows of the array
    PRIMARY KEY (source, layer, position, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE probes (
    place INTEGER NOT NULL,     -- fits are listed in the order in which they were first fitted
    probe TEXT NOT NULL, fit TEXT PRIMARY KEY,
    made_by TEXT NOT NULL,      -- identifies probe, configuration and activations
    report TEXT NOT NULL        -- JSON
) STRICT;
CREATE TABLE rewards (
    model TEXT NOT NULL, episode TEXT NOT NULL, turn INTEGER NOT NULL, value REAL, failure TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (model, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE judgements (   -- how the rewards of an episode came about, where the reward model says it
    model TEXT NOT NULL, episode TEXT NOT NULL, made_by TEXT NOT NULL, counts TEXT NOT NULL,   -- JSON
    PRIMARY KEY (model, episode)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_sets (     -- metrics that have given facts of episodes
    number INTEGER PRIMARY KEY, made_by TEXT NOT NULL UNIQUE   -- JSON: metric, versions, configuration
) STRICT;
CREATE TABLE episode_facts (
    episode TEXT PRIMARY KEY,
    facts TEXT NOT NULL         -- JSON: the number of a set to its list of numbers
) STRICT, WITHOUT ROWID;
CREATE TABLE measurements (
    name TEXT NOT NULL, place TEXT NOT NULL, value REAL, unit TEXT NOT NULL, n INTEGER NOT NULL,
    clusters INTEGER,           -- of worlds; null where not known
    low REAL, high REAL, reason TEXT NOT NULL, source TEXT NOT NULL
) STRICT;
CREATE TABLE failures (
    stage TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL
) STRICT;
"""


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
    with closing(_empty()) as connection:
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
    with closing(_empty()) as connection:
        names = [name for kind, name in expected() if kind == "table"]
        for table in names:
            rows = connection.execute(f"PRAGMA table_info({table})").fetchall()
            columns = tuple(name for _, name, *_ in rows)
            key = tuple(name for _, name, *_, is_key in rows if is_key)
            found[table] = Table(columns, key)
    return found


def _empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    return connection
