-- What was spent, as sums: what a budget asks for with every request must not grow with what was booked. Triggers
-- keep them, so that they are right whoever books, and whoever removes old bookings.

-- +goose Up
CREATE TABLE spent (
    tenant TEXT    NOT NULL,
    day    INTEGER NOT NULL, -- since 1970, UTC
    tokens INTEGER NOT NULL, -- of prompts and answers
    cost   INTEGER NOT NULL,
    PRIMARY KEY (tenant, day)
) WITHOUT ROWID;
INSERT INTO spent (tenant, day, tokens, cost)
    SELECT tenant, day, sum(input + cache_read + cache_write + output), sum(cost) FROM spends GROUP BY tenant, day;

ALTER TABLE conversations ADD COLUMN spent_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spent_cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spent_bare INTEGER NOT NULL DEFAULT 0; -- what it would have cost without Decant
UPDATE conversations SET (spent_tokens, spent_cost, spent_bare) = (
    SELECT COALESCE(sum(s.input + s.cache_read + s.cache_write + s.output), 0), COALESCE(sum(s.cost), 0), COALESCE(sum(s.bare), 0)
    FROM spends s INDEXED BY spends_conversation WHERE s.tenant = conversations.tenant AND s.conversation = conversations.id);

-- +goose StatementBegin
CREATE TRIGGER spends_added AFTER INSERT ON spends BEGIN
    INSERT INTO spent (tenant, day, tokens, cost)
        VALUES (new.tenant, new.day, new.input + new.cache_read + new.cache_write + new.output, new.cost)
        ON CONFLICT (tenant, day) DO UPDATE SET tokens = tokens + excluded.tokens, cost = cost + excluded.cost;
    UPDATE conversations SET spent_tokens = spent_tokens + new.input + new.cache_read + new.cache_write + new.output,
        spent_cost = spent_cost + new.cost, spent_bare = spent_bare + new.bare
        WHERE tenant = new.tenant AND id = new.conversation;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER spends_removed AFTER DELETE ON spends BEGIN
    UPDATE spent SET tokens = tokens - (old.input + old.cache_read + old.cache_write + old.output), cost = cost - old.cost
        WHERE tenant = old.tenant AND day = old.day;
    UPDATE conversations SET spent_tokens = spent_tokens - (old.input + old.cache_read + old.cache_write + old.output),
        spent_cost = spent_cost - old.cost, spent_bare = spent_bare - old.bare
        WHERE tenant = old.tenant AND id = old.conversation;
END;
-- +goose StatementEnd

-- By what is asked for when conversations are removed.
CREATE INDEX fixed_system ON fixed (tenant, system);
CREATE INDEX fixed_tools ON fixed (tenant, tools);
CREATE INDEX jobs_conversation ON jobs (tenant, conversation);

-- +goose Down
DROP INDEX jobs_conversation;
DROP INDEX fixed_tools;
DROP INDEX fixed_system;
DROP TRIGGER spends_removed;
DROP TRIGGER spends_added;
ALTER TABLE conversations DROP COLUMN spent_bare;
ALTER TABLE conversations DROP COLUMN spent_cost;
ALTER TABLE conversations DROP COLUMN spent_tokens;
DROP TABLE spent;
