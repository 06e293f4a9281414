-- The blobs that a commit brings go into packs, which are compressed as a whole: a block and its text
-- have much in common. A hash leads to its pack; that is one row in one table for each blob, where
-- rows at random places are what a commit costs most.

-- +goose Up
CREATE TABLE packs (
    id           INTEGER PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL, -- that brought them: it holds them all
    names        BLOB    NOT NULL, -- of each blob: its hash, then its size in 4 bytes, the highest first
    codec        INTEGER NOT NULL, -- 0: as it is, 1: zstd, 2: S2
    data         BLOB    NOT NULL  -- the blobs one after the other
);
INSERT INTO packs (id, tenant, conversation, names, codec, data)
    SELECT b.rowid, b.tenant, (SELECT min(r.conversation) FROM refs r WHERE r.tenant = b.tenant AND r.hash = b.hash),
        CAST(b.hash || unhex(printf('%08x', b.size)) AS BLOB), b.codec, b.data FROM blobs b;
CREATE INDEX packs_conversation ON packs (tenant, conversation);

ALTER TABLE blobs RENAME TO old_blobs;
CREATE TABLE blobs (
    tenant TEXT    NOT NULL,
    hash   BLOB    NOT NULL,
    pack   INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash)
) WITHOUT ROWID;
INSERT INTO blobs (tenant, hash, pack) SELECT tenant, hash, rowid FROM old_blobs ORDER BY tenant, hash;
DROP TABLE old_blobs;

-- From now on refs names only those who hold a blob that another conversation brought.
DELETE FROM refs WHERE conversation = (SELECT p.conversation FROM blobs b JOIN packs p ON p.id = b.pack
    WHERE b.tenant = refs.tenant AND b.hash = refs.hash);
CREATE VIEW holders (tenant, hash, conversation) AS
    SELECT b.tenant, b.hash, p.conversation FROM blobs b JOIN packs p ON p.id = b.pack
    UNION ALL SELECT tenant, hash, conversation FROM refs;

-- The texts of a commit wait for the index together.
ALTER TABLE search_queue RENAME TO old_queue;
CREATE TABLE search_queue (
    id     INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    hashes BLOB NOT NULL -- one after the other
);
INSERT INTO search_queue (tenant, hashes) SELECT tenant, hash FROM old_queue;
DROP TABLE old_queue;

-- +goose Down
-- Packs cannot be taken apart in SQL.
SELECT load_no_earlier_form();
