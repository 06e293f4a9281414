-- Times are microseconds since 1970, UTC; 0 is "none". Hashes are 16 bytes. Money is billionths of a dollar.
-- Tables whose rows are small are WITHOUT ROWID: the primary key is the order they are stored in.

-- +goose Up
CREATE TABLE conversations (
    tenant         TEXT    NOT NULL,
    id             TEXT    NOT NULL,
    session        TEXT    NOT NULL,
    agent          TEXT    NOT NULL,
    project        TEXT    NOT NULL,
    parent         TEXT    NOT NULL, -- '': not a fork
    parent_version INTEGER NOT NULL,
    parent_length  INTEGER NOT NULL, -- entries shared with the parent when it began
    base           INTEGER NOT NULL, -- entries shared with the parent now: never more than parent_length
    base_chain     BLOB    NOT NULL, -- chain hash at base; empty: base is 0
    version        INTEGER NOT NULL,
    length         INTEGER NOT NULL,
    messages       INTEGER NOT NULL,
    tokens         INTEGER NOT NULL,
    decisions      INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    fixed          BLOB    NOT NULL,
    hold           INTEGER NOT NULL,
    suppressed     INTEGER NOT NULL,
    pinned         INTEGER NOT NULL,
    anchor         TEXT    NOT NULL, -- JSON
    anchor_time    INTEGER NOT NULL,
    created        INTEGER NOT NULL,
    updated        INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX conversations_base ON conversations (tenant, session, base_chain);
CREATE INDEX conversations_updated ON conversations (tenant, updated);
CREATE INDEX conversations_parent ON conversations (tenant, parent) WHERE parent <> '';

-- What a fork shares with its parent, by version: a replacement inside the common part lowers it.
CREATE TABLE bases (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, version)
) WITHOUT ROWID;

-- An entry is in the chain of the versions added <= v < removed; removed 0 is "still".
CREATE TABLE entries (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    position     INTEGER NOT NULL,
    added        INTEGER NOT NULL,
    removed      INTEGER NOT NULL,
    session      TEXT    NOT NULL, -- of the conversation, for the index below
    chain        BLOB    NOT NULL,
    raw          BLOB    NOT NULL,
    text         BLOB    NOT NULL,
    role         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    call_id      TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    message      INTEGER NOT NULL,
    block        INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, position, added)
) WITHOUT ROWID;
CREATE INDEX entries_chain ON entries (tenant, session, chain) WHERE removed = 0;

CREATE TABLE blobs (
    tenant TEXT    NOT NULL,
    hash   BLOB    NOT NULL,
    codec  INTEGER NOT NULL, -- 0: as it is, 1: zstd
    size   INTEGER NOT NULL, -- of the content
    data   BLOB    NOT NULL,
    PRIMARY KEY (tenant, hash)
);

-- Which conversations hold which blobs. A blob lives as long as one does.
CREATE TABLE refs (
    tenant       TEXT NOT NULL,
    hash         BLOB NOT NULL,
    conversation TEXT NOT NULL,
    PRIMARY KEY (tenant, hash, conversation)
) WITHOUT ROWID;
CREATE INDEX refs_conversation ON refs (tenant, conversation);

CREATE TABLE decisions (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    target       BLOB    NOT NULL, -- hash of the original; empty: none
    revokes      TEXT    NOT NULL,
    created      INTEGER NOT NULL,
    text         BLOB    NOT NULL, -- what stands in the original's place, byte for byte
    record       BLOB    NOT NULL, -- the rest, JSON
    PRIMARY KEY (tenant, conversation, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX decisions_id ON decisions (tenant, conversation, id);
CREATE INDEX decisions_target ON decisions (tenant, target) WHERE target <> x'';

CREATE TABLE checkpoints (
    tenant              TEXT    NOT NULL,
    conversation        TEXT    NOT NULL,
    checkpoint_num      INTEGER NOT NULL,
    decision            TEXT    NOT NULL,
    from_message        INTEGER NOT NULL,
    to_message          INTEGER NOT NULL,
    messages_compressed INTEGER NOT NULL,
    summary_content     BLOB    NOT NULL, -- byte for byte
    key_facts           TEXT    NOT NULL, -- JSON
    original_tokens     INTEGER NOT NULL,
    compressed_tokens   INTEGER NOT NULL,
    compression_ratio   REAL    NOT NULL,
    summary_cost_usd    REAL    NOT NULL,
    created_at          INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, checkpoint_num)
) WITHOUT ROWID;

CREATE TABLE fixed (
    tenant  TEXT    NOT NULL,
    version BLOB    NOT NULL,
    system  BLOB    NOT NULL, -- blob; empty: none
    tools   BLOB    NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (tenant, version)
) WITHOUT ROWID;

CREATE TABLE requests (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    length       INTEGER NOT NULL,
    api          TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    fixed        BLOB    NOT NULL,
    frame        BLOB    NOT NULL,
    view         BLOB    NOT NULL,
    status       INTEGER NOT NULL,
    answer       BLOB    NOT NULL,
    stop         TEXT    NOT NULL,
    usage        TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, conversation, id)
) WITHOUT ROWID;

CREATE TABLE spends (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    day          INTEGER NOT NULL, -- since 1970, UTC
    model        TEXT    NOT NULL,
    own          INTEGER NOT NULL,
    input        INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    write_1h     INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    bare_input       INTEGER NOT NULL, -- without Decant
    bare_cache_read  INTEGER NOT NULL,
    bare_cache_write INTEGER NOT NULL,
    bare_write_1h    INTEGER NOT NULL,
    bare_output      INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    bare         INTEGER NOT NULL,
    rewrite      INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX spends_time ON spends (tenant, time);
CREATE INDEX spends_conversation ON spends (tenant, conversation);

CREATE TABLE jobs (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    payload      BLOB    NOT NULL,
    due          INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    holder       TEXT    NOT NULL, -- '': nobody
    lease        INTEGER NOT NULL,
    error        TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (due);

-- +goose Down
DROP TABLE jobs;
DROP TABLE spends;
DROP TABLE requests;
DROP TABLE fixed;
DROP TABLE checkpoints;
DROP TABLE decisions;
DROP TABLE refs;
DROP TABLE blobs;
DROP TABLE entries;
DROP TABLE bases;
DROP TABLE conversations;
