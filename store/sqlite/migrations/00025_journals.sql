-- Sessions of agents of one's own, step by step.

-- +goose Up
CREATE TABLE journals (
    tenant        TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    conversation  TEXT    NOT NULL, -- that it was sent as last; empty: none yet
    head          BLOB    NOT NULL,
    length        INTEGER NOT NULL,
    created       INTEGER NOT NULL,
    updated       INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE INDEX journals_updated ON journals (tenant, updated);
CREATE INDEX journals_conversation ON journals (tenant, conversation);

CREATE TABLE journal_steps (
    tenant        TEXT    NOT NULL,
    journal       TEXT    NOT NULL,
    seq           INTEGER NOT NULL, -- from 1
    codec         INTEGER NOT NULL,
    data          BLOB    NOT NULL,
    PRIMARY KEY (tenant, journal, seq)
);

-- +goose StatementBegin
CREATE TRIGGER journals_end AFTER DELETE ON journals BEGIN
    DELETE FROM journal_steps WHERE tenant = old.tenant AND journal = old.id;
END;
-- +goose StatementEnd

-- What the chat of the seed reads under these names. Where the database is encrypted, what is sealed reads as NULL.
CREATE VIEW chat_sessions AS
    SELECT j.tenant, j.id,
        iif(json_valid(CAST(j.head AS TEXT)), json_extract(CAST(j.head AS TEXT), '$.title'), NULL) AS title,
        COALESCE(c.spent_tokens, 0) AS total_tokens_estimate,
        (SELECT count(*) FROM checkpoints p WHERE p.tenant = j.tenant AND p.conversation = j.conversation) AS compaction_count,
        j.created AS created_at, j.updated AS updated_at
    FROM journals j LEFT JOIN conversations c ON c.tenant = j.tenant AND c.id = j.conversation WHERE j.kind = 'session';

CREATE VIEW agent_configurations AS
    SELECT tenant, id AS agent_name,
        iif(json_valid(CAST(head AS TEXT)), json_extract(CAST(head AS TEXT), '$.config'), NULL) AS config,
        created AS created_at, updated AS updated_at
    FROM journals WHERE kind = 'agent';

CREATE VIEW agent_long_term_memory AS
    SELECT tenant, id, level AS scope, iif(typeof(text) = 'text', text, NULL) AS notes, created AS created_at, confirmed AS updated_at
    FROM memories WHERE kind = 'memory' AND archived <= restored;

-- +goose Down
DROP VIEW agent_long_term_memory;
DROP VIEW agent_configurations;
DROP VIEW chat_sessions;
DROP TABLE journal_steps;
DROP TABLE journals;
