package triage

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/plainfile"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/internal/yamltext"
)

// Settings configure runs. Zero fields are not set.
type Settings struct {
	Given bool // there is a settings file

	Sources  []source.Source
	Repos    []code.Repo
	Services map[string]string // repositories by the services whose code they have
	Model    string
	By       group.By
	Most     int
	Parallel int
	PerError int // tokens
	PerRun   int // tokens
	Thinking bool
	Off      investigate.LayerSet // context layers that are switched off
	Preset   string               // of the stages of an investigation: a name, or a file; empty: night-watch
	Ignore   group.IgnoreList
	Runbooks []code.Runbook
	Deliver  deliver.Settings // where results go
	MCP      MCP
}

// MCP says which MCP servers investigations may use.
type MCP struct {
	File  string   `yaml:"file"`  // of servers, in the form of .mcp.json; from the folder of the settings
	Allow []string `yaml:"allow"` // tools that may be called though their server does not call them read-only, such as mcp__grafana__query
	Data  []byte   `yaml:"-"`     // what the file says, as whoever reads the settings has found it
}

// file is the form of a settings file.
type file struct {
	Sources  any               `yaml:"sources"` // source.Read reads them
	Repos    []code.Repo       `yaml:"repos"`
	Services map[string]string `yaml:"services"`
	Model    string            `yaml:"model"`
	By       group.By          `yaml:"by"`
	Most     int               `yaml:"max_errors"`
	Parallel int               `yaml:"parallel"`
	PerError int               `yaml:"tokens_per_error"`
	PerRun   int               `yaml:"tokens_per_run"`
	Thinking bool              `yaml:"thinking"`
	Layers   []string          `yaml:"layers"`   // see layer.Parse
	Preset   string            `yaml:"preset"`   // a name, or a file, from the folder of the settings
	Ignore   string            `yaml:"ignore"`   // a file, from the folder of the settings
	Runbooks string            `yaml:"runbooks"` // a folder, likewise
	Deliver  deliver.Settings  `yaml:",inline"`
	MCP      MCP               `yaml:"mcp"`
}

// A File is a settings file as it was read.
type File struct {
	Name string
	Data []byte // nil: there is none, and it says nothing
	Own  bool   // it is the user's own, and no repository's: credentials go wherever it says
}

// ReadSettings reads a settings file, and DECANT_TRIAGE_MODEL, _MAX_ERRORS, _PARALLEL, _TOKENS_PER_ERROR and
// _TOKENS_PER_RUN of the environment, which are stronger. Errors name the file and the line, or the variable.
func ReadSettings(f File, p *process.Process) (*Settings, error) {
	s := &Settings{Given: f.Data != nil}
	if s.Given {
		if err := s.read(f.Name, f.Data, p); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Sources, err = source.Read(f.Name, f.Data, f.Own, p); err != nil {
		return nil, err
	}
	return s, s.environment(p.Getenv)
}

// Servers returns the file of MCP servers that a settings file names; empty: it names none.
func Servers(name string, data []byte) (string, error) {
	var f struct {
		MCP MCP `yaml:"mcp"`
	}
	if err := yamltext.Unmarshal(data, &f); err != nil {
		return "", fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, true))
	}
	if f.MCP.File == "" {
		return "", nil
	}
	return below(filepath.Dir(name), f.MCP.File), nil
}

// read reads the file except its sources.
func (s *Settings) read(name string, data []byte, p *process.Process) error {
	var f file
	if err := yamltext.Unmarshal(data, &f, yaml.Strict()); err != nil {
		return fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, true))
	}
	if f.By != "" && f.By != group.ByFingerprint && f.By != group.ByTransaction {
		return fmt.Errorf("%s: by: %q is neither %s nor %s", name, f.By, group.ByFingerprint, group.ByTransaction)
	}
	if min(f.Most, f.Parallel, f.PerError, f.PerRun) < 0 {
		return fmt.Errorf("%s: max_errors, parallel, tokens_per_error and tokens_per_run must not be negative", name)
	}
	off, err := investigate.ParseLayers(f.Layers)
	if err != nil {
		return fmt.Errorf("%s: layers: %w", name, err)
	}
	if err := f.Deliver.Check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	dir := filepath.Dir(name)
	*s = Settings{Given: s.Given, Repos: f.Repos, Services: f.Services, Model: f.Model, By: f.By, Most: f.Most, Parallel: f.Parallel, PerError: f.PerError, PerRun: f.PerRun, Thinking: f.Thinking, Off: off, Preset: f.Preset, Deliver: f.Deliver}
	if strings.HasSuffix(f.Preset, ".yaml") || strings.HasSuffix(f.Preset, ".yml") {
		s.Preset = below(dir, f.Preset)
	}
	for i := range s.Repos {
		if d := s.Repos[i].Dir; d != "" && !filepath.IsAbs(d) {
			s.Repos[i].Dir = filepath.Join(dir, d)
		}
		for k, at := range s.Repos[i].Toolchain {
			if s.Repos[i].Toolchain[k], err = folder(p, dir, at); err != nil {
				return fmt.Errorf("%s: toolchain: %w", name, err)
			}
		}
	}
	if s.MCP = f.MCP; f.MCP.File != "" {
		s.MCP.File = below(dir, f.MCP.File)
	} else if len(f.MCP.Allow) > 0 {
		return fmt.Errorf("%s: mcp: allow without file: name the file of the servers, such as ../.mcp.json", name)
	}
	return s.beside(name, &f)
}

