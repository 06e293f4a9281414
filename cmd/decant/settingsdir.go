package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// settingsHome returns the folder of the user's settings.
func settingsHome() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the XDG specification: relative paths are invalid and ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the folder of settings: %w", err)
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "decant"), nil
}
