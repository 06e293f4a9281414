package sqlite

import (
	"errors"
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

// createFile makes sure that the file exists and that nobody else can read it if it is new; SQLite
// gives its journal files the mode of the database.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
