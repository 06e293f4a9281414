package owncalls

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// A Wallet remembers the credentials of clients, each for the conversation that it was sent with: in memory, and until
// nothing was sent for a while. It is safe for concurrent use. It prints as "[redacted]".
type Wallet struct {
	open func(base string, c provider.Credential) (provider.Client, error)
	life time.Duration

	mu    sync.Mutex
	cards map[store.Key]*card
	timer *time.Timer // looks for cards whose time is over; nil while there are none
}

// A card is a client's credential at the provider that has accepted it.
type card struct {
	upstream   string
	credential provider.Credential
	used       time.Time
}

// walletLife is how long a credential is remembered of which nothing is heard.
const walletLife = 10 * time.Minute

// mostCards bounds how many credentials are remembered; beyond it none is added.
const mostCards = 10_000

// NewWallet returns an empty wallet. open makes clients for the accounts.
func NewWallet(open func(base string, c provider.Credential) (provider.Client, error)) *Wallet {
	return &Wallet{open: open, life: walletLife, cards: map[store.Key]*card{}}
}

// Keep remembers the credential of a request that the provider at base has accepted. A conversation without an id has none,
// nor has one whose client has signed in.
func (w *Wallet) Keep(k store.Key, base string, h http.Header) {
	c, known := provider.Taken(h)
	if !known || k.ID == "" || base == "" || signedIn(h) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cards[k] == nil && len(w.cards) >= mostCards {
		return
	}
	w.cards[k] = &card{base, c, time.Now()}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.life, w.sweep)
	}
}

// signedIn reports whether a request is made with the token of a person's subscription. The provider grants that to the
// client alone, refuses calls that do not look like the client's, and counts no dollars for it.
func signedIn(h http.Header) bool {
	return strings.Contains(strings.Join(h.Values("Anthropic-Beta"), ","), "oauth-") || strings.HasPrefix(h.Get("Authorization"), "Bearer sk-ant-oat")
}

// Account returns the account of the client that holds a conversation, for Options.Accounts: nil when nothing was heard of it
// for a while, or when the conversation is held with another provider than the credential was sent to.
func (w *Wallet) Account(c Cause) *provider.Account {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.cards[c.Conversation]
	if k == nil || time.Since(k.used) >= w.life || c.Upstream != "" && !sameBase(c.Upstream, k.upstream) {
		return nil
	}
	client, err := w.open(k.upstream, k.credential)
	if err != nil {
		return nil
	}
	return &provider.Account{Client: client, Upstream: k.upstream}
}

// sweep forgets the credentials whose time is over.
func (w *Wallet) sweep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.life
	for k, c := range w.cards {
		if left := w.life - time.Since(c.used); left > 0 {
			next = min(next, left)
		} else {
			delete(w.cards, k)
		}
	}
	if w.timer = nil; len(w.cards) > 0 {
		w.timer = time.AfterFunc(next, w.sweep)
	}
}

// Empty forgets all credentials.
func (w *Wallet) Empty() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.cards)
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// String returns "[redacted]".
func (w *Wallet) String() string { return "[redacted]" }
