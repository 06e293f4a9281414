package owncalls_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/internal/owncalls"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// a holder is a client that says whose credential it has.
type holder struct{ whose string }

func (h holder) Ask(context.Context, *provider.Request) (*provider.Answer, error) {
	return &provider.Answer{Text: h.whose}, nil
}

func wallet() *owncalls.Wallet {
	return owncalls.NewWallet(func(base string, c provider.Credential) (provider.Client, error) {
		h := http.Header{}
		c.Set(h)
		return holder{strings.Join([]string{base, h.Get("X-Api-Key"), h.Get("Authorization")}, " ")}, nil
	})
}

// whose returns the credential that calls about a conversation are made with, empty when there is none.
func whose(t *testing.T, w *owncalls.Wallet, k store.Key, upstream string) string {
	t.Helper()
	a := w.Account(owncalls.Cause{Conversation: k, Upstream: upstream})
	if a == nil {
		return ""
	}
	got, err := a.Client.Ask(t.Context(), &provider.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(got.Text)
}

// A client's credential is for its own conversation with its own provider, and for no other tenant, conversation or provider.
func TestAClientsCredentialIsForItsConversation(t *testing.T) {
	w := wallet()
	defer w.Empty()
	alice, bob := store.Key{Tenant: "alice", ID: "1"}, store.Key{Tenant: "bob", ID: "1"}
	w.Keep(alice, "https://a/", http.Header{"X-Api-Key": {"sk-alice"}})
	w.Keep(bob, "https://b", http.Header{"Authorization": {"Bearer bob"}, "Anthropic-Beta": {"x-1, y-2"}})
	w.Keep(store.Key{Tenant: "alice", ID: "4"}, "https://a", http.Header{"Authorization": {"Bearer x"}, "Anthropic-Beta": {"x-1, oauth-2025-04-20"}})
	w.Keep(store.Key{Tenant: "alice", ID: "5"}, "https://a", http.Header{"Authorization": {"Bearer sk-ant-oat01-x"}})
	w.Keep(store.Key{Tenant: "alice"}, "https://a", http.Header{"X-Api-Key": {"sk-none"}})
	w.Keep(store.Key{Tenant: "alice", ID: "3"}, "https://a", http.Header{"Cookie": {"c"}})
	for _, tt := range []struct {
		key            store.Key
		upstream, want string
	}{
		{alice, "https://a", "https://a/ sk-alice"}, {alice, "", "https://a/ sk-alice"}, {alice, "https://b", ""},
		{bob, "https://b", "https://b  Bearer bob"}, {store.Key{Tenant: "alice", ID: "2"}, "https://a", ""},
		{store.Key{Tenant: "alice"}, "https://a", ""}, {store.Key{Tenant: "alice", ID: "3"}, "", ""}, {store.Key{Tenant: "alice", ID: "4"}, "", ""}, {store.Key{Tenant: "alice", ID: "5"}, "", ""}, {store.Key{ID: "1"}, "https://a", ""},
	} {
		if got := whose(t, w, tt.key, tt.upstream); got != tt.want {
			t.Errorf("%+v at %s: %q, want %q", tt.key, tt.upstream, got, tt.want)
		}
	}
	if out := fmt.Sprint(w); out != "[redacted]" {
		t.Error(out)
	}
	w.Empty()
	if got := whose(t, w, alice, ""); got != "" {
		t.Error(got)
	}
}

// What nothing was heard of for ten minutes is forgotten, whether or not somebody asks for it.
func TestAClientsCredentialIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wallet()
		one, two := store.Key{ID: "1"}, store.Key{ID: "2"}
		w.Keep(one, "https://a", http.Header{"X-Api-Key": {"sk-1"}})
		w.Keep(two, "https://a", http.Header{"X-Api-Key": {"sk-2"}})
		time.Sleep(6 * time.Minute)
		w.Keep(two, "https://a", http.Header{"X-Api-Key": {"sk-new"}})
		time.Sleep(4 * time.Minute)
		if a, b := whose(t, w, one, ""), whose(t, w, two, ""); a != "" || b != "https://a sk-new" {
			t.Errorf("%q, %q", a, b)
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if got := whose(t, w, two, ""); got != "" {
			t.Error(got)
		}
		const most = 10_000 // that are remembered: the last of them finds room only where nothing else is still in memory
		id := func(n int) store.Key { return store.Key{ID: fmt.Sprint("n", n)} }
		for n := range most + 1 {
			w.Keep(id(n), "https://a", http.Header{"X-Api-Key": {"sk-3"}})
		}
		if last, beyond := whose(t, w, id(most-1), ""), whose(t, w, id(most), ""); last != "https://a sk-3" || beyond != "" {
			t.Errorf("the last of %d credentials is %q, one more is %q", most, last, beyond)
		}
		w.Empty()
	})
}
