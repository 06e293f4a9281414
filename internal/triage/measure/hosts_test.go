package measure_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/testdepth"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/event"
	"github.com/decantdev/decant/internal/triage/sample"
)

// A host is a program in which mutations are made.
type host struct {
	name    string
	files   map[string]string // by their names
	mapping []code.Mapping    // of the files in its stacks
	run     func(t *testing.T, dir string) []event.Event
}

// hosts returns the programs: two that were written for this, and the newest releases of those of the sample.
func hosts(t *testing.T) []*host {
	t.Helper()
	desk := read(t, "testdata/hosts/desk")
	desk["go.mod"] = desk["go.mod.txt"]
	delete(desk, "go.mod.txt")
	feed := &host{name: "feed", files: read(t, "testdata/hosts/feed"), mapping: []code.Mapping{{From: "/srv/feed/"}}, run: func(t *testing.T, dir string) []event.Event {
		return ran(t, dir, "input.txt", "python3", "worker.py")
	}}
	if !testdepth.Full() { // the others are compiled anew for each mutation
		return []*host{feed}
	}
	out := []*host{{name: "desk", files: desk, mapping: []code.Mapping{{From: "github.com/acme/desk/"}}, run: goProgram("input.txt")}, feed}
	return append(out, sampled(t)...)
}

// sampled returns the programs of the sample, with what they are run on.
func sampled(t *testing.T) []*host {
	t.Helper()
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	repos, err := s.Repos(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	address := paid(t)
	var out []*host
	for _, r := range repos {
		input := "../sample/testdata/record/orders-v1.2.0.jsonl"
		h := &host{name: strings.TrimPrefix(r.Name, "acme/"), files: read(t, r.Dir), mapping: r.Paths, run: goProgram("input.txt")}
		if h.name == "billing" {
			input = "../sample/testdata/record/billing-v2.2.0.jsonl"
			h.files["settings.ini"] = regexp.MustCompile(`(?m)^address = .*$`).ReplaceAllString(h.files["settings.ini"], "address = "+address)
			h.run = func(t *testing.T, dir string) []event.Event { return ran(t, dir, "input.txt", "python3", "worker.py") }
		}
		data, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		h.files["input.txt"] = string(data)
		out = append(out, h)
	}
	return out
}

// paid returns the address of a payment provider that answers soon.
func paid(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					time.Sleep(30 * time.Millisecond)
					c.Write([]byte(`{"status":"ok","reference":"r-1"}` + "\n"))
				}
			}()
		}
	}()
	return l.Addr().String()
}

// read returns the files of a folder.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || d.Name() == "__pycache__" {
			return cmpSkip(d, err)
		}
		if d.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func cmpSkip(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

// goProgram returns what builds a program in Go and runs it. What does not compile has no errors.
func goProgram(input string) func(*testing.T, string) []event.Event {
	return func(t *testing.T, dir string) []event.Event {
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", "program.exe", ".")
		c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off")
		if _, err := os.Stat(filepath.Join(dir, "vendor")); err == nil {
			c.Env = append(c.Env, "GOFLAGS=-mod=vendor")
		}
		if c.Run() != nil {
			return nil
		}
		return ran(t, dir, input, filepath.Join(dir, "program.exe"))
	}
}

// ran runs a program and returns the errors that it has written down.
func ran(t *testing.T, dir, input, name string, args ...string) (out []event.Event) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	in, err := os.ReadFile(filepath.Join(dir, input))
	if err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Stdin = dir, bytes.NewReader(in)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	said, err := c.Output()
	if err != nil {
		return nil // it does not run at all, which no monitoring would report
	}
	for l := range bytes.Lines(said) {
		var e event.Event
		if json.Unmarshal(l, &e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// with runs the program with one file replaced; an empty name: none.
func (h *host) with(t *testing.T, name, text string) []event.Event {
	t.Helper()
	dir := t.TempDir()
	for n, was := range h.files {
		if n == name {
			was = text
		}
		at := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h.run(t, dir)
}
