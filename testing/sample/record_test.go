package sample_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/testing/sample"
	"github.com/decantdev/decant/testing/testkit"
)

var record = flag.Bool("record", false, "write shop/events.jsonl anew")

// What is bundled as events is what running the programs brings.
func TestRecord(t *testing.T) {
	if !*record {
		testkit.NeedFull(t, "what is bundled as events is what running the programs brings")
	}
	t.Parallel()
	for _, program := range []string{"git", "go", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			if *record {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	s, err := sample.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if _, err := s.Repos(folder); err != nil {
		t.Fatal(err)
	}
	inputs, err := filepath.Glob("testdata/record/*.jsonl")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("nothing to run: %v", err)
	}
	var lines []string
	for _, input := range inputs {
		program, release, _ := strings.Cut(strings.TrimSuffix(filepath.Base(input), ".jsonl"), "-")
		at := checkout(t, folder, program, release)
		out := map[string]func(*testing.T, string, string, string) string{"orders": runOrders, "billing": runBilling}[program](t, at, release, input)
		lines = append(lines, strings.FieldsFunc(out, func(c rune) bool { return c == '\n' })...)
	}
	slices.SortStableFunc(lines, func(a, b string) int { return eventOf(t, a).Time.Compare(eventOf(t, b).Time) })
	if *record {
		if err := os.WriteFile("shop/events.jsonl", []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := s.Events()
	if err != nil || len(kept) != len(lines) {
		t.Fatalf("%d events are kept, %d came: %v", len(kept), len(lines), err)
	}
	for i, l := range lines {
		if got, want := essence(eventOf(t, l)), essence(kept[i]); got != want {
			t.Errorf("event %s is kept as\n%s\nand came as\n%s", kept[i].ID, want, got)
		}
	}
}

// eventOf reads an event.
func eventOf(t *testing.T, line string) source.Event {
	t.Helper()
	var e source.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return e
}

// essence returns what of an event has nothing to do with the versions of Go and Python that were used.
func essence(e source.Event) string {
	parts := []string{e.ID, e.Service, e.Release, e.Class, e.Transaction}
	for _, f := range e.Frames {
		if f.InApp {
			data, _ := json.Marshal(f)
			parts = append(parts, string(data))
		}
	}
	return strings.Join(parts, "\n")
}

// checkout returns a folder with a program as it was at a release.
func checkout(t *testing.T, folder, program, release string) string {
	t.Helper()
	made, err := filepath.Glob(filepath.Join(folder, "acme-"+program+"-*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("%v, %v", made, err)
	}
	dir := filepath.Join(t.TempDir(), program)
	command(t, "", nil, "git", "-c", "advice.detachedHead=false", "clone", "-q", "--branch", release, made[0], dir)
	return dir
}

// command runs a program and returns what it prints.
func command(t *testing.T, dir string, in []byte, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Stdin = dir, bytes.NewReader(in)
	c.Env = append(os.Environ(), "GOFLAGS=-mod=vendor", "GOTOOLCHAIN=local", "GOWORK=off", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
	}
	return string(out)
}

// input reads what a program is to be run on.
func input(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func runOrders(t *testing.T, dir, release, name string) string {
	program := filepath.Join(dir, "orders.exe")
	command(t, dir, nil, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, ".")
	return command(t, dir, input(t, name), program, "-release", release)
}

// runBilling runs the worker with a payment provider.
func runBilling(t *testing.T, dir, release, name string) string {
	settings := string(input(t, filepath.Join(dir, "settings.ini")))
	waits := strings.Contains(settings, "retry_ms") // since when the worker is impatient, by mistake
	for expression, line := range map[string]string{
		`(?m)^address = .*$`: "address = " + provider(t, waits), `(?m)^timeout = .*$`: "timeout = 60", `(?m)^timeout_ms = .*$`: "timeout_ms = 60000",
		`(?m)^retry_ms = .*$`: "retry_ms = 10000", // a quick answer must come in time, on a busy machine too
	} {
		settings = regexp.MustCompile(expression).ReplaceAllString(settings, line)
	}
	at := filepath.Join(dir, "test.ini")
	if err := os.WriteFile(at, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return command(t, dir, input(t, name), "python3", "worker.py", "--release", release, "--settings", at)
}

// provider returns the address of a payment provider: slow ones are not answered if the worker waits too short, and those that are to be reset are.
func provider(t *testing.T, silent bool) string {
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
			go serve(c.(*net.TCPConn), silent)
		}
	}()
	return l.Addr().String()
}

// serve answers one client.
func serve(c *net.TCPConn, silent bool) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		switch text := in.Text(); {
		case strings.Contains(text, "slow-") && silent:
			continue // until the worker has waited long enough
		case strings.Contains(text, "reset-"):
			c.SetLinger(0)
			return
		}
		c.Write([]byte(`{"status":"ok","reference":"r-1"}` + "\n"))
	}
}
