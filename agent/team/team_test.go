package team_test

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// The coordinator delegates, three delegates work at the same time from the state that it delegated with, and it goes on with what they
// answer. Two of them have its tools and its model: the provider reads what they begin with from its cache.
func TestATeamWorks(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case len(sandboxtest.Results(p)) > 0 && strings.HasPrefix(sandboxtest.Results(p)[0], "delegation "):
			return says(text("All: " + strings.Join(sandboxtest.Results(p), " | ")))
		case len(sandboxtest.Results(p)) > 0:
			return says(text("It is " + sandboxtest.Results(p)[0]))
		case task(p) != "":
			return says(use("", "meet", `{}`))
		}
		return delegates(p, "marco", "sara", "leo")
	}))
	var meeting sync.WaitGroup
	meeting.Add(3)
	meet := agent.Tool{Name: "meet", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
		meeting.Done()
		meeting.Wait()
		return agent.Result{Text: "met"}, nil
	}}
	var mu sync.Mutex
	heard := map[string]team.Delegation{}
	x := w.team(team.Options{
		Agent: agent.Options{System: strings.Repeat("You coordinate, and you are careful. ", 300), Tools: []agent.Tool{meet, readsMuch(100)}},
		Members: []team.Member{
			{Name: "marco", Description: "checks figures", Prompt: "You check figures."},
			{Name: "sara", Description: "checks words"},
			{Name: "leo", Description: "draws", Prompt: "You draw.", Tools: []string{"Meet"}, Model: "claude-haiku-4-5", Window: 100_000},
		},
		Heard: func(d team.Delegation, e agent.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Outcome != nil {
				heard[d.To] = d
			}
		},
	})
	s := x.Agent().Session("")
	all, o, err := ran(t, s.Run(t.Context(), "Is the report right?"))
	if err != nil || o.Stop != agent.StopAnswered || strings.Count(o.Text, "answered; 2 turns") != 3 || strings.Count(o.Text, "It is met") != 3 {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	if !slices.ContainsFunc(all, func(e agent.Event) bool { return e.Kind == agent.EventProgress && e.Text == "marco calls meet" }) {
		t.Error("nobody was told what marco does")
	}
	coordinator := received(t, w.find("Is the report right?")[0].Body)
	for _, name := range []string{"marco", "sara", "leo"} {
		e := w.find("Task " + name)[0]
		r := received(t, e.Body)
		same := r.model == coordinator.model && r.tools == coordinator.tools && r.system == coordinator.system
		switch {
		case !r.begins(&coordinator) || len(r.messages) != len(coordinator.messages)+1:
			t.Errorf("%s does not begin with the snapshot", name)
		case same != (name != "leo"), same && e.Usage.CacheRead == 0:
			t.Errorf("%s: the same request up to the task: %v, %d tokens read from the cache", name, same, e.Usage.CacheRead)
		case name == "leo" && (r.system != coordinator.system+"\n\nYou draw." || strings.Contains(r.tools, "delegate") || r.model != "claude-haiku-4-5"):
			t.Errorf("leo works with %s and %s: %s", r.model, r.tools, r.system)
		case name == "marco" && !strings.Contains(r.messages[len(r.messages)-1], "You check figures."):
			t.Error("marco was not told his prompt")
		}
		if d := heard[name]; len(d.Snapshot) != 64 || (d.Projection == d.Snapshot) != true {
			t.Errorf("%s: %+v", name, d)
		}
	}
	ledger := team.Ledger(s.Messages())
	if len(ledger) != 3 || ledger[2].To != "leo" || ledger[2].Outcome != "answered" || ledger[0].Tokens == 0 || ledger[0].USD == 0 || ledger[0].Snapshot != heard["leo"].Snapshot[:12] {
		t.Errorf("ledger %+v", ledger)
	}
	w.legal()
}

