package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DefaultPath returns where the user's own database lives: decant/decant.db in the folder for user
// data of the system, which is $XDG_DATA_HOME or ~/.local/share, on macOS
// ~/Library/Application Support, on Windows %LocalAppData%. $XDG_DATA_HOME counts everywhere.
func DefaultPath() (string, error) {
	return defaultPath(runtime.GOOS, os.Getenv, os.UserHomeDir)
}

func defaultPath(system string, env func(string) string, home func() (string, error)) (string, error) {
	dir := env("XDG_DATA_HOME")
	if dir == "" && system == "windows" {
		dir = env("LocalAppData")
	}
	if !filepath.IsAbs(dir) { // the XDG specification: relative paths are invalid and ignored
		h, err := home()
		if err != nil {
			return "", fmt.Errorf("find the folder for user data: %w", err)
		}
		dir = filepath.Join(h, dataFolder(system))
	}
	return filepath.Join(dir, "decant", "decant.db"), nil
}

func dataFolder(system string) string {
	switch system {
	case "darwin", "ios":
		return filepath.Join("Library", "Application Support")
	case "windows":
		return filepath.Join("AppData", "Local")
	}
	return filepath.Join(".local", "share")
}
