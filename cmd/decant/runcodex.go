package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/process"
)

// codexSettings are what the user says about where Codex sends its requests.
type codexSettings struct {
	provider string // of the user's own, empty: the one that is built in
	base     string // of OpenAI's API, empty: Codex' own choice
	given    bool   // the arguments say it, and are not to be changed
}

// codexOf reads the settings of a command, nil if it is not Codex.
func codexOf(command []string, s *process.Process) *codexSettings {
	if programOf(command[0]) != "codex" {
		return nil
	}
	home := s.Getenv("CODEX_HOME")
	if home == "" {
		home = filepath.Join(s.Getenv("HOME"), ".codex")
	}
	file, _ := os.ReadFile(filepath.Join(home, "config.toml")) // without one there are no settings
	c := &codexSettings{
		provider: tomlText(string(file), "model_provider"), base: tomlText(string(file), "openai_base_url"),
		given: slices.ContainsFunc(command, namesBase),
	}
	for _, arg := range command {
		if v := tomlText(strings.TrimPrefix(arg, "--config="), "model_provider"); v != "" {
			c.provider = v
		}
	}
	if c.provider == "openai" {
		c.provider = ""
	}
	return c
}

// namesBase reports whether an argument is a setting of an address, and no prompt that speaks of one.
func namesBase(arg string) bool {
	key, _, ok := strings.Cut(strings.TrimPrefix(arg, "--config="), "=")
	key = strings.TrimSpace(key)
	return ok && !strings.ContainsAny(key, " \n") && strings.HasSuffix(key, "base_url")
}

// tomlText returns the text of a key at the top of a TOML file, which ends where the first table begins.
func tomlText(file, key string) string {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			return ""
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.Trim(strings.TrimSpace(name), `"'`) != key {
			continue
		}
		value = strings.TrimSpace(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
		} else {
			value, _, _ = strings.Cut(value, " ")
		}
		return value
	}
	return ""
}

// doubt says that Codex goes its own way, empty when it comes to the gateway.
func (c *codexSettings) doubt() string {
	if c.provider == "" || c.given {
		return ""
	}
	return fmt.Sprintf("codex has a provider of your own, %[1]s, and keeps it: the gateway sees nothing. To change that: "+
		"decant run --listen 127.0.0.1:4141 --openai-upstream BASE_URL_OF_%[1]s -- "+
		"codex -c 'model_providers.%[1]s.base_url=\"http://127.0.0.1:4141/v1\"'", c.provider)
}

// pointed returns the command with the base URL of the gateway, where the user has not chosen another one.
func (c *codexSettings) pointed(command []string, base string) []string {
	if c == nil || c.given || c.provider != "" {
		return command
	}
	return slices.Insert(slices.Clone(command), 1, "-c", fmt.Sprintf("openai_base_url=%q", base+"/v1"))
}

// programOf returns the name of a command's program.
func programOf(command string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe")
}
