-- What outlives conversations, and the occasions on which it was confirmed.

-- +goose Up
CREATE TABLE memories (
    tenant        TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    scope         BLOB    NOT NULL CHECK (length(scope) = 16), -- hash of level and name
    level         TEXT    NOT NULL,                            -- conversation, project, user
    name          TEXT    NOT NULL,                            -- of the conversation, the project, the user
    kind          TEXT    NOT NULL,
    text          TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,                            -- that it comes from
    from_message  INTEGER NOT NULL,
    to_message    INTEGER NOT NULL,
    times         INTEGER NOT NULL,                            -- that it was confirmed; the newest are in confirmations
    created       INTEGER NOT NULL,
    confirmed     INTEGER NOT NULL,
    escalated     INTEGER NOT NULL,                            -- 0: it was not; so are the next two
    archived      INTEGER NOT NULL,
    restored      INTEGER NOT NULL,
    became        TEXT    NOT NULL,                            -- id of the rule
    origin        TEXT    NOT NULL,                            -- id of the observation that a rule was
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE INDEX memories_scope ON memories (tenant, scope, created);
CREATE INDEX memories_conversation ON memories (tenant, conversation);
CREATE INDEX memories_confirmed ON memories (tenant, confirmed);

CREATE TABLE confirmations (
    tenant        TEXT    NOT NULL,
    memory        TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    conversation  TEXT    NOT NULL,
    from_message  INTEGER NOT NULL,
    to_message    INTEGER NOT NULL,
    time          INTEGER NOT NULL,
    evidence      TEXT    NOT NULL,
    PRIMARY KEY (tenant, memory, seq)
) WITHOUT ROWID;

CREATE INDEX confirmations_conversation ON confirmations (tenant, conversation);

-- +goose StatementBegin
CREATE TRIGGER memories_end AFTER DELETE ON memories BEGIN
    DELETE FROM confirmations WHERE tenant = old.tenant AND memory = old.id;
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE confirmations;
DROP TABLE memories;
