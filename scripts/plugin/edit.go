package main

import (
	"encoding/json"
	"os"
)

// edit sets members of a JSON file.
func edit(file string, members map[string]any) error {
	all := map[string]any{}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
	}
	for k, v := range members {
		all[k] = v
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
