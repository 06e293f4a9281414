package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A demoRun is what came of a demo.
type demoRun struct {
	printed string            // without the time that it took
	left    map[string][]byte // files, where it was and in its user's home
}

// runDemo runs the demo in a folder that is empty but for the home of a user.
func runDemo(args ...string) (*demoRun, error) {
	dir, err := os.MkdirTemp(sharedDir, "demo-")
	if err != nil {
		return nil, err
	}
	var out, messages bytes.Buffer
	environ := append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "TMPDIR="+dir)
	code := run(&process.Process{Args: append([]string{"demo"}, args...), Environ: environ, Dir: dir, Out: &out, Err: &messages, Width: 80})
	if code != exit.Done || messages.Len() > 0 {
		return nil, fmt.Errorf("exit code %d: %s", code, messages.String())
	}
	d := &demoRun{printed: regexp.MustCompile(`took [0-9.]+ seconds`).ReplaceAllString(out.String(), "took N seconds"), left: map[string][]byte{}}
	return d, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			d.left[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
}

// Two demos are enough for all tests: one that is as it comes, and one whose database is kept.
var (
	plainDemo = sync.OnceValues(func() (*demoRun, error) { return runDemo() })
	keptDemo  = sync.OnceValues(func() (*demoRun, error) { return runDemo("--keep", "demo.db") })
)

// playKept is a command of scripts that stands for decant demo --keep FILE.
func playKept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "demo.db" {
		ts.Fatalf("usage: kept demo.db")
	}
	d, err := keptDemo()
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), d.printed)
	ts.Check(os.WriteFile(ts.MkAbs("demo.db"), d.left["demo.db"], 0o600))
}

// The demo is the first thing that people see of Decant: look at the whole of it when it changes.
// Numbers and quotations are masked, so that a better summary does not change the golden file.
func TestDemo(t *testing.T) {
	d, err := plainDemo()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.left) > 0 {
		t.Errorf("it has left %d files behind", len(d.left))
	}
	got := d.printed
	for i, line := range strings.Split(got, "\n") {
		if n := len([]rune(line)); n > 84 {
			t.Errorf("line %d is %d columns wide: %s", i+1, n, line)
		}
	}
	for _, want := range []string{
		`request \d+ of 54 is refused`, `request 54 of 54 is answered`, `tokens in all requests .* -\d+%`,
		`price of the session .* -\d+%`, `byte for byte what the tool returned: yes`, `price: \$0\.\d+ once`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	const name = "testdata/demo.golden"
	masked := hidden(got)
	if *update {
		if err := os.WriteFile(name, []byte(masked), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), masked); diff != "" {
		t.Errorf("go test ./cmd/decant -run Demo -update rewrites it (-want +got):\n%s", diff)
	}
}

// hidden replaces numbers, handles, bars and quotations.
func hidden(s string) string {
	for _, m := range [][2]string{
		{`(?m)^  \| .*\n(  \| .*\n)*`, "  | ...\n"},
		{`(?m)^     [a-z]+ +m\d+  .*\n(     [a-z]+ +m\d+  .*\n)*`, "     fact  mN  ...\n"},
		{`(?m)^     \d+ .*->.*\n(     \d+ .*->.*\n)*`, "     N results, edits, messages: N -> N tokens\n"},
		{`d:[0-9a-f]{8}`, "d:HANDLE"},
		{`[▁▂▃▄▅▆▇█]+`, "BARS"},
		{`[0-9][0-9,.]*[0-9]|[0-9]`, "N"},
		{` +\n`, "\n"},
		{`  +`, "  "},
	} {
		s = regexp.MustCompile(m[0]).ReplaceAllString(s, m[1])
	}
	return s
}

// The demo prints the same every time, to the byte, but for how long it took and for where its database is kept.
func TestDemoIsDeterministic(t *testing.T) {
	plain, err := plainDemo()
	second, err2 := keptDemo()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	const where = "\n  The database is demo.db. Try\n    decant show last --db demo.db\n    decant pour last --db demo.db --window 40000 --dry-run\n"
	if diff := cmp.Diff(plain.printed, strings.Replace(second.printed, where, "", 1)); diff != "" || !strings.Contains(second.printed, where) || len(second.left) != 1 {
		t.Errorf("the second run differs from the first, or does not say where the database is, or leaves %d files:\n%s", len(second.left), diff)
	}
}
