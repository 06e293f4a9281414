-- What calls of Decant's own were for.

-- +goose Up
ALTER TABLE spends ADD COLUMN purpose TEXT NOT NULL DEFAULT ''; -- '': a client's, or not known

-- +goose Down
ALTER TABLE spends DROP COLUMN purpose;
