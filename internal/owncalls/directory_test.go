package owncalls_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A lister takes a second to tell what its models can do.
type lister struct {
	asked int
	err   error
	says  []token.Facts
}

func (l *lister) Ask(context.Context, *provider.Request) (*provider.Answer, error) {
	return nil, errors.New("it is not asked")
}

func (l *lister) Models(ctx context.Context) ([]token.Facts, error) {
	l.asked++
	time.Sleep(time.Second)
	return l.says, l.err
}

// unbooked is a ledger that nothing is booked in.
type unbooked struct{}

func (unbooked) Book(context.Context, store.Key, []store.Spend) error {
	return errors.New("nothing is booked")
}

// What a provider tells of its models is read once and beside the requests, which never wait; it counts for a day, and what fails is
// tried again after a while, with what was known until then.
func TestWhatAProviderTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lister{says: []token.Facts{{ID: "claude-opus-9", Window: 3_000_000, Threshold: token.Can}, {ID: "claude-opus-4-6-20260205", Editing: token.Cannot}}}
		c, err := owncalls.NewCaller(owncalls.Options{Account: &provider.Account{Client: l, Upstream: "https://api.anthropic.com"}, Ledger: unbooked{}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		told := func(upstream, id string) (token.Facts, bool) {
			t.Helper()
			begun := time.Now()
			f, ok := c.Told(upstream, id)
			if time.Since(begun) > 0 {
				t.Error("somebody waits")
			}
			return f, ok
		}
		for range 3 {
			if f, ok := told("https://api.anthropic.com/", "claude-opus-9"); ok {
				t.Errorf("before it is read: %+v", f)
			}
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if f, ok := told("https://api.anthropic.com", "claude-opus-9"); !ok || f.Window != 3_000_000 || l.asked != 1 {
			t.Errorf("%+v after %d questions", f, l.asked)
		}
		for _, id := range []string{"claude-opus-4-6", "claude-opus-4-6-20260205", "us.anthropic.claude-opus-4-6-v1:0"} {
			if f, ok := told("https://api.anthropic.com", id); !ok || f.Editing != token.Cannot {
				t.Errorf("%s: %+v", id, f)
			}
		}
		if _, ok := told("https://elsewhere", "claude-opus-9"); ok {
			t.Error("one provider tells of another's models")
		}
		if _, ok := told("https://api.anthropic.com", "claude-opus-8"); ok {
			t.Error("what was not told is known")
		}
		l.err, l.says = errors.New("the line is down"), nil
		time.Sleep(25 * time.Hour)
		for range 2 {
			told("https://api.anthropic.com", "claude-opus-9")
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		if f, ok := told("https://api.anthropic.com", "claude-opus-9"); !ok || f.Threshold != token.Can || l.asked != 2 {
			t.Errorf("after a failure %+v, %d questions", f, l.asked)
		}
		time.Sleep(11 * time.Minute)
		told("https://api.anthropic.com", "claude-opus-9")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if l.asked != 3 {
			t.Errorf("%d questions after a pause", l.asked)
		}
	})
}

// A model is what its provider says, as far as it says anything.
func TestFactsCountMoreThanTheCatalogue(t *testing.T) {
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	known, _ := catalog.Lookup("claude-opus-4-6")
	new, _ := catalog.Lookup("claude-opus-9")
	if m := known.With(token.Facts{Window: 5, MaxOutput: 5, Threshold: token.Cannot}); m.Threshold || !m.Editing || m.Window != known.Window || m.MaxOutput != known.MaxOutput {
		t.Errorf("%+v", m)
	}
	if m := new.With(token.Facts{Window: 3_000_000, MaxOutput: 5, OnDemand: token.Can}); m.Window != 3_000_000 || m.Assumed || m.MaxOutput != 5 || !m.OnDemand || m.Editing {
		t.Errorf("%+v", m)
	}
}
