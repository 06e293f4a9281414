package plan

import (
	"context"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// An Account is whom a provider answers.
type Account struct {
	Upstream     string `json:"upstream,omitzero"`
	Organization string `json:"organization,omitzero"` // as the provider names it, empty when it does not
}

// longestAccountName bounds a name of an account, in bytes.
const longestAccountName = 256

// AccountName returns the name by which an upstream or an organization is known. What a header or a path holds may be
// no text, which is what is stored; then, as for a name that is too long, its hash stands for it.
func AccountName(name string) string {
	if len(name) <= longestAccountName && utf8.ValidString(name) {
		return name
	}
	return decant.HashBytes([]byte(name)).String()
}

// TopicBinding is the topic of findings about thinking that is bound to what stands before it.
const TopicBinding = "thinking binding"

// TopicEditing returns the topic of findings about context editing, which are about one model.
func TopicEditing(model string) string { return "context editing of " + model }

// TopicCompaction returns the topic of findings about summaries by the provider, which are about one model.
func TopicCompaction(model string) string { return "compaction by " + model }

// TopicRules returns the topic of findings about rules by which the provider manages a prompt, which are about one
// model.
func TopicRules(model string) string { return "rules for prompts of " + model }

// TopicBare returns the topic of findings about a turn under way without its thinking, which are about one model.
func TopicBare(model string) string { return "open turns without thinking of " + model }

// What may be found out about a topic.
const (
	Enforced   = "enforced"     // an edit in front of bound thinking was refused
	Unenforced = "not enforced" // such an edit was accepted
	Refused    = "refused"      // the provider does not take the edit
	Mismatched = "mismatched"   // it does, and leaves out something else
)

const week = 7 * 24 * time.Hour

// believed are the times after which a finding is tried again.
var believed = map[string]time.Duration{Enforced: 4 * week, Unenforced: week, Refused: week, Mismatched: week}

// A Knowledge is what was found out about an account, by topic.
type Knowledge map[string]store.Finding

// Says returns what was found out about a topic, empty when nothing was, or too long ago.
func (k Knowledge) Says(topic string, now time.Time) string {
	f, ok := k[topic]
	if !ok || now.Sub(f.Time) > believed[f.Value] {
		return ""
	}
	return f.Value
}

// Accounts keeps what is known of accounts, in memory and in a store. It is safe for concurrent use.
type Accounts struct {
	Store      store.Findings
	Now        func() time.Time
	Background func(func(context.Context)) // calls a function later, with a context for it
	Patience   time.Duration               // how long a request waits for what it can do without
	Logger     *slog.Logger                // is told what could not be read or stored

	mu sync.Mutex
	of map[Account]remembered
}

type remembered struct {
	Knowledge
	read time.Time
}

// freshFor is how long what was read of an account counts; then the store is asked what others have found out.
const freshFor = time.Minute

// mostAccounts bounds how many accounts are kept in memory.
const mostAccounts = 10_000

// Known returns what was found out about an account. What cannot be read is not known; nothing is known of nil.
func (b *Accounts) Known(who *Account) Knowledge {
	if who == nil {
		return nil
	}
	now := b.Now()
	b.mu.Lock()
	r, ok := b.of[*who]
	b.mu.Unlock()
	if ok && now.Sub(r.read) < freshFor {
		return r.Knowledge
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Patience)
	defer cancel()
	fs, err := b.Store.Findings(ctx, who.Upstream, who.Organization)
	if err != nil {
		b.Logger.Error("read what is known of an account", "error", err)
		return r.Knowledge
	}
	k := Knowledge{}
	for _, f := range fs {
		k[f.Topic] = f
	}
	b.put(*who, remembered{k, now})
	return k
}

func (b *Accounts) put(who Account, r remembered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil || len(b.of) >= mostAccounts {
		b.of = map[Account]remembered{}
	}
	b.of[who] = r
}

// Learn remembers what was found out about an account, in memory at once and behind it in the store. Nothing is
// remembered of nil.
func (b *Accounts) Learn(who *Account, topic, value string) {
	if who == nil {
		return
	}
	f := store.Finding{Upstream: who.Upstream, Organization: who.Organization, Topic: topic, Value: value, Time: b.Now().UTC()}
	k := Knowledge{topic: f}
	for t, old := range b.Known(who) {
		if t != topic {
			k[t] = old
		}
	}
	b.put(*who, remembered{k, b.Now()})
	b.Background(func(ctx context.Context) {
		if err := b.Store.Find(ctx, f); err != nil {
			b.Logger.Error("store what is known of an account", "error", err)
		}
	})
}
