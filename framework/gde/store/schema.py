"""The tables of run.sqlite. VERSION grows with every change that an older reader would misread."""

VERSION = 4

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;   -- e.g. which model answered
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,   -- stratum/world/repeat
    stratum INTEGER NOT NULL, world INTEGER NOT NULL, repeat INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    world_id TEXT NOT NULL, base TEXT NOT NULL, facts TEXT NOT NULL, world_labels TEXT NOT NULL, labels TEXT NOT NULL,
    horizon INTEGER NOT NULL,
    ending TEXT, failure TEXT NOT NULL DEFAULT '', final_state TEXT
) STRICT;
CREATE TABLE turns (
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    observation TEXT NOT NULL, actions TEXT,
    state TEXT, state_index INTEGER, optimal TEXT, value REAL,
    status TEXT NOT NULL, action TEXT, detail TEXT NOT NULL,
    completion TEXT,            -- the request of the call that decided it
    reward REAL NOT NULL, terminated INTEGER NOT NULL, truncated INTEGER NOT NULL, success REAL,
    PRIMARY KEY (episode, turn)
) STRICT;
CREATE TABLE calls (
    scope TEXT NOT NULL,        -- on whose behalf: an episode, or a part such as "reward judge"
    request TEXT NOT NULL,      -- SHA-256 of the model's name and everything that was asked
    model TEXT NOT NULL, turn INTEGER,
    text TEXT NOT NULL, reasoning TEXT, finish TEXT NOT NULL,
    prompt_tokens BLOB NOT NULL, tokens BLOB NOT NULL,   -- little-endian int32
    marks TEXT NOT NULL, n_prompt INTEGER NOT NULL, n_completion INTEGER NOT NULL,
    interventions TEXT NOT NULL,    -- JSON list of those it was made with
    PRIMARY KEY (scope, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE interventions (    -- each once, however many calls it was made in
    intervention TEXT PRIMARY KEY,  -- SHA-256 of all that follows
    layer INTEGER NOT NULL, mark TEXT NOT NULL, kind TEXT NOT NULL,
    shape TEXT NOT NULL, vector BLOB NOT NULL   -- little-endian float32
) STRICT;
CREATE TABLE activations (
    source TEXT NOT NULL, layer INTEGER NOT NULL, mark TEXT NOT NULL,
    file TEXT NOT NULL, row INTEGER NOT NULL, tokens INTEGER NOT NULL,   -- the first of so many rows of the array
    episode TEXT NOT NULL, turn INTEGER NOT NULL,
    PRIMARY KEY (source, layer, mark, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE probes (
    place INTEGER NOT NULL,     -- arms are listed in the order in which they were first fitted
    probe TEXT NOT NULL, arm TEXT PRIMARY KEY,
    made_by TEXT NOT NULL,      -- identifies probe, configuration and activations
    report TEXT NOT NULL        -- JSON
) STRICT;
CREATE TABLE rewards (
    model TEXT NOT NULL, episode TEXT NOT NULL, turn INTEGER NOT NULL, value REAL, failure TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (model, episode, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE measurements (
    name TEXT NOT NULL, place TEXT NOT NULL, value REAL, unit TEXT NOT NULL, n INTEGER NOT NULL,
    low REAL, high REAL, reason TEXT NOT NULL, source TEXT NOT NULL
) STRICT;
CREATE TABLE failures (stage TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL) STRICT;
"""
