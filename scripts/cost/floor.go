package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// roleVariable says what this program is where it has started itself.
const roleVariable = "DECANT_COST_ROLE"

// roles are the floors.
var roles = map[string]func(args []string) error{"nothing": nothing, "rewrites": rewrites}

// nothing is what a program costs that has net/http in it.
func nothing([]string) error { return nil }

// rewrite decodes JSON and encodes it again, as the plainest program does that changes a request. It asks for memory as such
// programs do. A floor that only scans or copies would not: where others take the caches or the host is another one, its time
// changes by another factor than that of what is measured, by more than the guard allows.
func rewrite(text []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// rewritten is how often rewrites does it.
const rewritten = 5

// rewrites rewrites the JSON of a file.
func rewrites(args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for range rewritten {
		if _, err := rewrite(text); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	return nil
}
