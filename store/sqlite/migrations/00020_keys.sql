-- Keys that admit tenants to a gateway, and what people have done by commands.

-- +goose Up
CREATE TABLE tenant_keys (
    seq     INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    tenant  TEXT    NOT NULL,
    hash    BLOB    NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the whole key, which is not kept
    note    TEXT    NOT NULL,
    created INTEGER NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0,                 -- 0: it is in force
    limits  TEXT    NOT NULL                            -- JSON
);

CREATE TABLE acts (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that is missing was removed by force
    time   INTEGER NOT NULL,
    actor  TEXT    NOT NULL,
    action TEXT    NOT NULL,
    tenant TEXT    NOT NULL,
    target TEXT    NOT NULL,
    detail TEXT    NOT NULL
);

-- +goose StatementBegin
CREATE TRIGGER acts_stay BEFORE UPDATE ON acts BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER acts_remain BEFORE DELETE ON acts BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

-- A revoked key never comes back, and no key passes to another tenant.
-- +goose StatementBegin
CREATE TRIGGER tenant_keys_end BEFORE UPDATE ON tenant_keys
WHEN old.revoked <> 0 OR old.id <> new.id OR old.tenant <> new.tenant OR old.hash <> new.hash OR old.limits <> new.limits BEGIN
    SELECT RAISE(ABORT, 'a key is never changed but to be revoked');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE acts;
DROP TABLE tenant_keys;
