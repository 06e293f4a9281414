package chatcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
)

// heededByChat are the keys of the settings that the service of agents heeds. All of it recalls, whatever recall says.
var heededByChat = []string{
	"listen", "tls", "plain_http", "db", "encryption", "window", "drop_block", "add_markers", "drain", "log", "log_format", "keys", "hosts", "body_limit", "body_memory",
	"budgets", "recall", "tools",
}

// served returns the settings of the service. What would be left out of flags and settings is an error: who limits something in vain
// believes that it is limited.
func (c *Command) served(s *process.Process, p *project.Project) (*config.Config, error) {
	if names := c.unserved(); len(names) > 0 {
		return nil, fmt.Errorf("not for --serve: %s; agents of the service are configured by POST /v1/agents", strings.Join(names, ", "))
	}
	if keys := unservedIn(&p.Settings); len(keys) > 0 {
		return nil, fmt.Errorf("not for --serve, and set in .decant/config.yaml here or in your own config.yaml: %s; start it in another folder, "+
			"or with XDG_CONFIG_HOME set to one, and configure its agents by POST /v1/agents", strings.Join(keys, ", "))
	}
	window := ""
	switch {
	case c.Window.Tokens != 0:
		window = strconv.Itoa(c.Window.Tokens)
	case c.Window.Given:
		return nil, errors.New("--window: want a number of tokens, such as 32000")
	}
	cfg, err := config.Load(config.Sources{Environ: s.Environ, Dir: s.Dir, Listen: chatListen, Flags: map[string]string{
		"db": c.DB, "encryption_key_file": c.EncryptionKeyFile, "listen": c.Listen, "plain_http": command.Switch(c.PlainHTTP), "window": window,
	}})
	if err != nil {
		return nil, err
	}
	if keys := cfg.Others(heededByChat...); len(keys) > 0 {
		return nil, fmt.Errorf("settings that decant chat --serve does not heed: %s; remove them, or give it settings of its own by DECANT_CONFIG",
			strings.Join(keys, ", "))
	}
	return cfg, nil
}

// unserved returns the flags of the command line that the service does not heed.
func (c *Command) unserved() (names []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"-p", c.Prompt != ""},
		{"-f", c.File != ""},
		{"--output-format", c.OutputFormat != string(chat.FormatText)},
		{"--json-schema", c.JSONSchema != ""},
		{"--max-turns", c.MaxTurns != 0},
		{"--allow", len(c.Allow) > 0},
		{"--team", c.Team != ""},
		{"--mcp", c.MCP},
		{"--preset", c.Preset != ""},
		{"-c", c.Continue},
		{"-r", c.Resume != ""},
		{"--fork-session", c.ForkSession},
	} {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

// unservedIn returns the settings of a project and of its user that the service does not heed.
func unservedIn(s *project.Settings) (keys []string) {
	for _, k := range []struct {
		key string
		set bool
	}{
		{"preset", s.Preset != ""},
		{"CompactionThresholdTokens", s.Threshold != nil},
		{"ProtectedTailMessages", s.Tail != nil},
		{"CompactionEnabled", s.Compaction != nil},
		{"max_turns", s.MaxTurns != 0},
		{"allow", len(s.Allow) > 0},
		{"deny", len(s.Deny) > 0},
	} {
		if k.set {
			keys = append(keys, k.key)
		}
	}
	return keys
}
