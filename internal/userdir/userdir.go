// Package userdir finds the folders of a user: those of Decant in the places that the system and the XDG specification name.
// Each function reads the environment by getenv, and fails where the home folder is not known and needed.
package userdir

import (
	"errors"
	"path/filepath"
	"runtime"
)

// Home returns the user's home folder.
func Home(getenv func(string) string) (string, error) { return home(runtime.GOOS, getenv) }

// Data returns where Decant keeps its database: decant in $XDG_DATA_HOME or ~/.local/share, on macOS
// ~/Library/Application Support, on Windows %LocalAppData%. $XDG_DATA_HOME counts everywhere.
func Data(getenv func(string) string) (string, error) { return data(runtime.GOOS, getenv) }

// Config returns where the user's settings lie: decant in $XDG_CONFIG_HOME or ~/.config.
func Config(getenv func(string) string) (string, error) {
	return decant(runtime.GOOS, getenv, getenv("XDG_CONFIG_HOME"), ".config")
}

// State returns where Decant keeps what may be lost: decant in $XDG_STATE_HOME or ~/.local/state.
func State(getenv func(string) string) (string, error) {
	return decant(runtime.GOOS, getenv, getenv("XDG_STATE_HOME"), ".local/state")
}

// Cache returns where Decant keeps what it can make again: decant in $XDG_CACHE_HOME or ~/.cache, on macOS ~/Library/Caches,
// on Windows %LocalAppData%.
func Cache(getenv func(string) string) (string, error) {
	switch system := runtime.GOOS; system {
	case "darwin", "ios":
		return decant(system, getenv, "", "Library/Caches")
	case "windows":
		return decant(system, getenv, getenv("LocalAppData"), "AppData/Local")
	default:
		return decant(system, getenv, getenv("XDG_CACHE_HOME"), ".cache")
	}
}

func home(system string, getenv func(string) string) (string, error) {
	name := "HOME"
	switch system {
	case "windows":
		name = "USERPROFILE"
	case "plan9":
		name = "home"
	}
	if dir := getenv(name); dir != "" {
		return dir, nil
	}
	return "", errors.New("find the home folder: $" + name + " is not defined")
}

func data(system string, getenv func(string) string) (string, error) {
	dir := getenv("XDG_DATA_HOME")
	switch system {
	case "darwin", "ios":
		return decant(system, getenv, dir, "Library/Application Support")
	case "windows":
		if dir == "" {
			dir = getenv("LocalAppData")
		}
		return decant(system, getenv, dir, "AppData/Local")
	}
	return decant(system, getenv, dir, ".local/share")
}

// decant returns the folder named decant in dir or, if dir is empty or relative, in a folder below the home folder.
func decant(system string, getenv func(string) string, dir, below string) (string, error) {
	if !filepath.IsAbs(dir) { // the XDG specification: relative paths are invalid and ignored
		h, err := home(system, getenv)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(h, filepath.FromSlash(below))
	}
	return filepath.Join(dir, "decant"), nil
}
