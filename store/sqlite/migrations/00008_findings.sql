-- What was found out about providers by trying: one row for each account and topic, the newest.

-- +goose Up
CREATE TABLE findings (
    upstream     TEXT    NOT NULL,
    organization TEXT    NOT NULL,
    topic        TEXT    NOT NULL,
    value        TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    PRIMARY KEY (upstream, organization, topic)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE findings;
