//go:build unix

package team_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
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

// What coordinator and delegates ask for, answer by answer.
var (
	coordinates = [][]string{{"once"}, {"marco", "sara", "luca"}, {"same", "once"}, {"sara", "marco"}, {"once"}}
	works       = [][]string{{"once", "same"}, {"look", "look"}, {"once"}}
)

// members of the team.
var members = []team.Member{{Name: "marco", Description: "a"}, {Name: "sara", Description: "b"}, {Name: "luca", Description: "c"}}

// callID returns the id of a call: who asks for it, in which answer, at which place.
func callID(who string, n, i int) string { return fmt.Sprintf("toolu_%s_%d_%d", who, n, i) }

// planned is the model of a victim. It knows what it is sent, and nothing else.
func planned(p *sandbox.Prompt) sandbox.Answer {
	who, n := "coordinator", 0
	for _, m := range p.Messages {
		if m.Role == "assistant" {
			n++
		}
		for _, b := range m.Blocks {
			if _, task, ok := strings.Cut(b.Text, "The task:\n"); ok && m.Role == "user" {
				who, n = strings.TrimSpace(task), 0
			}
		}
	}
	plan := works
	if who == "coordinator" {
		plan = coordinates
	}
	if n >= len(plan) {
		return says(text(who + " is done"))
	}
	var blocks []sandbox.Block
	for i, name := range plan[n] {
		tool, input := name, `{}`
		if slices.ContainsFunc(members, func(m team.Member) bool { return m.Name == name }) {
			tool, input = "delegate", fmt.Sprintf(`{"to":%q,"task":"%s%d"}`, name, name, n)
		}
		blocks = append(blocks, use(callID(who, n, i), tool, input))
	}
	return says(blocks...)
}

func init() { killtest.Main(work) } // before any test

// work works on the session until it ends, or the process does: coordinator and delegates together.
func work(ctx context.Context, v *killtest.Victim) (err error) {
	db, err := embedded.Open(ctx, filepath.Join(v.Folder, "team.db"), &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
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
	once, look, same := effect(v, "once"), effect(v, "look"), effect(v, "same")
	look.ReadOnly, same.Idempotent = true, true
	t, err := team.New(client, team.Options{
		Agent:   agent.Options{Model: "claude-sonnet-4-5", System: "You coordinate.", Engine: db.Engine(), Journals: v.Journals(), Tools: []agent.Tool{once, look, same}},
		Members: members,
	})
	if err != nil {
		return err
	}
	s, err := t.Agent().Open(ctx, "s")
	if errors.Is(err, store.ErrNotFound) {
		s = t.Agent().Session("s")
		err = finished(s.Run(ctx, "begin"))
	} else if err == nil {
		err = finished(s.Continue(ctx))
	}
	if err != nil {
		return err
	}
	return report(ctx, v, t)
}

// effect returns a tool that has an effect.
func effect(v *killtest.Victim, name string) agent.Tool {
	return agent.Tool{Name: name, Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
		text, err := v.Do(name, c.ID)
		return agent.Result{Text: text}, err
	}}
}

// finished reads a run to its end.
func finished(events iter.Seq2[agent.Event, error]) error {
	for e, err := range events {
		if err != nil && !errors.Is(err, agent.ErrEnded) {
			return err
		}
		if o := e.Outcome; err == nil && o != nil && o.Stop != agent.StopAnswered {
			return fmt.Errorf("the run has ended with %s", o.Stop)
		}
	}
	return nil
}

// report writes down what was said in all sessions, and how many points there were.
func report(ctx context.Context, v *killtest.Victim, t *team.Team) error {
	all, err := t.Agent().Sessions(ctx, time.Time{}, 0)
	if err != nil {
		return err
	}
	said := map[string][]stdjson.RawMessage{}
	for i := range all {
		s, err := t.Agent().Open(ctx, all[i].ID)
		if err != nil {
			return err
		}
		said[all[i].ID] = s.Messages()
	}
	out, err := json.Marshal(said)
	return errors.Join(err, os.WriteFile(filepath.Join(v.Folder, "said"), out, 0o600),
		os.WriteFile(filepath.Join(v.Folder, "points"), []byte(strconv.FormatInt(v.Points(), 10)), 0o600))
}

