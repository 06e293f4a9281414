//go:build unix

package main

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// newChannel returns a field whose runs are told in Slack, and a run in batches of one error that has no more to do than to end.
func newChannel(t *testing.T) *field {
	t.Helper()
	f := newField(t, nil)
	if r := f.triage("run", "--batch", "--since", "2026-10-21", "--max-errors", "1"); r.code != 0 {
		t.Fatalf("begin: exit %d\n%s", r.code, r.errs)
	}
	return f
}

// collected has what has come taken until there is nothing to wait for.
func (f *field) collected() ran {
	f.Helper()
	for range 12 {
		last := f.triage("run", "--batch", "--resume")
		if last.code != 0 {
			f.Fatalf("continued: exit %d\n%s", last.code, last.errs)
		}
		if !strings.Contains(last.out, "Not ready") {
			return last
		}
		if n := len(f.Slack.Messages()); n != 0 {
			f.Fatalf("%d messages before the run has ended", n)
		}
	}
	f.Fatal("the run does not end")
	return ran{}
}

// Where one process submits and later ones collect, the collect that ends a run sends what was found, once.
func TestWhatWasCollectedIsSent(t *testing.T) {
	f := newChannel(t)
	last := f.collected()
	if n := len(f.Slack.Messages()); n != 2 || !strings.Contains(last.out, "1 investigated") {
		t.Errorf("%d messages, want one about the run and a reply about the error\n%s\n%s", n, last.out, last.errs)
	}
	if r := f.triage("run", "--batch", "--resume"); r.code != 0 || !strings.Contains(r.errs, "no run waits") {
		t.Errorf("continued again: exit %d\n%s", r.code, r.errs)
	}
	if r := f.triage("deliver"); r.code != 0 || len(f.Slack.Messages()) != 2 {
		t.Errorf("delivered again: exit %d, %d messages\n%s", r.code, len(f.Slack.Messages()), r.errs)
	}
}

// The collect that ends a run is killed at its first call to Slack, the next one at the call after that, and so on. Each begins where the
// one before has died, and in the end everything was sent once.
func TestKilledBeforeItIsSent(t *testing.T) {
	f := newChannel(t)
	for range 4 { // those before the one that ends the run
		if r := f.triage("run", "--batch", "--resume"); r.code != 0 || len(f.Slack.Calls()) > 0 {
			t.Fatalf("continued: exit %d, calls %v\n%s", r.code, f.Slack.Calls(), r.errs)
		}
	}
	killed := 0
	for at := 1; at < 40; at++ {
		r := f.killedAtSlack(killed+1, "run", "--batch", "--resume")
		if r.code > 0 {
			t.Fatalf("continued: exit %d\n%s", r.code, r.errs)
		}
		if r.code < 0 {
			killed++
		} else if strings.Contains(r.errs, "no run waits") {
			break
		}
	}
	if n := len(f.Slack.Messages()); n != 2 || killed < 3 {
		t.Errorf("%d messages, want 2; %d processes were killed: %v", n, killed, f.Slack.Calls())
	}
}

// killedAtSlack runs the program, which is killed when its n-th call to Slack arrives.
func (f *field) killedAtSlack(n int, args ...string) ran {
	f.Helper()
	calls := 0
	return f.process(args, func(process *os.Process, _ int, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/api/0/") {
			if calls++; calls == n {
				process.Kill()
			}
		}
	})
}
