//go:build unix

package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/killtest"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

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

func init() { killtest.Main(work) } // before any test

// work works on the session until it ends, or the process does.
func work(ctx context.Context, v *killtest.Victim) (err error) {
	db, err := embedded.Open(ctx, filepath.Join(v.Folder, "agent.db"), &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rt, stop := sandbox.New(sandbox.Options{Model: sandboxtest.Model(planned)}).Pipe()
	defer stop()
	client, err := anthropic.New(anthropic.Options{Base: "http://sandbox", Transport: rt, Credential: provider.Key("x-api-key", "test")})
	if err != nil {
		return err
	}
	v.Journal = db.Store()
	once, look, again := effect(v, "once"), effect(v, "look"), effect(v, "same")
	look.ReadOnly, again.Idempotent = true, true
	a, err := New(client, Options{Model: "claude-sonnet-4-5", Engine: db.Engine(), Journals: v.Journals(), Tools: []Tool{once, look, again}})
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, "s")
	events := s.Continue
	if errors.Is(err, store.ErrNotFound) {
		s, err = a.Session("s"), nil
		events = func(ctx context.Context) iter.Seq2[Event, error] { return s.Run(ctx, "begin") }
	}
	if err != nil {
		return err
	}
	for _, err := range events(ctx) {
		if err != nil && !errors.Is(err, ErrEnded) {
			return err
		}
	}
	out, err := json.Marshal(s.Messages())
	return errors.Join(err, os.WriteFile(filepath.Join(v.Folder, "messages"), out, 0o600))
}

// effect returns a tool that has an effect.
func effect(v *killtest.Victim, name string) Tool {
	return Tool{Name: name, Run: func(_ context.Context, c *Call) (Result, error) {
		text, err := v.Do(name, c.ID)
		return Result{Text: text}, err
	}}
}

// Wherever a process is killed, and killed again, no call of a tool that must not be made twice is made twice, and none is lost: the
// model is told of each what came of it, or that nobody knows. There are 100 points at least.
func TestAKilledRunGoesOn(t *testing.T) {
	stride := testkit.Depth(23, 1)
	points, killed := 0, 0
	for first, ended := 1, false; !ended; first += stride {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			folder := t.TempDir()
			if !killtest.Spawn(t, folder, first) {
				ended = true
			}
			if !ended {
				points++
				if killtest.Spawn(t, folder, 1+first*7%31) { // the one that goes on is killed, too, early or late
					killed++
				}
				killtest.Spawn(t, folder, 0)
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
	done := killtest.Done(t, folder, "once", "look", "same")
	told := resultsIn(t, filepath.Join(folder, "messages"))
	asked := 0
	for n, names := range plan {
		for i, name := range names {
			asked++
			id := fmt.Sprintf("toolu_%d_%d", n, i)
			if _, ok := told[id]; !ok {
				t.Errorf("the model is told nothing of %s", id)
			} else {
				killtest.Judge(t, id, told[id], done[id], name != "once")
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