// Wherever the process of a coordinator and its delegates is killed by SIGKILL, and what goes on with it is killed again, nothing that must not be
// done twice is done twice, and nothing is lost: who asked for it is told what came of it, or that nobody knows; each task is delegated once.
func TestAKilledTeamGoesOn(t *testing.T) {
	whole := t.TempDir()
	if killtest.Spawn(t, whole, 0) {
		t.Fatal("a process that nobody kills was killed")
	}
	examine(t, whole, 0)
	data, err := os.ReadFile(filepath.Join(whole, "points"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := strconv.Atoi(string(data))
	if err != nil || points < 80 {
		t.Fatalf("%d points, %v", points, err)
	}
	n := testkit.Depth(4, 80)
	seed := rand.Uint64()
	t.Logf("seed %d, %d points", seed, points)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		first, second := 1+(i*points+r.IntN(points))/n, 1+r.IntN(points) // one somewhere in each part of the run
		t.Run(fmt.Sprintf("%d and %d", first, second), func(t *testing.T) {
			folder, killed := t.TempDir(), 0
			for _, point := range []int{first, second} {
				if killtest.Spawn(t, folder, point) {
					killed++
				}
			}
			killtest.Spawn(t, folder, 0)
			examine(t, folder, killed)
		})
	}
}

// A said thing is a message as the test reads it. It shares no code with what is tested.
type said struct {
	Role    string
	Content []struct {
		Type    string
		ID      string
		Name    string
		Use     string `json:"tool_use_id"`
		Content []struct{ Text string }
	}
}

// examine compares what tools have done with what those who asked for it were told. Each process that was killed may leave one outcome of each
// member unknown.
func examine(t *testing.T, folder string, killed int) {
	t.Helper()
	asked, told := calls(t, folder)
	done := killtest.Done(t, folder, "once", "look", "same")
	unknown := 0
	for id, name := range asked {
		if name != "delegate" {
			if killtest.Judge(t, id, told[id], done[id], name != "once") {
				unknown++
			}
		} else if r := told[id]; !strings.Contains(r, ": answered; ") || !strings.Contains(r, " is done") {
			t.Errorf("of delegation %s the coordinator is told %q", id, r)
		}
	}
	if most := killed * (len(members) + 1); unknown > most {
		t.Errorf("of %d calls nobody knows what came, after %d kills", unknown, killed)
	}
	for id, name := range expected() {
		if asked[id] != name {
			t.Errorf("%s was never asked for, though it was to be", id)
		}
		delete(asked, id)
	}
	for id := range asked {
		t.Errorf("%s was asked for once too often", id)
	}
}

// expected returns the calls that the plan asks for, by their ids, each task being worked on once.
func expected() map[string]string {
	out := map[string]string{}
	add := func(who string, plan [][]string) (tasks []string) {
		for n, names := range plan {
			for i, name := range names {
				if out[callID(who, n, i)] = name; slices.ContainsFunc(members, func(m team.Member) bool { return m.Name == name }) {
					out[callID(who, n, i)] = "delegate"
					tasks = append(tasks, fmt.Sprint(name, n))
				}
			}
		}
		return tasks
	}
	for _, task := range add("coordinator", coordinates) {
		add(task, works)
	}
	return out
}

// calls returns the tools of the calls in all sessions, and their results, by their ids. What a delegate begins with is its coordinator's: only
// what follows is its own. A call that two sessions make is an error.
func calls(t *testing.T, folder string) (asked, told map[string]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "said"))
	if err != nil {
		t.Fatal(err)
	}
	var sessions map[string][]said
	if err := json.Unmarshal(data, &sessions, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	asked, told = map[string]string{}, map[string]string{}
	by := map[string]string{}
	for id, messages := range sessions {
		for _, m := range messages {
			for _, b := range m.Content {
				own := strings.HasPrefix(b.ID+b.Use, "toolu_coordinator_") == (id == "s")
				switch {
				case !own:
				case b.Type == "tool_use" && by[b.ID] != "":
					t.Errorf("%s and %s both ask for %s", by[b.ID], id, b.ID)
				case b.Type == "tool_use":
					asked[b.ID], by[b.ID] = b.Name, id
				case b.Type == "tool_result" && told[b.Use] != "":
					t.Errorf("%s has two results", b.Use)
				case b.Type == "tool_result":
					for _, c := range b.Content {
						told[b.Use] += c.Text
					}
				}
			}
		}
	}
	return asked, told
}
