-- Whether what is kept is encrypted, and the data key, wrapped under a key that is not in the database. Decided
-- once, by whoever opens the new database first.

-- +goose Up
CREATE TABLE encryption (
    one      INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    data_key BLOB NOT NULL,                       -- wrapped; empty: nothing is encrypted
    key      TEXT NOT NULL                        -- what the key is called that it is wrapped under
);

-- +goose Down
DROP TABLE encryption;
