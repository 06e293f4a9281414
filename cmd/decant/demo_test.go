package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// runDemo runs the demo and returns what it printed, without the time that it took, and what went wrong.
func runDemo() (printed, fault string) {
	var out, messages bytes.Buffer
	if code := run([]string{"demo"}, &streams{out: &out, err: &messages, width: 80}); code != exitDone || messages.Len() > 0 {
		return "", fmt.Sprintf("exit code %d: %s", code, messages.String())
	}
	return regexp.MustCompile(`took [0-9.]+ seconds`).ReplaceAllString(out.String(), "took N seconds"), ""
}

var firstDemo = sync.OnceValues(runDemo) // of a demo that all tests share

// demoOutput returns what a demo printed.
func demoOutput(t *testing.T, demo func() (printed, fault string)) string {
	t.Helper()
	printed, fault := demo()
	if fault != "" {
		t.Fatal(fault)
	}
	return printed
}

// The demo is the first thing that people see of Decant: look at the whole of it when it changes.
// Numbers and quotations are masked, so that a better summary does not change the golden file.
func TestDemo(t *testing.T) {
	got := demoOutput(t, firstDemo)
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

// The demo prints the same every time, to the byte, but for how long it took.
func TestDemoIsDeterministic(t *testing.T) {
	if diff := cmp.Diff(demoOutput(t, firstDemo), demoOutput(t, runDemo)); diff != "" {
		t.Errorf("the second run differs from the first:\n%s", diff)
	}
}
