package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	rule = "Always run make frobnicate-check before a commit."
	fact = "the staging port of orchid-7 is 48213"
	name = "decant@decant"
)

var printing = []string{"--dangerously-skip-permissions", "--model", "claude-sonnet-4-5", "-p"}

// show plays the cases in their order.
func show(work string) error {
	s, err := setUp(work, rule)
	if err != nil {
		return err
	}
	defer s.tearDown()
	failed := false
	for _, c := range []struct {
		name string
		play func(*stage) (string, error)
	}{{"install", installed}, {"hooks", hooked}, {"recall", recalled}, {"clear", cleared}, {"uninstall", uninstalled}} {
		what, err := c.play(s)
		if err != nil {
			failed = true
			fmt.Printf("FAIL  %-9s  %v\n", c.name, err)
			continue
		}
		fmt.Printf("PASS  %-9s  %s\n", c.name, what)
	}
	for i, r := range s.model.requests() {
		os.WriteFile(filepath.Join(work, fmt.Sprintf("request-%02d.json", i+1)), []byte(r.body), 0o600)
	}
	if failed {
		return errors.New("a case has failed; KEEP=1 keeps the requests")
	}
	return nil
}

// installed installs the plugin and has one turn.
func installed(s *stage) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if _, err := s.says("plugin", "marketplace", "add", filepath.Join(root, "plugins")); err != nil {
		return "", err
	}
	if _, err := s.says("plugin", "install", name); err != nil {
		return "", err
	}
	if _, err := s.says(append(printing, "Say that all is well.")...); err != nil {
		return "", err
	}
	rs := s.model.requests()
	switch {
	case len(rs) == 0:
		return "", errors.New("no request came")
	case !strings.Contains(rs[0].messages, rule):
		return "", errors.New("the first request has no rule: the hook SessionStart did not run")
	}
	return "hooks run, the rule is in the first request", nil
}

// filler is what a step prints, so that the window gets full.
func filler(step int) call {
	return call{"Bash", map[string]any{"description": "print", "command": fmt.Sprintf(`for i in $(seq 1 300); do echo "step %d line $i value_%d_$i = compute(alpha, beta_$i)"; done`, step, step)}}
}

// recalled lets a fact be poured and asks for it.
func recalled(s *stage) (string, error) {
	before := len(s.model.requests())
	script := []call{{"Bash", map[string]any{"description": "read notes", "command": "seq -f 'note %g says nothing' 1 200; echo '" + fact + "'; seq -f 'note %g says nothing' 201 400"}}}
	for i := range 14 {
		script = append(script, filler(i))
	}
	s.model.plays(append(script, call{"ToolSearch", map[string]any{"query": "select:mcp__plugin_decant_decant__recall", "max_results": 1}}, call{"decant__recall", map[string]any{"query": "orchid staging port"}})...)
	said, err := s.says(append(printing, "Carry out the steps.")...)
	if err != nil {
		return "", err
	}
	rs := s.model.requests()[before:]
	i := slices.IndexFunc(rs, func(r request) bool { return strings.Contains(r.messages, "Passages for") })
	if i < 1 {
		return "", fmt.Errorf("recall was not called: %s", said)
	}
	where := strings.Index(rs[i].messages, "Passages for")
	switch was := rs[i-1].messages; {
	case strings.Contains(result(was), fact):
		return "", errors.New("the fact was still in the prompt when recall was called, so this shows nothing")
	case !strings.Contains(rs[i].messages[where:], fact):
		return "", errors.New("recall did not bring the fact")
	}
	return fmt.Sprintf("after %d requests the fact was poured out of the prompt, and recall brought it back", i), nil
}

// result returns messages without the call that had the fact in its command.
func result(messages string) string { return strings.ReplaceAll(messages, "echo '"+fact, "") }

// uninstalled removes the plugin and looks for what it has left.
func uninstalled(s *stage) (string, error) {
	for _, args := range [][]string{{"plugin", "uninstall", name}, {"plugin", "marketplace", "remove", "decant"}} {
		if _, err := s.says(args...); err != nil {
			return "", err
		}
	}
	before := len(s.model.requests())
	if _, err := s.says(append(printing, "Say that all is well again.")...); err != nil {
		return "", err
	}
	for _, r := range s.model.requests()[before:] {
		if strings.Contains(r.body, rule) || slices.ContainsFunc(r.tools, func(t string) bool { return strings.Contains(t, "decant") }) || strings.Contains(r.body, "plugin_decant") {
			return "", errors.New("a request has a trace of the plugin")
		}
	}
	left, err := traces(s.home())
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("files of the plugin are left: %s", strings.Join(left, ", "))
	}
	return "no trace in requests and settings; of the plugin Claude Code keeps a copy in its cache, marked as orphaned, which it deletes later", err
}

// traces returns settings and folders of Claude Code that name the plugin. Its records of what was said are not traces.
func traces(home string) (out []string, err error) {
	err = filepath.WalkDir(filepath.Join(home, ".claude"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(home, path)
		if top := strings.Split(rel, string(filepath.Separator)); len(top) > 1 && !slices.Contains([]string{"plugins", "settings.json", "settings.local.json", "rules", "skills"}, top[1]) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() && orphaned(path) {
			return fs.SkipDir
		}
		if e.IsDir() {
			return nil
		}
		if strings.Contains(rel, "decant") {
			out = append(out, rel)
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "decant@") || strings.Contains(string(text), `"decant"`) {
			out = append(out, rel+" (in it)")
		}
		return err
	})
	return out, err
}

// orphaned reports whether a folder of Claude Code's cache is one that it will delete.
func orphaned(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".orphaned_at"))
	return err == nil
}
