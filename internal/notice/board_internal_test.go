package notice

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/flush"
	"github.com/decantdev/decant/internal/hook"
	"github.com/decantdev/decant/store"
)

// Hooks get facts about flushes and budgets.
func TestHooksAreToldOfFlushesAndBudgets(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, string(body))
	}))
	defer server.Close()
	to := hook.Hook{URL: server.URL, Timeout: time.Minute}
	log := slog.New(slog.DiscardHandler)
	b := Board{Log: log, Now: func() time.Time { return time.Unix(0, 0) }, Hooks: hook.New(hook.Options{
		Hooks: map[string]hook.Hook{hook.Flush: to, hook.Budget: to}, Client: http.DefaultTransport, Logger: log,
	})}
	b.Flushed(flush.Flushed{Conversation: store.Key{Tenant: "acme", ID: "c1"}, Cycle: 2, By: "model", Saved: 3})
	b.Warned(budget.Warning{Budget: budget.Budget{Per: "day", USD: 5}, Tenant: "acme", Share: 0.81})
	b.Hooks.Close()
	want := []string{
		`{"event":"flush","time":"1970-01-01T00:00:00Z","tenant":"acme","conversation":"c1","facts":{"cycle":2,"by":"model","saved":3}}`,
		`{"event":"budget","time":"1970-01-01T00:00:00Z","tenant":"acme","facts":{"per":"day","usd":5,"share":0.81}}`,
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %q", got)
	}
}
