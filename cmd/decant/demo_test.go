package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// What the demo prints is the same on every machine, but for how long it took. It is the first thing
// that people see of Decant: look at the whole of it when it changes.
func TestDemo(t *testing.T) {
	var out, messages bytes.Buffer
	s := &streams{out: &out, err: &messages, width: 80}
	if code := run([]string{"demo"}, s); code != exitDone || messages.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, messages.String())
	}
	got := regexp.MustCompile(`took [0-9.]+ seconds`).ReplaceAll(out.Bytes(), []byte("took N seconds"))
	const name = "testdata/demo.golden"
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("go test ./cmd/decant -run Demo -update rewrites it (-want +got):\n%s", diff)
	}
	for i, line := range bytes.Split(got, []byte("\n")) {
		if n := len([]rune(string(line))); n > 84 {
			t.Errorf("line %d is %d columns wide: %s", i+1, n, line)
		}
	}
}
