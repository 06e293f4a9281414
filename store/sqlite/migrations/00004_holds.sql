-- Which conversations hold blobs that another one brought: one row for each commit that refers to such
-- blobs for the first time.

-- +goose Up
CREATE TABLE holds (
    id           INTEGER PRIMARY KEY AUTOINCREMENT, -- rises: whoever has read up to one need not read again
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    hashes       BLOB NOT NULL -- one after the other
);
INSERT INTO holds (tenant, conversation, hashes) SELECT tenant, conversation, hash FROM refs;
CREATE INDEX holds_conversation ON holds (tenant, conversation);
DROP VIEW holders;
DROP TABLE refs;

-- +goose Down
CREATE TABLE refs (
    tenant       TEXT NOT NULL,
    hash         BLOB NOT NULL,
    conversation TEXT NOT NULL,
    PRIMARY KEY (tenant, hash, conversation)
) WITHOUT ROWID;
CREATE INDEX refs_conversation ON refs (tenant, conversation);
INSERT OR IGNORE INTO refs (tenant, hash, conversation)
    WITH RECURSIVE each (tenant, conversation, hashes, at) AS (
        SELECT tenant, conversation, hashes, 1 FROM holds
        UNION ALL SELECT tenant, conversation, hashes, at + 16 FROM each WHERE at + 16 < length(hashes))
    SELECT tenant, substr(hashes, at, 16), conversation FROM each;
CREATE VIEW holders (tenant, hash, conversation) AS
    SELECT b.tenant, b.hash, p.conversation FROM blobs b JOIN packs p ON p.id = b.pack
    UNION ALL SELECT tenant, hash, conversation FROM refs;
DROP TABLE holds;