// beside reads the files that the settings name: errors to ignore, and runbooks.
func (s *Settings) beside(name string, f *file) error {
	dir := filepath.Dir(name)
	if f.Ignore != "" {
		at := below(dir, f.Ignore)
		src, err := plainfile.Read(at, 1<<20)
		if err != nil {
			return fmt.Errorf("%s: ignore: %w", name, err)
		}
		if s.Ignore, err = group.ReadIgnored(at, src); err != nil {
			return err
		}
	}
	if f.Runbooks != "" {
		root, err := os.OpenRoot(below(dir, f.Runbooks))
		if err == nil {
			s.Runbooks, err = code.Runbooks(root.FS())
			err = errors.Join(err, root.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: runbooks: %w", name, err)
		}
	}
	return nil
}

// folder returns where a folder is that is named from another one, or from the home folder.
func folder(p *process.Process, dir, name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := userdir.Home(p.Getenv)
		return filepath.Join(home, rest), err
	}
	return p.Abs(below(dir, name))
}

// below returns a name from a folder on, unless it is absolute.
func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// environment reads the variables of the environment.
func (s *Settings) environment(getenv func(string) string) error {
	s.Model = cmp.Or(getenv("DECANT_TRIAGE_MODEL"), s.Model)
	for _, v := range []struct {
		name string
		to   *int
	}{
		{"DECANT_TRIAGE_MAX_ERRORS", &s.Most}, {"DECANT_TRIAGE_PARALLEL", &s.Parallel},
		{"DECANT_TRIAGE_TOKENS_PER_ERROR", &s.PerError}, {"DECANT_TRIAGE_TOKENS_PER_RUN", &s.PerRun},
	} {
		text := getenv(v.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: %q is not a number above 0", v.name, text)
		}
		*v.to = n
	}
	return nil
}

// defaultPerRun is how many tokens a run may use.
const defaultPerRun = 200_000

// Fill sets the defaults.
func (s *Settings) Fill() {
	s.By, s.Most, s.Parallel = cmp.Or(s.By, group.ByFingerprint), cmp.Or(s.Most, defaultMost), cmp.Or(s.Parallel, 3)
	s.PerError, s.PerRun = cmp.Or(s.PerError, investigate.DefaultBudget), cmp.Or(s.PerRun, defaultPerRun)
}

// Template is a settings file with every setting, for fmt.Sprintf with the name of the repository.
const Template = `# decant triage: which errors are read, and whose code runs. Credentials belong in the environment, never here:
# ANTHROPIC_API_KEY, NEW_RELIC_API_KEY, SENTRY_AUTH_TOKEN, GITHUB_TOKEN. After you change this file: decant trust

sources:
  - type: log                # also jsonl, command, newrelic, sentry
    files: [/var/log/app/*.log]
#  - type: newrelic          # NEW_RELIC_API_KEY
#    account: 1234567
#  - type: sentry            # SENTRY_AUTH_TOKEN
#    organization: acme

repos:
  - name: %s
    dir: ..                  # a clone, relative to the folder of this file
#    paths: [{from: /app/}]   # where the files of stack traces are in it

# model: claude-sonnet-5-5
# max_errors: 5              # investigated per run
# tokens_per_error: 30000
# tokens_per_run: 200000
# thinking: true             # costs tokens, and parts of the provider's cache
# layers: [-thinking]        # context layers: all, none, some names, or all but -NAME
# preset: night-watch-manual # makes no summaries: after six answers the first message and the last four stay
# ignore: ignore.yaml        # - class: ActionController::RoutingError
# runbooks: runbooks         # a folder of Markdown
# mcp: {file: ../.mcp.json}  # servers whose read-only tools investigations may use

# Where findings go, besides the report. Without these nothing is sent.
# slack: {channel: "#errors"}             # SLACK_BOT_TOKEN, or SLACK_WEBHOOK_URL
# issues: {repo: acme/shop, max: 3}       # GITHUB_TOKEN
# pull_request: draft                     # needs build and test of the repository:
#                                         # repos: [{name: acme/shop, build: [go, build, ./...], test: [go, test, ./...], toolchain: [~/go/pkg/mod]}]
`