// What cannot be delegated, and a delegate that fails, is refused, has no budget or would have to ask somebody, is a result that says
// so; the coordinator goes on.
func TestAFailureIsAResult(t *testing.T) {
	for name, c := range map[string]struct {
		member team.Member
		call   string
		does   sandbox.Answer
		want   string
	}{
		"nobody":     {call: `{"to":"nina","task":"x"}`, want: `nobody called "nina"; there are: marco`},
		"no task":    {call: `{"to":"marco","task":" "}`, want: "the task is empty"},
		"no answer":  {call: `{"to":"marco","task":"x"}`, does: sandbox.Answer{Blocks: []sandbox.Block{text("No.")}, Stop: "refusal"}, want: "to marco: refused"},
		"no budget":  {call: `{"to":"marco","task":"x"}`, member: team.Member{Budget: agent.Budget{Tokens: 100}}, want: "to marco: failed"},
		"no depth":   {call: `{"to":"marco","task":"x"}`, does: says(use("", "delegate", `{"to":"marco","task":"y"}`)), want: "do it yourself"},
		"no person":  {call: `{"to":"marco","task":"x"}`, does: says(use("", "write", `{}`)), want: "a delegate cannot ask"},
		"few turns":  {call: `{"to":"marco","task":"x"}`, does: says(use("", "read", `{}`)), member: team.Member{Turns: 1}, want: "to marco: turns; 1 turns"},
		"no request": {call: `{"to":"marco","task":"x"}`, does: sandbox.Answer{Stop: "invalid"}, want: "to marco: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
				switch {
				case len(sandboxtest.Results(p)) > 0:
					return says(text(sandboxtest.Results(p)[0]))
				case p.Choice == "none":
					return says(text("That is all."))
				case task(p) != "":
					return c.does
				}
				return says(use("", "delegate", c.call))
			}))
			write := agent.Tool{Name: "write", Ask: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
				t.Error("nobody has allowed it")
				return agent.Result{}, nil
			}}
			c.member.Name, c.member.Description = "marco", "works"
			x := w.team(team.Options{Agent: agent.Options{Tools: []agent.Tool{write, readsMuch(100)}}, Members: []team.Member{c.member}})
			_, o, err := ran(t, x.Agent().Run(t.Context(), "Delegate."))
			if err != nil || o.Stop != agent.StopAnswered || !strings.Contains(o.Text, c.want) {
				t.Errorf("outcome %+v, error %v, want %q", o, err, c.want)
			}
			w.legal()
		})
	}
}

// What all of them may use together is never overrun, each delegate keeps to its own budget, and each that had room for a request ends with its
// final answer, as the coordinator does.
func TestDelegatesShareAnAllowance(t *testing.T) {
	for most := 40_000; most <= 100_000; most += 20_000 {
		w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
			switch {
			case p.Choice == "none":
				return says(text("That is all."))
			case task(p) == "" && len(p.Messages) == 1:
				return delegates(p, "marco", "sara", "leo")
			}
			return says(use("", "read", `{}`))
		}))
		var members []team.Member
		for _, name := range []string{"marco", "sara", "leo"} {
			members = append(members, team.Member{Name: name, Description: "reads", Budget: agent.Budget{Tokens: 15_000}})
		}
		x := w.team(team.Options{Members: members, Agent: agent.Options{
			Tools: []agent.Tool{readsMuch(4000)}, MaxTokens: 500, Allowance: agent.NewAllowance(agent.Budget{Tokens: most})}})
		s := x.Agent().Session("")
		_, o, err := ran(t, s.Run(t.Context(), "Delegate."))
		if err != nil || !o.Forced || o.Text != "That is all." {
			t.Errorf("allowance %d: outcome %+v, error %v", most, o, err)
		}
		sum := o.Spent.Tokens()
		for _, d := range team.Ledger(s.Messages()) {
			if sum += d.Tokens; d.Tokens > 15_000 || d.Outcome != "budget" && d.Tokens > 0 {
				t.Errorf("allowance %d: %+v", most, d)
			}
		}
		if sum > most || sum < most/3 {
			t.Errorf("%d of %d tokens are used", sum, most)
		}
		w.legal()
	}
}

// A delegate begins with what the provider has counted for the coordinator. So its budget has room for a call where that fits, although
// twice an estimate of what it begins with does not.
func TestADelegateKnowsHowMuchItBeginsWith(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case task(p) == "" && len(p.Messages) == 1:
			return delegates(p, "marco")
		case task(p) != "" && p.Choice != "none":
			return says(use("", "read", `{}`))
		}
		return says(text("That is all."))
	}))
	x := w.team(team.Options{
		Members: []team.Member{{Name: "marco", Description: "reads", Budget: agent.Budget{Tokens: 28_000}}},
		Agent:   agent.Options{Tools: []agent.Tool{readsMuch(400)}, MaxTokens: 500},
	})
	s := x.Agent().Session("")
	if _, _, err := ran(t, s.Run(t.Context(), "Delegate. "+strings.Repeat("some words ", 3100))); err != nil {
		t.Fatal(err)
	}
	l := team.Ledger(s.Messages())
	if len(l) != 1 || l[0].Turns < 2 || l[0].Tokens > 28_000 {
		t.Errorf("%+v: want the call and the final answer behind it", l)
	}
	w.legal()
}

