package team_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// Where the process of a team dies in the middle of delegations, the coordinator goes on in another one: its delegates, too, where
// they were, from the state that they began with, and one that had not said a word yet begins with that state.
func TestATeamGoesOnElsewhere(t *testing.T) {
	var held atomic.Bool
	stop := make(chan bool)
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case task(p) != "":
			return says(text("I look."), use("", "look", `{}`))
		case strings.HasPrefix(told(p), "Delegate"):
			return delegates(p, "marco", "sara")
		case len(sandboxtest.Results(p)) > 0:
			return says(text(strings.Join(sandboxtest.Results(p), " | ")))
		}
		return says(text("Noted."))
	}))
	looking := make(chan bool, 2)
	look := func(here string, hangs bool) agent.Tool {
		return agent.Tool{Name: "look", ReadOnly: true, Timeout: -1, Run: func(ctx context.Context, _ *agent.Call) (agent.Result, error) {
			if hangs {
				looking <- true
				<-stop
			}
			return agent.Result{Text: "seen " + here}, nil
		}}
	}
	options := func(here string, hangs bool) team.Options {
		db := w.open()
		return team.Options{
			Agent: agent.Options{Engine: db.Engine(), Journals: db.Store(), Tools: []agent.Tool{look(here, hangs)},
				Hooks: agent.Hooks{BeforeModel: func(ctx context.Context, body []byte) error {
					if hangs && strings.Contains(string(body), "Task sara") && held.CompareAndSwap(false, true) {
						looking <- true
						<-stop // she has been told her task, and nothing was sent
						return context.Canceled
					}
					return nil
				}}},
			Members: []team.Member{{Name: "marco", Description: "a"}, {Name: "sara", Description: "b"}},
		}
	}
	here := w.team(options("here", true)).Agent().Session("one")
	if _, _, err := ran(t, here.Run(t.Context(), "Remember this.")); err != nil {
		t.Fatal(err)
	}
	died := make(chan error)
	go func() {
		_, _, err := ran(t, here.Run(t.Context(), "Delegate."))
		died <- err
	}()
	<-looking
	<-looking
	there, err := w.team(options("there", false)).Agent().Open(t.Context(), "one")
	if err != nil || !there.Interrupted() {
		t.Fatalf("interrupted: %v, error %v", there.Interrupted(), err)
	}
	_, o, err := ran(t, there.Continue(t.Context()))
	if err != nil || strings.Count(o.Text, "answered") != 2 || strings.Count(o.Text, "seen there") != 2 || strings.Contains(o.Text, "seen here") {
		t.Errorf("outcome %+v, error %v", o, err)
	}
	close(stop)
	if err := <-died; err == nil {
		t.Error("both have gone on")
	}
	coordinator := received(t, w.find("Delegate.")[0].Body)
	for _, name := range []string{"marco", "sara"} {
		if sent := w.find("Task " + name); len(sent) != 1 {
			t.Errorf("%s was told the task %d times", name, len(sent))
		} else if r := received(t, sent[0].Body); !r.begins(&coordinator) {
			t.Errorf("%s does not begin with the snapshot", name)
		}
	}
	for _, d := range team.Ledger(there.Messages()) {
		if d.Outcome != "answered" || d.Turns != 2 || d.Projection != d.Snapshot || d.USD == 0 {
			t.Errorf("ledger: %+v", d)
		}
	}
	w.legal()
}
