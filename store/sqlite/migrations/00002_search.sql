-- Full text over the archive. The index holds no text of its own; texts wait in search_queue until
-- somebody indexes them.

-- +goose Up
CREATE TABLE search_docs (
    id     INTEGER PRIMARY KEY, -- what the index calls the text
    tenant TEXT NOT NULL,
    hash   BLOB NOT NULL
);
CREATE UNIQUE INDEX search_docs_hash ON search_docs (tenant, hash);
CREATE VIRTUAL TABLE search_text USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE search_queue (
    tenant TEXT NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (tenant, hash)
) WITHOUT ROWID;
INSERT INTO search_queue (tenant, hash) SELECT DISTINCT tenant, text FROM entries WHERE text <> x'';

-- +goose Down
DROP TABLE search_queue;
DROP TABLE search_text;
DROP TABLE search_docs;
