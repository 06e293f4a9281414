-- Which pour a decision is part of. So far the ids of its decisions said so: that of the pour, a point and a number.

-- +goose Up
ALTER TABLE decisions ADD COLUMN pour TEXT NOT NULL DEFAULT ''; -- '': it was made between pours
UPDATE decisions SET pour = substr(id, 1, instr(id || '.', '.') - 1) WHERE id GLOB 'pour-*';

-- +goose Down
ALTER TABLE decisions DROP COLUMN pour;
