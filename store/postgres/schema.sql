-- Times are microseconds since 1970, UTC; 0 is "none". Hashes are 16 bytes; empty is "none". Money is billionths of a
-- dollar. Every key begins with the tenant. There are no sequences: ids are made by whoever writes.

CREATE TABLE decant (
    format int NOT NULL -- of these tables; there is one row
);
INSERT INTO decant VALUES (1);

-- The row of a conversation is its lock. No index names what changes with every commit, so that it is changed in its page.
CREATE TABLE conversations (
    tenant          text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    session         text COLLATE "C" NOT NULL,
    agent           text NOT NULL,
    project         text NOT NULL,
    parent          text COLLATE "C" NOT NULL, -- '': not a fork
    parent_version  bigint NOT NULL,
    parent_length   int NOT NULL,    -- entries shared with the parent when it began
    parent_in_force bigint NOT NULL, -- the parent's version whose decisions it has
    base            int NOT NULL,    -- entries shared with the parent now
    base_chain      bytea NOT NULL,  -- chain hash at base
    version         bigint NOT NULL,
    length          int NOT NULL,
    messages        int NOT NULL,
    tokens          bigint NOT NULL,
    decisions       int NOT NULL,
    model           text NOT NULL,
    fixed           bytea NOT NULL,
    hold            boolean NOT NULL,
    suppressed      int NOT NULL,
    pinned          boolean NOT NULL,
    anchor          bytea NOT NULL,  -- JSON
    anchor_time     bigint NOT NULL,
    created         bigint NOT NULL,
    updated         bigint NOT NULL,
    spent_tokens    bigint NOT NULL DEFAULT 0, -- the sums that the trigger of spends keeps
    spent_cost      bigint NOT NULL DEFAULT 0,
    spent_bare      bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) WITH (fillfactor = 70);
CREATE INDEX conversations_base ON conversations (tenant, session, base_chain) WHERE base_chain <> '';
CREATE INDEX conversations_parent ON conversations (tenant, parent) WHERE parent <> '';

-- The entries that each commit added.
CREATE TABLE segments (
    tenant       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    version      bigint NOT NULL,
    position     int NOT NULL, -- of its first entry; what stood there and after is replaced
    data         bytea NOT NULL,
    PRIMARY KEY (tenant, conversation, version)
);
ALTER TABLE segments ALTER data SET STORAGE EXTERNAL; -- hashes do not get smaller

-- Where the hashes of the chains are that conversations have now, shared parts not counted.
CREATE TABLE chains (
    tenant       text COLLATE "C" NOT NULL,
    session      text COLLATE "C" NOT NULL,
    chain        bytea NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    position     int NOT NULL,
    PRIMARY KEY (tenant, session, chain, conversation, position)
);

CREATE TABLE blobs (
    tenant       text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL,
    conversation text COLLATE "C" NOT NULL, -- that added it, and holds it
    codec        smallint NOT NULL,         -- 0: as it is, 1: S2
    data         bytea NOT NULL,
    PRIMARY KEY (tenant, hash)
);
ALTER TABLE blobs ALTER data SET STORAGE EXTERNAL; -- it is compressed
CREATE INDEX blobs_conversation ON blobs (tenant, conversation);

-- Which conversations hold blobs that another one added. A blob lives as long as a conversation holds it.
CREATE TABLE holds (
    tenant       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    hash         bytea NOT NULL,
    PRIMARY KEY (tenant, conversation, hash)
);
CREATE INDEX holds_hash ON holds (tenant, hash);

CREATE TABLE decisions (
    tenant       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq          int NOT NULL,
    version      bigint NOT NULL,
    id           text COLLATE "C" NOT NULL,
    pour         text COLLATE "C" NOT NULL, -- '': it was made between pours
    target       bytea NOT NULL,
    created      bigint NOT NULL,
    text         bytea NOT NULL, -- what replaces the original, byte for byte
    record       bytea NOT NULL, -- the rest, JSON
    checkpoint   int NOT NULL,   -- its number; 0: it makes none
    summary      bytea NOT NULL,
    facts        bytea NOT NULL, -- JSON
    PRIMARY KEY (tenant, conversation, seq)
);
CREATE UNIQUE INDEX decisions_id ON decisions (tenant, conversation, id);
CREATE UNIQUE INDEX decisions_checkpoint ON decisions (tenant, conversation, checkpoint) WHERE checkpoint <> 0;
CREATE INDEX decisions_target ON decisions (tenant, target) WHERE target <> '';

CREATE TABLE fixed (
    tenant  text COLLATE "C" NOT NULL,
    version bytea NOT NULL,
    system  bytea NOT NULL, -- blob
    tools   bytea NOT NULL,
    tokens  int NOT NULL,
    PRIMARY KEY (tenant, version)
);

CREATE TABLE requests (
    tenant       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    time         bigint NOT NULL,
    version      bigint NOT NULL,
    length       int NOT NULL,
    answer_id    text COLLATE "C" NOT NULL, -- by which the provider knows the answer; '': nobody goes on from it
    record       bytea NOT NULL, -- all of it, JSON
    PRIMARY KEY (tenant, conversation, id)
);
CREATE INDEX requests_answer ON requests (tenant, answer_id) WHERE answer_id <> '';