// The coordinator's run ends, its delegates end with it, and it goes on afterwards.
func TestDelegatesEndWithTheRun(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case task(p) != "":
			return says(use("", "hang", `{}`))
		case strings.HasPrefix(told(p), "Delegate"):
			return delegates(p, "marco", "marco")
		}
		return says(text("Here."))
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var hanging sync.WaitGroup
	hanging.Add(2)
	go func() { hanging.Wait(); cancel() }()
	hang := agent.Tool{Name: "hang", ReadOnly: true, Run: func(ctx context.Context, _ *agent.Call) (agent.Result, error) {
		hanging.Done()
		<-ctx.Done()
		return agent.Result{}, ctx.Err()
	}}
	x := w.team(team.Options{Agent: agent.Options{Tools: []agent.Tool{hang}}, Members: []team.Member{{Name: "marco", Description: "waits"}}})
	s := x.Agent().Session("")
	if _, o, _ := ran(t, s.Run(ctx, "Delegate.")); o.Stop != agent.StopCancelled {
		t.Errorf("outcome %+v", o)
	}
	if l := team.Ledger(s.Messages()); len(l) != 2 || l[0].Outcome == "answered" {
		t.Errorf("ledger %+v", l)
	}
	if _, o, err := ran(t, s.Run(t.Context(), "Are you there?")); err != nil || o.Text != "Here." {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
	w.legal()
}

// However much is poured after a delegation, the model has the ledger before it, and can read every answer.
func TestTheLedgerSurvivesEveryPour(t *testing.T) {
	n := 0
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		switch {
		case task(p) != "":
			return says(text("RESULT " + task(p) + strings.Repeat(" and so on", 500) + " END"))
		case len(sandboxtest.Results(p)) > 0:
			return says(text("Read."))
		case strings.HasPrefix(told(p), "Delegate"):
			return delegates(p, "marco")
		case strings.HasPrefix(told(p), "Recall "):
			words := strings.Fields(told(p)) // a reminder may follow
			return says(use("", "delegation", fmt.Sprintf(`{"id":%q,"offset":%s}`, words[1], words[2])))
		case strings.HasPrefix(told(p), "List"):
			return says(use("", "delegation", `{}`))
		}
		n++
		return says(use(fmt.Sprintf("toolu_%d", n), "read", `{}`))
	}))
	narrow, err := preset.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	narrow.Trigger.Window = 40_000
	o := agent.Options{Tools: []agent.Tool{readsMuch(12_000)}, Journals: w.db.Store(), Preset: narrow, MaxTokens: 2500, Remind: func([]stdjson.RawMessage) string { return "And the rules." }}
	members := []team.Member{{Name: "marco", Description: "works"}}
	s := w.team(team.Options{Agent: o, Members: members}).Agent().Session("one")
	pours := 0
	rounds := testkit.Depth(30, 50)
	for i := range rounds {
		say := fmt.Sprintf("Read file %d.", i)
		if i%2 == 0 {
			say = fmt.Sprintf("Delegate %d.", i)
		}
		all, _, err := ran(t, s.Run(t.Context(), say))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Kind == agent.EventPour {
				pours++
				w.reminded(s)
			}
		}
	}
	if pours < testkit.Depth(1, 2) {
		t.Fatalf("%d pours", pours)
	}
	ledger := team.Ledger(s.Messages())
	there := w.team(team.Options{Agent: o, Members: members}) // as another process would have it
	s2, err := there.Agent().Open(t.Context(), "one")
	if err != nil || len(ledger) != rounds/2 {
		t.Fatalf("%d delegations, error %v", len(ledger), err)
	}
	all, _, err := ran(t, s2.Run(t.Context(), "Recall "+ledger[0].ID+" 3000"))
	if err != nil || !strings.Contains(resultIn(all), " and so on END") || strings.Contains(resultIn(all), "RESULT") {
		t.Errorf("the end of the first answer: %.200s, error %v", resultIn(all), err)
	}
	all, _, err = ran(t, s2.Run(t.Context(), "Recall d-none 0"))
	if err != nil || !strings.Contains(resultIn(all), "no delegation") {
		t.Errorf("an unknown delegation: %.200s, error %v", resultIn(all), err)
	}
	all, _, err = ran(t, s2.Run(t.Context(), "List them."))
	if err != nil || strings.Count(resultIn(all), "answered") != rounds/2 {
		t.Errorf("the list: %.200s, error %v", resultIn(all), err)
	}
	w.legal()
}

// reminded says whether the newest request of a session ends with its ledger.
func (w *world) reminded(s *agent.Session) {
	w.Helper()
	var last string
	for _, m := range s.Messages() {
		if strings.Contains(string(m), "Your delegations so far") {
			last = string(m)
		}
	}
	ledger := team.Ledger(s.Messages())
	for _, d := range ledger[max(0, len(ledger)-20):max(0, len(ledger)-1)] {
		if !strings.Contains(last, d.ID) || !strings.Contains(last, "And the rules.") {
			w.Errorf("after a pour the model is not told of %s", d.ID)
		}
	}
	if len(w.find("Your delegations so far")) == 0 {
		w.Error("no request ends with the ledger")
	}
}

// resultIn returns the result of the last call.
func resultIn(all []agent.Event) (out string) {
	for _, e := range all {
		if e.Kind == agent.EventResult {
			out = e.Text
		}
	}
	return out
}
