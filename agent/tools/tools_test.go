package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/testkit"
)

// probe is what the test does in a command of its own; nil: nothing.
var probe func()

func TestMain(m *testing.M) {
	if testing.CoverMode() != "" {
		os.Setenv("GOCOVERDIR", coverDir(os.Getppid())) // of a process that runs a command: its parent is the test
	}
	tools.MainIfConfined()
	if probe != nil && len(os.Args) == 2 && os.Args[1] == "probe" {
		probe()
		syscall.Exit(0) // not by way of os, which with -cover would write a file where nothing can be written
	}
	testkit.Checks(20, 100)
	done := coverChildren()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { done(); os.Exit(code) }))
}

// coverChildren makes a folder for those processes of this program that run commands: with -cover they write into one what they have run, and
// without one they complain of it where the command's own errors stand.
func coverChildren() (done func()) {
	if testing.CoverMode() == "" {
		return func() {}
	}
	os.Unsetenv("GOCOVERDIR")
	dir := coverDir(os.Getpid())
	if err := os.Mkdir(dir, 0o700); err != nil {
		panic(err)
	}
	return func() { os.RemoveAll(dir) }
}

// coverDir returns the folder for the children of a process. It stands beside this program: children know of nothing else that is the same for all.
func coverDir(pid int) string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return filepath.Join(filepath.Dir(self), fmt.Sprintf("cover-%d", pid))
}

// A bench is a set of tools on a project.
type bench struct {
	*testing.T
	set *tools.Set
	dir string
}

func newBench(t *testing.T, o tools.Options) *bench {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := tools.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{T: t, set: s, dir: o.Dir}
}

type args map[string]any

// tool returns a tool by its name.
func (b *bench) tool(name string) *agent.Tool {
	b.Helper()
	for _, t := range b.set.Tools() {
		if t.Name == name {
			return &t
		}
	}
	b.Fatalf("there is no tool %s", name)
	return nil
}

// try makes a call and returns what the model is told: with "error: " in front, of a call that has failed.
func (b *bench) try(name string, a args) string {
	b.Helper()
	return b.tryAs("", name, a)
}

func (b *bench) tryAs(id, name string, a args) string {
	b.Helper()
	return b.within(b.Context(), id, name, a)
}

func (b *bench) within(ctx context.Context, id, name string, a args) string {
	b.Helper()
	arguments, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	r, err := b.tool(name).Run(ctx, &agent.Call{ID: id, Tool: name, Arguments: arguments})
	switch {
	case err != nil:
		return "error: " + r.Text + err.Error()
	case r.Error:
		return "error: " + r.Text
	}
	return r.Text
}

// preview returns what a call would change.
func (b *bench) preview(name string, a args) string {
	b.Helper()
	arguments, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	text, err := b.tool(name).Preview(b.Context(), &agent.Call{Tool: name, Arguments: arguments})
	if err != nil {
		return "error: " + err.Error()
	}
	return text
}

// has says that a text holds others.
func (b *bench) has(text string, want ...string) {
	b.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			b.Errorf("%q is missing in:\n%.2000s", w, text)
		}
	}
}

// put writes a file of the project.
func (b *bench) put(name, text string) {
	b.Helper()
	name = filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// is says what a file of the project holds.
func (b *bench) is(name, want string) {
	b.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || string(got) != want {
		b.Errorf("%s is %.500q, %v, want %.500q", name, got, err, want)
	}
}

func TestOptionsSayWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]tools.Options{
		"Options.Dir is missing":    {},
		"Options.Dir: ":             {Dir: file},
		"folder of a project: /":    {Dir: "/"},
		"of a project: /proc/self":  {Dir: "/proc/self/.."},
		"Options.Hidden":            {Dir: t.TempDir(), Hidden: []string{"["}},
		"Options.Keep":              {Dir: t.TempDir(), Keep: filepath.Join(file, "x")},
		"Shell.Write: x is not abs": {Dir: t.TempDir(), Shell: tools.Shell{Write: []string{"x"}}},
		"Shell.Hide: x is not abs":  {Dir: t.TempDir(), Shell: tools.Shell{Hide: []string{"x"}}},
	} {
		if want == "of a project: /proc/self" {
			want = "of a project: /proc"
		}
		if s, err := tools.New(o); err == nil || s != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestToolsThatAreOff(t *testing.T) {
	b := newBench(t, tools.Options{Shell: tools.Shell{Off: true}, Fetch: tools.Fetch{Off: true}})
	var names []string
	for _, tool := range b.set.Tools() {
		names = append(names, tool.Name)
		if tool.ReadOnly == tool.Ask || tool.Ask != (tool.Preview != nil) {
			t.Errorf("%s: read-only %t, asks %t", tool.Name, tool.ReadOnly, tool.Ask)
		}
	}
	if got := strings.Join(names, " "); got != "read write edit glob grep" || b.set.Confined() != "" {
		t.Errorf("%s, confined by %q", got, b.set.Confined())
	}
}

// call returns a call with arguments.
func call(t *testing.T, tool string, a args) *agent.Call {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Call{Tool: tool, Arguments: b}
}
