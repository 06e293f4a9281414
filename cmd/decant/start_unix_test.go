//go:build unix

package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// mostStartAllocs is how many allocations packages may make before main begins, those of the tests included. Each hook of an editor
// starts the program once more, so what gets ready must be what is needed: a regular expression for one command is compiled when it is
// first used, and no dependency compiles schemas as it is loaded.
const mostStartAllocs = 12_000

func TestPackagesGetReadyCheaply(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = []string{"decant", "notebook", "hook", "SessionEnd"} // by this name the test's own program is the command
	c.Env, c.Stdin = append(os.Environ(), "GODEBUG=inittrace=1"), strings.NewReader("{}")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	total, packages := 0, 0
	for line := range strings.Lines(said.String()) {
		words := strings.Fields(line) // init PATH @1.2 ms, 0.34 ms clock, 4000 bytes, 50 allocs
		if len(words) < 2 || words[0] != "init" || words[len(words)-1] != "allocs" {
			continue
		}
		n, err := strconv.Atoi(words[len(words)-2])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		total, packages = total+n, packages+1
	}
	if packages < 20 || total > mostStartAllocs {
		t.Errorf("%d packages made %d allocations, want at most %d:\n%s", packages, total, mostStartAllocs, said.String())
	}
	t.Logf("%d packages, %d allocations", packages, total)
}
