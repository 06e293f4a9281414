-- Sessions of agents of one's own, step by step.

-- +goose Up
CREATE TABLE journals (
    tenant        TEXT    NOT NULL,
    id            TEXT    NOT NULL,
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

-- +goose Down
DROP TABLE journal_steps;
DROP TABLE journals;
