//go:build unix

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/enginetest"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store"
)

// The environment of a process that runs an agent and kills itself.
const (
	victimFolder = "DECANT_TEST_VICTIM" // folder of its files; empty: this is no such process
	victimPoint  = "DECANT_TEST_POINT"  // which of the points that it comes by is its last; 0: none is
)

// A victim is a process that kills itself at one of the points that it comes by: before and after each step is written, and
// before and after each tool has its effect.
type victim struct {
	journals
	folder string
	last   int64
	at     atomic.Int64
}

// point kills the process if it is time.
func (v *victim) point() {
	if v.at.Add(1) == v.last {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal has come
	}
}

// AddSteps writes steps.
func (v *victim) AddSteps(ctx context.Context, a *store.Addition) error {
	v.point()
	defer v.point()
	return v.journals.AddSteps(ctx, a)
}

// tool returns a tool whose effect is a line in a file, with the id of its call.
func (v *victim) tool(name string) agent.Tool {
	return agent.Tool{Name: name, Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
		v.point()
		defer v.point()
		f, err := os.OpenFile(filepath.Join(v.folder, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, c.ID)
			err = errors.Join(err, f.Close())
		}
		return agent.Result{Text: "did " + c.ID}, err
	}}
}

// plan is what the model of a victim asks for, answer by answer.
var plan = [][]string{{"once", "once"}, {"look", "look"}, {"same"}, {"once", "same", "look"}, {"once"}, {"same", "once"}, {"look"}}

// planned is the model of a victim.
func planned(p *sandbox.Prompt) sandbox.Answer {
	n := p.Answers()
	if n >= len(plan) {
		return says(text("done"))
	}
	var blocks []sandbox.Block
	for i, name := range plan[n] {
		blocks = append(blocks, use(fmt.Sprintf("toolu_%d_%d", n, i), name, `{}`))
	}
	return says(blocks...)
}

// run works on the session until it ends, or the process does.
func (v *victim) run(ctx context.Context) (err error) {
	db, err := embedded.Open(ctx, filepath.Join(v.folder, "agent.db"), &embedded.Options{Engine: engine.Options{Timeouts: enginetest.Patient}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rt, stop := sandbox.New(sandbox.Options{Model: answers(planned)}).Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		return err
	}
	v.journals = db.Store()
	once, look, again := v.tool("once"), v.tool("look"), v.tool("same")
	look.ReadOnly, again.Idempotent = true, true
	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-4-5", Engine: db.Engine(), Journals: v, Tools: []agent.Tool{once, look, again}})
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, "s")
	events := s.Continue
	if errors.Is(err, store.ErrNotFound) {
		s, err = a.Session("s"), nil
		events = func(ctx context.Context) iter.Seq2[agent.Event, error] { return s.Run(ctx, "begin") }
	}
	if err != nil {
		return err
	}
	for _, err := range events(ctx) {
		if err != nil && !errors.Is(err, agent.ErrEnded) {
			return err
		}
	}
	out, err := json.Marshal(s.Messages())
	return errors.Join(err, os.WriteFile(filepath.Join(v.folder, "messages"), out, 0o600))
}

func init() {
	victimized = func() (int, bool) {
		if os.Getenv(victimFolder) == "" {
			return 0, false
		}
		return runVictim(), true
	}
}

// runVictim is what a victim's process does in place of tests. It returns its exit code.
func runVictim() int {
	last, err := strconv.ParseInt(os.Getenv(victimPoint), 10, 64)
	if err == nil {
		err = (&victim{folder: os.Getenv(victimFolder), last: last}).run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// spawn runs a victim and reports whether it was killed.
func spawn(t *testing.T, folder string, point int) (killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimFolder+"="+folder, victimPoint+"="+strconv.Itoa(point))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("killed at point %d: %v\n%s", point, err, out)
	}
	return false
}

// Wherever a process is killed, and killed again, no call of a tool that must not be made twice is made twice, and none is lost: the
// model is told of each what came of it, or that nobody knows. There are 100 points at least.
func TestAKilledRunGoesOn(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 9
	}
	points, killed := 0, 0
	for first, ended := 1, false; !ended; first += stride {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			folder := t.TempDir()
			if !spawn(t, folder, first) {
				ended = true
			}
			if !ended {
				points++
				if spawn(t, folder, 1+first*7%31) { // the one that goes on is killed, too, early or late
					killed++
				}
				spawn(t, folder, 0)
			}
			examine(t, folder)
		})
	}
	t.Logf("killed at %d points, and %d times again", points, killed)
	if points < 100/stride {
		t.Errorf("processes were killed at %d points, want %d", points, 100/stride)
	}
}

// examine compares what tools have done with what the model was told of it.
func examine(t *testing.T, folder string) {
	t.Helper()
	done := map[string][]string{}
	for _, name := range []string{"once", "look", "same"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		done[name] = strings.Fields(string(data))
	}
	told := resultsIn(t, filepath.Join(folder, "messages"))
	asked := 0
	for n, names := range plan {
		for i, name := range names {
			asked++
			id := fmt.Sprintf("toolu_%d_%d", n, i)
			times := 0
			for _, d := range done[name] {
				if d == id {
					times++
				}
			}
			switch r, ok := told[id]; {
			case !ok:
				t.Errorf("the model is told nothing of %s", id)
			case name == "once" && times > 1:
				t.Errorf("%s was made %d times", id, times)
			case r == "did "+id && times == 0 || r != "did "+id && name != "once":
				t.Errorf("%s was made %d times, and the model is told %q", id, times, r)
			case r != "did "+id && !strings.Contains(r, "It is not known whether"):
				t.Errorf("the model is told of %s: %q", id, r)
			}
		}
	}
	if len(told) != asked {
		t.Errorf("%d results of %d calls", len(told), asked)
	}
}

// resultsIn returns the results in a file of messages, by their calls.
func resultsIn(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var messages []struct {
		Content []struct {
			Type    string `json:"type"`
			ID      string `json:"tool_use_id"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"content"`
	}
	if err := json.Unmarshal(data, &messages); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" && len(b.Content) == 1 {
				out[b.ID] = b.Content[0].Text
			}
		}
	}
	return out
}
