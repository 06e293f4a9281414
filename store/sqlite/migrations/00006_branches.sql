-- A fork says which version's decisions it has: those that were in force at its branch point. A request says
-- whether its answer broke off. What was planned for observed requests, and what they would have cost.

-- +goose Up
ALTER TABLE conversations ADD COLUMN parent_in_force INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET parent_in_force = parent_version WHERE parent <> ''; -- as they were replayed so far
ALTER TABLE requests ADD COLUMN broken INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE requests DROP COLUMN broken;
ALTER TABLE conversations DROP COLUMN parent_in_force;
