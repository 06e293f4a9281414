//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/testing/testkit"
)

// pluginDir is the plugin for Claude Code as it is installed.
const pluginDir = "../../plugins/claude-code"

// pluginHooks returns the command of each event, from the plugin's own file.
func pluginHooks(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(pluginDir, "hooks", "hooks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(src, &file); err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
	for event, groups := range file.Hooks {
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Fatalf("%s: want one command, got %+v", event, groups)
		}
		commands[event] = groups[0].Hooks[0].Command
	}
	return commands
}

// A pluggedIn is a repository with a notebook, in which the plugin's commands are run as Claude Code does.
type pluggedIn struct {
	t                *testing.T
	repo, transcript string
	hooks            map[string]string
}

// plugIn begins a notebook with a rule, and lays down the recorded day of eight tasks as the newest session.
func plugIn(t *testing.T) *pluggedIn {
	t.Helper()
	home, repo := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "CLAUDE_CONFIG_DIR": ""} {
		t.Setenv(name, value)
	}
	repo, err := filepath.EvalSymlinks(repo)
	if err != nil {
		t.Fatal(err)
	}
	sessions := filepath.Join(home, ".claude", "projects", strings.NewReplacer("/", "-", ".", "-").Replace(repo))
	for _, dir := range []string{filepath.Join(repo, ".git"), sessions} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.Open("testdata/eight-task-day.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	day, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	p := &pluggedIn{t: t, repo: repo, transcript: filepath.Join(sessions, "day.jsonl"), hooks: pluginHooks(t)}
	if err := os.WriteFile(p.transcript, day, 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("decant notebook init", "")
	p.run("decant notebook add 'Roses are pruned in March.'", "")
	return p
}

// run runs a command of a shell in the repository and returns what it prints.
func (p *pluggedIn) run(command, in string) (out, said string) {
	p.t.Helper()
	c := exec.Command("sh", "-c", command)
	var o, e bytes.Buffer
	c.Dir, c.Stdin, c.Stdout, c.Stderr = p.repo, strings.NewReader(in), &o, &e
	if err := c.Run(); err != nil {
		p.t.Fatalf("%s: %v\n%s%s", command, err, o.String(), e.String())
	}
	return o.String(), e.String()
}

// done notes a task that is done, within the process of the test.
func (p *pluggedIn) done(task string) {
	p.t.Helper()
	var out bytes.Buffer
	code := run(&process.Process{
		Args: []string{"notebook", "add", "--done", task}, Environ: os.Environ(), Dir: p.repo, In: strings.NewReader(""), Out: &out, Err: &out, Width: 80,
	})
	if code != exit.Done {
		p.t.Fatalf("done %q: exit %d\n%s", task, code, out.String())
	}
}

// hook runs the hook of an event.
func (p *pluggedIn) hook(event, more string) (out, said string) {
	p.t.Helper()
	if p.hooks[event] == "" {
		p.t.Fatalf("the plugin has no hook for %s: %v", event, p.hooks)
	}
	return p.run(p.hooks[event], fmt.Sprintf(`{"session_id":"day","transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, p.transcript, p.repo, event, more))
}

// has waits until a file of the notebook has a text: what takes longer than a hook may is done by a process of its own.
func (p *pluggedIn) has(file, want string) {
	p.t.Helper()
	name := filepath.Join(p.repo, ".decant", "notebook", file)
	testkit.Eventually(p.t, fmt.Sprintf("%s has %q", file, want), func() bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(text), want)
	})
}

// What the plugin's files name does what it is for, run as the client runs it.
func TestThePluginsHooks(t *testing.T) {
	p := plugIn(t)
	if out, said := p.hook("SessionStart", `,"source":"startup"`); !strings.Contains(out, "Roses are pruned in March.") {
		t.Errorf("a session is told %q, %q", out, said)
	}
	if out, said := p.hook("TaskCompleted", `,"task_subject":"Prune the climbing roses"`); out+said != "" {
		t.Errorf("a completed task: %q, %q", out, said)
	}
	p.has("DONE.md", "Prune the climbing roses")
	p.hook("PreCompact", `,"trigger":"auto"`)
	p.has("CONTEXT_ARCHIVE.md", "day.jsonl")
	// Another day, where only the hook knows of it.
	day, err := os.ReadFile(p.transcript)
	if err != nil {
		t.Fatal(err)
	}
	p.transcript = filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(p.transcript, []byte(strings.NewReplacer("TASK-", "ROSE-", "5ca9a2d0", "5ca9a2d1", dayTasks[0][1], "8f5a2d9").Replace(string(day))), 0o600); err != nil {
		t.Fatal(err)
	}
	p.hook("SessionEnd", `,"reason":"exit"`)
	p.has("DONE.md", strings.Replace(dayTasks[0][0], "TASK-", "ROSE-", 1))
	for event := range p.hooks { // what fails is said, and is never the agent's
		p.run(p.hooks[event], "no event")
	}
}

// The script, with each of its flags, by its own name.
func TestThePluginsScript(t *testing.T) {
	p := plugIn(t)
	script, err := filepath.Abs(filepath.Join(pluginDir, "bin", "compress-context"))
	if err != nil {
		t.Fatal(err)
	}
	if out, said := p.run(script+" --session-now", ""); !strings.Contains(out+said, "CONTEXT_ARCHIVE.md") {
		t.Errorf("it says %q, %q", out, said)
	}
	p.has("CONTEXT_ARCHIVE.md", "day.jsonl")
	for i := range 12 {
		p.done(fmt.Sprintf("Plant bed %d of the garden", i))
	}
	p.run(script+" --observations --tasks", "")
	p.has("TASK_ARCHIVE.md", "Plant bed 0 of the garden")
	if out, err := exec.Command("sh", "-c", script+" --everything").CombinedOutput(); err == nil {
		t.Errorf("an unknown flag: %s", out)
	}
}
