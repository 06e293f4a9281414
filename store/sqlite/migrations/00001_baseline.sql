-- Times are microseconds since 1970, UTC; 0 is "none". Hashes are 16 bytes. Money is billionths of a dollar.
-- Tables whose rows are small are WITHOUT ROWID: the primary key is the order they are stored in.
-- columns.go says which columns are encrypted where the database is.

-- Whether what is kept is encrypted, and the data key, wrapped under a key that is not in the database. Decided
-- once, by whoever opens the new database first.
CREATE TABLE encryption (
    one      INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    data_key BLOB NOT NULL,                       -- wrapped; empty: nothing is encrypted
    key      TEXT NOT NULL                        -- what the key is called that it is wrapped under
);

CREATE TABLE conversations (
    tenant          TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    session         TEXT    NOT NULL,
    agent           TEXT    NOT NULL,
    project         TEXT    NOT NULL,
    parent          TEXT    NOT NULL, -- '': not a fork
    parent_version  INTEGER NOT NULL,
    parent_length   INTEGER NOT NULL, -- entries shared with the parent when it began
    parent_in_force INTEGER NOT NULL, -- the parent's version whose decisions it has: those in force at its branch point
    base            INTEGER NOT NULL, -- entries shared with the parent now: never more than parent_length
    base_chain      BLOB    NOT NULL, -- chain hash at base; empty: base is 0
    version         INTEGER NOT NULL,
    length          INTEGER NOT NULL,
    messages        INTEGER NOT NULL,
    tokens          INTEGER NOT NULL,
    decisions       INTEGER NOT NULL,
    model           TEXT    NOT NULL,
    fixed           BLOB    NOT NULL,
    hold            INTEGER NOT NULL,
    suppressed      INTEGER NOT NULL,
    pinned          INTEGER NOT NULL,
    anchor          TEXT    NOT NULL, -- JSON
    anchor_time     INTEGER NOT NULL,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    spent_tokens    INTEGER NOT NULL DEFAULT 0, -- the sums that triggers of spends keep
    spent_cost      INTEGER NOT NULL DEFAULT 0,
    spent_bare      INTEGER NOT NULL DEFAULT 0, -- what it would have cost without Decant
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX conversations_base ON conversations (tenant, session, base_chain);
CREATE INDEX conversations_updated ON conversations (tenant, updated);
CREATE INDEX conversations_parent ON conversations (tenant, parent) WHERE parent <> '';

-- The entries that each commit added.
CREATE TABLE segments (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    version      INTEGER NOT NULL, -- of the commit
    position     INTEGER NOT NULL, -- of its first entry; what stood there and after is replaced
    data         BLOB    NOT NULL, -- the entries, see segment.go
    PRIMARY KEY (tenant, conversation, version)
) WITHOUT ROWID;

-- Where the hashes of the chains are that conversations have now, shared parts not counted.
CREATE TABLE chains (
    tenant       TEXT    NOT NULL,
    session      TEXT    NOT NULL,
    chain        BLOB    NOT NULL,
    conversation TEXT    NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (tenant, session, chain, conversation, position)
) WITHOUT ROWID;

-- The blobs that a commit adds go into packs, which are compressed as a whole: a block and its text
-- have much in common. A hash leads to its pack; that is one row in one table for each blob, where
-- rows at random places are what a commit costs most.
CREATE TABLE packs (
    id           INTEGER PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL, -- that added them: it holds them all
    names        BLOB    NOT NULL, -- of each blob: its hash, then its size in 4 bytes, the highest first
    codec        INTEGER NOT NULL, -- 0: as it is, 1: S2
    data         BLOB    NOT NULL  -- the blobs one after the other
);
CREATE INDEX packs_conversation ON packs (tenant, conversation);
CREATE TABLE blobs (
    tenant TEXT    NOT NULL,
    hash   BLOB    NOT NULL,
    pack   INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash)
) WITHOUT ROWID;

-- Which conversations hold blobs that another one added: one row for each commit that refers to such
-- blobs for the first time. A blob lives as long as a conversation holds it.
CREATE TABLE holds (
    id           INTEGER PRIMARY KEY AUTOINCREMENT, -- rises: whoever has read up to one need not read again
    tenant       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    hashes       BLOB NOT NULL -- one after the other
);
CREATE INDEX holds_conversation ON holds (tenant, conversation);