CREATE TABLE spends (
    tenant           text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    conversation     text COLLATE "C" NOT NULL,
    time             bigint NOT NULL,
    day              int NOT NULL, -- since 1970, UTC
    model            text COLLATE "C" NOT NULL,
    own              int NOT NULL, -- 1: a call of Decant's own
    purpose          text NOT NULL,
    input            bigint NOT NULL,
    cache_read       bigint NOT NULL,
    cache_write      bigint NOT NULL,
    write_1h         bigint NOT NULL,
    output           bigint NOT NULL,
    bare_input       bigint NOT NULL, -- without Decant
    bare_cache_read  bigint NOT NULL,
    bare_cache_write bigint NOT NULL,
    bare_write_1h    bigint NOT NULL,
    bare_output      bigint NOT NULL,
    cost             bigint NOT NULL,
    bare             bigint NOT NULL,
    rewrite          bigint NOT NULL,
    oversized        int NOT NULL, -- 1: without Decant its prompt would have exceeded the model's window
    trial            int NOT NULL, -- 1: the request was observed only, and the next two are what it would have been
    trial_prompt     bigint NOT NULL,
    trial_cost       bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX spends_time ON spends (tenant, time);
CREATE INDEX spends_conversation ON spends (tenant, conversation);

-- What was spent, as sums: what a budget asks for with every request must not grow with what was booked. Commits of one
-- tenant would wait for each other's row, so there are several for a day.
CREATE TABLE spent (
    tenant text COLLATE "C" NOT NULL,
    day    int NOT NULL,
    part   int NOT NULL, -- 0 to 15, by conversation
    tokens bigint NOT NULL,
    cost   bigint NOT NULL,
    PRIMARY KEY (tenant, day, part)
) WITH (fillfactor = 50);

-- The conversation's row comes before the sum of the day: whoever commits has locked it already.
CREATE FUNCTION decant_add(s spends, sign int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    n bigint := sign * (s.input + s.cache_read + s.cache_write + s.output);
BEGIN
    UPDATE conversations SET spent_tokens = spent_tokens + n, spent_cost = spent_cost + sign * s.cost, spent_bare = spent_bare + sign * s.bare
        WHERE tenant = s.tenant AND id = s.conversation;
    INSERT INTO spent AS t VALUES (s.tenant, s.day, hashtext(s.conversation) & 15, n, sign * s.cost)
        ON CONFLICT (tenant, day, part) DO UPDATE SET tokens = t.tokens + excluded.tokens, cost = t.cost + excluded.cost;
END $$;
CREATE FUNCTION decant_spent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN PERFORM decant_add(old, -1); END IF;
    IF TG_OP <> 'DELETE' THEN PERFORM decant_add(new, 1); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER spent AFTER INSERT OR UPDATE OR DELETE ON spends FOR EACH ROW EXECUTE FUNCTION decant_spent();

-- What was found out about providers by trying: one row for each account and topic, the newest.
CREATE TABLE findings (
    upstream     text COLLATE "C" NOT NULL,
    organization text COLLATE "C" NOT NULL,
    topic        text COLLATE "C" NOT NULL,
    value        text NOT NULL,
    time         bigint NOT NULL,
    PRIMARY KEY (upstream, organization, topic)
);

-- Work about conversations that must be done once, and that somebody has claimed.
CREATE TABLE claims (
    tenant       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    work         text COLLATE "C" NOT NULL,
    time         bigint NOT NULL,
    PRIMARY KEY (tenant, conversation, work)
);

-- Keys that admit tenants to a gateway. A revoked key never comes back, and no key passes to another tenant.
CREATE TABLE tenant_keys (
    seq     bigint PRIMARY KEY,
    id      text COLLATE "C" NOT NULL UNIQUE,
    tenant  text COLLATE "C" NOT NULL,
    hash    bytea NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the whole key, which is not kept
    note    text NOT NULL,
    created bigint NOT NULL,
    revoked bigint NOT NULL DEFAULT 0,                -- 0: it is in force
    limits  bytea NOT NULL                            -- JSON
);

-- What people have done by commands.
CREATE TABLE acts (
    seq    bigint PRIMARY KEY, -- a number that is missing was removed by force
    time   bigint NOT NULL,
    actor  text NOT NULL,
    action text NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    target text NOT NULL,
    detail text NOT NULL
);
CREATE FUNCTION decant_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'acts' THEN RAISE 'the audit log is append-only'; END IF;
    IF old.revoked <> 0 OR (old.id, old.tenant, old.hash, old.limits) IS DISTINCT FROM (new.id, new.tenant, new.hash, new.limits) THEN
        RAISE 'a key is never changed but to be revoked';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER stay BEFORE UPDATE OR DELETE ON acts FOR EACH ROW EXECUTE FUNCTION decant_stay();
CREATE TRIGGER stay BEFORE UPDATE ON tenant_keys FOR EACH ROW EXECUTE FUNCTION decant_stay();

-- What outlives conversations.
CREATE TABLE memories (
    tenant       text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    scope        bytea NOT NULL, -- hash of level and name
    conversation text COLLATE "C" NOT NULL, -- that it comes from
    created      bigint NOT NULL,
    confirmed    bigint NOT NULL,
    active       boolean NOT NULL, -- not archived
    sources      text[] NOT NULL,  -- conversations that it comes from or was confirmed in
    item         bytea NOT NULL,   -- all of it, JSON
    PRIMARY KEY (tenant, id)
);
CREATE INDEX memories_scope ON memories (tenant, scope);

-- Sessions of agents that users build, step by step.
CREATE TABLE journals (
    tenant       text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL, -- that it was sent as last; empty: none yet
    head         bytea NOT NULL,
    length       int NOT NULL,
    created      bigint NOT NULL,
    updated      bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX journals_conversation ON journals (tenant, conversation);
CREATE TABLE journal_steps (
    tenant  text COLLATE "C" NOT NULL,
    journal text COLLATE "C" NOT NULL,
    seq     int NOT NULL, -- from 1
    codec   smallint NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (tenant, journal, seq),
    FOREIGN KEY (tenant, journal) REFERENCES journals (tenant, id) ON DELETE CASCADE
);
ALTER TABLE journal_steps ALTER data SET STORAGE EXTERNAL;
