package agent_test

import (
	"context"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store"
)

// A tool knows for which session it is called, and the hooks around a run have its context.
func TestACallKnowsItsSession(t *testing.T) {
	w := newWorld(t, answers(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("", "where", `{}`))
		}
		return says(text(results(p)[0]))
	}))
	type key struct{}
	var at string
	messages := 0
	where := agent.Tool{Name: "where", Run: func(ctx context.Context, _ *agent.Call) (agent.Result, error) {
		at, messages = agent.SessionOf(ctx).Conversation().ID, len(agent.SessionOf(ctx).Messages())
		return agent.Result{Text: ctx.Value(key{}).(string)}, nil
	}}
	var ended agent.Outcome
	hooks := agent.Hooks{
		BeforeRun: func(ctx context.Context, s *agent.Session) context.Context {
			return context.WithValue(ctx, key{}, s.ID())
		},
		AfterRun: func(ctx context.Context, o agent.Outcome, err error) { ended = o },
	}
	s := w.agent(agent.Options{Tools: []agent.Tool{where}, Hooks: hooks}).Session("s1")
	_, o, err := ran(t, s.Run(t.Context(), "Where?"))
	if err != nil || o.Text != "s1" || ended != o {
		t.Errorf("outcome %+v, the hook was told %+v, error %v", o, ended, err)
	}
	w.db.Engine().Close() // archives
	cs, err := w.db.Store().Conversations(t.Context(), store.Filter{Session: "s1"})
	if err != nil || len(cs) != 1 || at != cs[0].ID || messages != 2 {
		t.Errorf("the call was at message %d of %q; conversations %+v, %v", messages, at, cs, err)
	}
	if got := agent.SessionOf(t.Context()); got != nil {
		t.Errorf("outside of a run: %+v", got)
	}
}
