package agent

import (
	"context"
	"testing"

	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A tool knows for which session it is called, and the hooks around a run have its context.
func TestACallKnowsItsSession(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return says(use("", "where", `{}`))
		}
		return says(text(sandboxtest.Results(p)[0]))
	}))
	type key struct{}
	var at string
	messages := 0
	where := Tool{Name: "where", Run: func(ctx context.Context, _ *Call) (Result, error) {
		at, messages = SessionOf(ctx).Conversation().ID, len(SessionOf(ctx).Messages())
		return Result{Text: ctx.Value(key{}).(string)}, nil
	}}
	var ended Outcome
	hooks := Hooks{
		BeforeRun: func(ctx context.Context, s *Session) context.Context {
			return context.WithValue(ctx, key{}, s.ID())
		},
		AfterRun: func(ctx context.Context, o Outcome, err error) { ended = o },
	}
	s := w.agent(Options{Tools: []Tool{where}, Hooks: hooks}).Session("s1")
	_, o, err := finished(t, s.Run(t.Context(), "Where?"))
	if err != nil || o.Text != "s1" || ended != o {
		t.Errorf("outcome %+v, the hook was told %+v, error %v", o, ended, err)
	}
	w.db.Engine().Close() // archives
	cs, err := w.db.Store().Conversations(t.Context(), store.Filter{Session: "s1"})
	if err != nil || len(cs) != 1 || at != cs[0].ID || messages != 2 {
		t.Errorf("the call was at message %d of %q; conversations %+v, %v", messages, at, cs, err)
	}
	if got := SessionOf(t.Context()); got != nil {
		t.Errorf("outside of a run: %+v", got)
	}
}
