package engine

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// What an account at a provider permits is found out by trying, and remembered for it.

// The topics of findings. What is found out about editing is about one model.
const bindingTopic = "thinking binding"

func editingOf(m token.Model) string { return "context editing of " + m.ID }

// What may be found out, and how long it is believed.
const (
	enforced   = "enforced"     // an edit in front of bound thinking was refused
	unenforced = "not enforced" // such an edit was accepted
	refused    = "refused"      // the provider does not take the edit
	mismatched = "mismatched"   // it does, and leaves out something else

	week = 7 * 24 * time.Hour
)

// believed are the times after which a finding is tried again.
var believed = map[string]time.Duration{enforced: 4 * week, unenforced: week, refused: week, mismatched: week}

// An account is whom a provider answers.
type account struct {
	Upstream     string `json:"upstream,omitzero"`
	Organization string `json:"organization,omitzero"` // as the provider names it, empty when it does not
}

// longestAccount bounds a name of an account, in bytes.
const longestAccount = 256

// named returns the name by which an account is known. What a header or a path holds may be no text, which is what is
// stored; then, as for a name that is too long, its hash stands for it.
func named(name string) string {
	if len(name) <= longestAccount && utf8.ValidString(name) {
		return name
	}
	return decant.HashBytes([]byte(name)).String()
}

// A knowledge is what was found out about an account, by topic.
type knowledge map[string]store.Finding

// says returns what was found out about a topic, empty when nothing was, or too long ago.
func (k knowledge) says(topic string, now time.Time) string {
	f, ok := k[topic]
	if !ok || now.Sub(f.Time) > believed[f.Value] {
		return ""
	}
	return f.Value
}

// account returns the account that the request is for: the one that answered the conversation last, if the
// request goes to the same provider. It is nil while nobody has answered.
func (dr *draft) account() *account {
	who := dr.meter.Account
	if who == nil || !dr.model.Binds || who.Upstream != named(dr.req.Upstream) && dr.req.Upstream != "" {
		return nil
	}
	return who
}

// accounts keeps what is known of accounts. The zero value knows nothing.
type accounts struct {
	mu sync.Mutex
	of map[account]remembered
}

type remembered struct {
	knowledge
	read time.Time
}

// fresh is how long what was read of an account counts; then the store is asked what others have found out.
const freshFor = time.Minute

// mostAccounts bounds how many accounts are kept in memory.
const mostAccounts = 10_000

// known returns what was found out about an account. What cannot be read is not known.
func (e *Engine) known(who *account) knowledge {
	if who == nil {
		return nil
	}
	now := e.opts.Now()
	e.accounts.mu.Lock()
	r, ok := e.accounts.of[*who]
	e.accounts.mu.Unlock()
	if ok && now.Sub(r.read) < freshFor {
		return r.knowledge
	}
	ctx, cancel := context.WithTimeout(context.Background(), e.opts.OptionalTimeout)
	defer cancel()
	fs, err := e.store.Findings(ctx, who.Upstream, who.Organization)
	if err != nil {
		e.note(err)
		return r.knowledge
	}
	k := knowledge{}
	for _, f := range fs {
		k[f.Topic] = f
	}
	e.accounts.put(*who, remembered{k, now})
	return k
}

func (c *accounts) put(who account, r remembered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= mostAccounts {
		c.of = map[account]remembered{}
	}
	c.of[who] = r
}

// learn remembers what was found out about an account, in memory at once and behind it in the store.
func (e *Engine) learn(who *account, topic, value string) {
	if who == nil {
		return
	}
	f := store.Finding{Upstream: who.Upstream, Organization: who.Organization, Topic: topic, Value: value, Time: e.opts.Now().UTC()}
	was := e.known(who)
	k := knowledge{topic: f}
	for t, old := range was {
		if t != topic {
			k[t] = old
		}
	}
	e.accounts.put(*who, remembered{k, e.opts.Now()})
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), e.opts.RequiredTimeout)
		defer cancel()
		e.note(e.store.Find(ctx, f))
	})
}
