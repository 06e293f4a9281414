-- Requests that were only observed: what would have been decided about them, and what they would have cost.

-- +goose Up
ALTER TABLE requests ADD COLUMN planned TEXT NOT NULL DEFAULT '';  -- JSON; '': the request was not observed only
ALTER TABLE requests ADD COLUMN plan BLOB NOT NULL DEFAULT x'';    -- blob: the decisions; empty: none
ALTER TABLE spends ADD COLUMN trial INTEGER NOT NULL DEFAULT 0;    -- 1: the request was observed only
ALTER TABLE spends ADD COLUMN trial_prompt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spends ADD COLUMN trial_cost INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE spends DROP COLUMN trial_cost;
ALTER TABLE spends DROP COLUMN trial_prompt;
ALTER TABLE spends DROP COLUMN trial;
ALTER TABLE requests DROP COLUMN plan;
ALTER TABLE requests DROP COLUMN planned;
