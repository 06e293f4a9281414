-- Which requests no client could have sent as they were, because their prompts exceed the model's window.

-- +goose Up
ALTER TABLE spends ADD COLUMN oversized INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE spends DROP COLUMN oversized;