CREATE TABLE decisions (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    pour         TEXT    NOT NULL, -- '': it was made between pours
    kind         TEXT    NOT NULL,
    target       BLOB    NOT NULL, -- hash of the original; empty: none
    revokes      TEXT    NOT NULL,
    created      INTEGER NOT NULL,
    text         BLOB    NOT NULL, -- what replaces the original, byte for byte
    record       BLOB    NOT NULL, -- the rest, JSON
    PRIMARY KEY (tenant, conversation, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX decisions_id ON decisions (tenant, conversation, id);
CREATE INDEX decisions_target ON decisions (tenant, target) WHERE target <> x'';

-- Other programs may read checkpoints under these names.
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
CREATE INDEX fixed_system ON fixed (tenant, system); -- asked for when conversations are removed
CREATE INDEX fixed_tools ON fixed (tenant, tools);

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
    broken       INTEGER NOT NULL, -- 1: its answer broke off
    answer       BLOB    NOT NULL,
    answer_id    TEXT    NOT NULL, -- by which the provider knows the answer; '': nobody goes on from it
    stop         TEXT    NOT NULL,
    usage        TEXT    NOT NULL, -- JSON
    planned      TEXT    NOT NULL, -- JSON: what would have been done; '': the request was not observed only
    plan         BLOB    NOT NULL, -- blob: the decisions; empty: none
    PRIMARY KEY (tenant, conversation, id)
) WITHOUT ROWID;
CREATE INDEX requests_answer ON requests (tenant, answer_id) WHERE answer_id <> '';

CREATE TABLE spends (
    tenant           TEXT    NOT NULL,
    id               TEXT    NOT NULL,
    conversation     TEXT    NOT NULL,
    time             INTEGER NOT NULL,
    day              INTEGER NOT NULL, -- since 1970, UTC
    model            TEXT    NOT NULL,
    own              INTEGER NOT NULL, -- 1: a call of Decant's own
    purpose          TEXT    NOT NULL, -- what a call of its own was for; '': a client's, or not known
    input            INTEGER NOT NULL,
    cache_read       INTEGER NOT NULL,
    cache_write      INTEGER NOT NULL,
    write_1h         INTEGER NOT NULL,
    output           INTEGER NOT NULL,
    bare_input       INTEGER NOT NULL, -- without Decant
    bare_cache_read  INTEGER NOT NULL,
    bare_cache_write INTEGER NOT NULL,
    bare_write_1h    INTEGER NOT NULL,
    bare_output      INTEGER NOT NULL,
    cost             INTEGER NOT NULL,
    bare             INTEGER NOT NULL,
    rewrite          INTEGER NOT NULL,
    oversized        INTEGER NOT NULL, -- 1: without Decant its prompt would have exceeded the model's window
    trial            INTEGER NOT NULL, -- 1: the request was observed only, and the next two are what it would have been
    trial_prompt     INTEGER NOT NULL,
    trial_cost       INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX spends_time ON spends (tenant, time);
CREATE INDEX spends_conversation ON spends (tenant, conversation);

-- What was spent, as sums: what a budget asks for with every request must not grow with what was booked. Triggers
-- keep them, so that they are right whoever books, and whoever removes old bookings.
CREATE TABLE spent (
    tenant TEXT    NOT NULL,
    day    INTEGER NOT NULL, -- since 1970, UTC
    tokens INTEGER NOT NULL, -- of prompts and answers
    cost   INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) WITHOUT ROWID;
CREATE TRIGGER spends_added AFTER INSERT ON spends BEGIN
    INSERT INTO spent (tenant, day, tokens, cost)
        VALUES (new.tenant, new.day, new.input + new.cache_read + new.cache_write + new.output, new.cost)
        ON CONFLICT (tenant, day) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost;
    UPDATE conversations SET spent_tokens = spent_tokens + new.input + new.cache_read + new.cache_write + new.output,
        spent_cost = spent_cost + new.cost, spent_bare = spent_bare + new.bare
        WHERE tenant = new.tenant AND id = new.conversation;
END;
CREATE TRIGGER spends_removed AFTER DELETE ON spends BEGIN
    UPDATE spent SET tokens = tokens - (old.input + old.cache_read + old.cache_write + old.output), cost = cost - old.cost
        WHERE tenant = old.tenant AND day = old.day;
    UPDATE conversations SET spent_tokens = spent_tokens - (old.input + old.cache_read + old.cache_write + old.output),
        spent_cost = spent_cost - old.cost, spent_bare = spent_bare - old.bare
        WHERE tenant = old.tenant AND id = old.conversation;
END;

-- Work about conversations that must be done once, and that somebody has claimed.
CREATE TABLE claims (
    tenant       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    work         TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    PRIMARY KEY (tenant, conversation, work)
) WITHOUT ROWID;

-- What was found out about providers by trying: one row for each account and topic, the newest.
CREATE TABLE findings (
    upstream     TEXT    NOT NULL,
    organization TEXT    NOT NULL,
    topic        TEXT    NOT NULL,
    value        TEXT    NOT NULL,
    time         INTEGER NOT NULL,
    PRIMARY KEY (upstream, organization, topic)
) WITHOUT ROWID;

-- Keys that admit tenants to a gateway. A revoked key never comes back, and no key passes to another tenant.
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
CREATE TRIGGER tenant_keys_end BEFORE UPDATE ON tenant_keys
WHEN old.revoked <> 0 OR old.id <> new.id OR old.tenant <> new.tenant OR old.hash <> new.hash OR old.limits <> new.limits BEGIN
    SELECT RAISE(ABORT, 'a key is never changed but to be revoked');
END;

-- What people have done by commands.
CREATE TABLE acts (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that is missing was removed by force
    time   INTEGER NOT NULL,
    actor  TEXT    NOT NULL,
    action TEXT    NOT NULL,
    tenant TEXT    NOT NULL,
    target TEXT    NOT NULL,
    detail TEXT    NOT NULL
);
CREATE TRIGGER acts_stay BEFORE UPDATE ON acts BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER acts_remain BEFORE DELETE ON acts BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- What outlives conversations, and the occasions on which it was confirmed.
CREATE TABLE memories (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    scope        BLOB    NOT NULL CHECK (length(scope) = 16), -- hash of level and name
    level        TEXT    NOT NULL,                            -- conversation, project, user
    name         TEXT    NOT NULL,                            -- of the conversation, the project, the user
    kind         TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    extra        TEXT    NOT NULL,                            -- what its writer keeps beside the text
    conversation TEXT    NOT NULL,                            -- that it comes from
    from_message INTEGER NOT NULL,
    to_message   INTEGER NOT NULL,
    times        INTEGER NOT NULL,                            -- that it was confirmed; the newest are in confirmations
    created      INTEGER NOT NULL,
    confirmed    INTEGER NOT NULL,
    escalated    INTEGER NOT NULL,                            -- 0: it was not; so are the next two
    archived     INTEGER NOT NULL,
    restored     INTEGER NOT NULL,
    became       TEXT    NOT NULL,                            -- id of the rule
    origin       TEXT    NOT NULL,                            -- id of the observation that a rule was
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX memories_scope ON memories (tenant, scope, created);
CREATE INDEX memories_conversation ON memories (tenant, conversation);
CREATE INDEX memories_confirmed ON memories (tenant, confirmed);
CREATE TABLE confirmations (
    tenant       TEXT    NOT NULL,
    memory       TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    conversation TEXT    NOT NULL,
    from_message INTEGER NOT NULL,
    to_message   INTEGER NOT NULL,
    time         INTEGER NOT NULL,
    evidence     TEXT    NOT NULL,
    PRIMARY KEY (tenant, memory, seq)
) WITHOUT ROWID;
CREATE INDEX confirmations_conversation ON confirmations (tenant, conversation);
CREATE TRIGGER memories_end AFTER DELETE ON memories BEGIN
    DELETE FROM confirmations WHERE tenant = old.tenant AND memory = old.id;
END;

-- Sessions of agents that users build, step by step.
CREATE TABLE journals (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    conversation TEXT    NOT NULL, -- that it was sent as last; empty: none yet
    head         BLOB    NOT NULL,
    length       INTEGER NOT NULL,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX journals_updated ON journals (tenant, updated);
CREATE INDEX journals_conversation ON journals (tenant, conversation);
CREATE TABLE journal_steps (
    tenant  TEXT    NOT NULL,
    journal TEXT    NOT NULL,
    seq     INTEGER NOT NULL, -- from 1
    codec   INTEGER NOT NULL, -- as of packs
    data    BLOB    NOT NULL,
    PRIMARY KEY (tenant, journal, seq)
);
CREATE TRIGGER journals_end AFTER DELETE ON journals BEGIN
    DELETE FROM journal_steps WHERE tenant = old.tenant AND journal = old.id;
END;

-- What a chat program reads under these names. Where the database is encrypted, what is sealed reads as NULL.
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

-- Full text over the archive. The index holds no text of its own; the texts of a commit wait together in
-- search_queue until somebody indexes them.
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
    id     INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    hashes BLOB NOT NULL -- one after the other
);
