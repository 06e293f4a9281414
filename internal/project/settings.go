package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/internal/yamltext"
)

// Settings are the keys of a config.yaml. Nil and zero mean not set.
type Settings struct {
	Model  string `yaml:"model"`  // id
	Preset string `yaml:"preset"` // name of a policy, or a YAML file; a project can name those in it only

	Threshold  *int  `yaml:"CompactionThresholdTokens"` // estimated tokens of the context from which old messages are summarised
	Tail       *int  `yaml:"ProtectedTailMessages"`     // newest messages that stay as they are
	Compaction *bool `yaml:"CompactionEnabled"`         // false: old messages are trimmed, and no model is asked about them

	MaxTurns  int     `yaml:"max_turns"`      // answers of the model to one thing that is said
	MaxBudget float64 `yaml:"max_budget_usd"` // of a session

	Allow []string `yaml:"allow"` // rules of calls that are made without a question; of the user's file only
	Deny  []string `yaml:"deny"`  // rules of calls that are never made
}

// settingsFile is where a project's settings stand.
const settingsFile = ".decant/config.yaml"

// settle merges the settings of the user and of the project. The project's win, except that the lower
// spending limit counts, that only the user can allow calls, and that a yes of the user is needed to the model and the
// policy, which decide the price.
func (p *Project) settle(own, theirs tree, trusted func(*trust.File) error) error {
	user, err := settingsIn(own, "config.yaml")
	if err != nil {
		return err
	}
	project, err := settingsIn(theirs, settingsFile)
	if err != nil {
		return err
	}
	if len(project.Allow) > 0 {
		return fmt.Errorf("%s: allow: only your own settings can allow calls; put it into %s, or use --allow", theirs.path(settingsFile), cmp.Or(own.path("config.yaml"), "them"))
	}
	if project.Preset, err = presetOf(theirs, project.Preset); err != nil {
		return fmt.Errorf("%s: preset: %w", theirs.path(settingsFile), err)
	}
	if project.Model != "" || project.Preset != "" {
		if err := theirs.approved(trusted, &project); err != nil {
			p.warn("model and preset of the project are left out: %v", err)
			project.Model, project.Preset = "", ""
		}
	}
	p.Settings = Settings{
		Model: cmp.Or(project.Model, user.Model), Preset: cmp.Or(project.Preset, user.Preset),
		Threshold: cmp.Or(project.Threshold, user.Threshold), Tail: cmp.Or(project.Tail, user.Tail), Compaction: cmp.Or(project.Compaction, user.Compaction),
		MaxTurns: least(project.MaxTurns, user.MaxTurns), MaxBudget: least(project.MaxBudget, user.MaxBudget),
		Allow: user.Allow, Deny: append(user.Deny, project.Deny...),
	}
	return nil
}

// approved returns why model and preset of a project do not count, nil if the user trusts the files that they stand in.
func (t tree) approved(trusted func(*trust.File) error, s *Settings) error {
	names := []string{t.path(settingsFile)}
	if filepath.IsAbs(s.Preset) {
		names = append(names, s.Preset)
	}
	for _, name := range names {
		f, err := trust.Read(name)
		switch {
		case trusted == nil:
			return errors.New("nobody can be asked")
		case err != nil:
			return err
		}
		if err := trusted(f); err != nil {
			return err
		}
	}
	return nil
}

// presetOf returns the preset that a project names: an embedded one, or a file named from the project's root.
func presetOf(t tree, name string) (string, error) {
	if !strings.ContainsAny(name, `/\`) && path.Ext(name) == "" {
		return name, nil
	}
	file := path.Clean(filepath.ToSlash(name))
	if _, err := t.read(file); err != nil {
		return "", fmt.Errorf("%s is no file of the project that can be read: %w", name, err)
	}
	return t.path(file), nil
}

// least returns the smaller limit; zero means no limit.
func least[T int | float64](a, b T) T {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// settingsIn reads a file of settings, which may be missing.
func settingsIn(t tree, name string) (s Settings, err error) {
	text, err := t.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", t.path(name), err)
	}
	if err := yamltext.Unmarshal([]byte(text), &s, yaml.Strict()); err != nil {
		return s, fmt.Errorf("%s: %s", t.path(name), humanize.YAMLError(err, true))
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("%s: %w", t.path(name), err)
	}
	return s, nil
}

// check returns an error that names an impossible setting.
func (s *Settings) check() error {
	switch {
	case s.Threshold != nil && *s.Threshold < 1:
		return fmt.Errorf("CompactionThresholdTokens: want more than 0 tokens, not %d", *s.Threshold)
	case s.Tail != nil && *s.Tail < 0:
		return fmt.Errorf("ProtectedTailMessages: want 0 messages or more, not %d", *s.Tail)
	case s.MaxTurns < 0:
		return fmt.Errorf("max_turns: want 1 or more, not %d", s.MaxTurns)
	case !(s.MaxBudget >= 0): // also what is no number
		return fmt.Errorf("max_budget_usd: want more than 0 dollars, not %v", s.MaxBudget)
	}
	return nil
}
