package mcpserver

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook/passage"
	"github.com/decantdev/decant/store"
)

// Limits of the index in memory. Beyond them the conversations that changed least recently are left out.
const (
	mostConversations = 2000
	mostBytes         = 64 << 20
)

// originals is an index of the texts of a tenant, which follows the store.
type originals struct {
	mu     sync.Mutex
	index  *passage.Index
	texts  []original          // by their number in the index
	at     map[decant.Hash]int // number of a text
	seen   map[string]int64    // version of each conversation that is indexed
	origin map[string]*talk    // by conversation
	bytes  int
	left   int // conversations left out
}

// An original is an indexed text at its first place.
type original struct {
	store.Entry
	in []*talk // conversations with it
}

// A talk is a conversation.
type talk struct {
	id, session, agent, project string
	created, updated            time.Time
}

func newOriginals() *originals {
	return &originals{index: passage.New(), at: map[decant.Hash]int{}, seen: map[string]int64{}, origin: map[string]*talk{}}
}

// follow updates the index by the conversations that changed. If one was deleted, it builds a new index, so
// that nothing of it remains.
func (o *originals) follow(ctx context.Context, s *served) error {
	list, err := s.Conversations(ctx, store.Filter{Tenant: s.tenant, Limit: mostConversations})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range list {
		there[list[i].ID] = true
	}
	for id := range o.seen {
		if !there[id] && len(list) < mostConversations {
			o.forget()
			break
		}
	}
	o.left = 0
	for i := range list {
		c := &list[i]
		if o.seen[c.ID] == c.Version {
			continue
		}
		if o.bytes > mostBytes {
			o.left++
			continue
		}
		if err := o.take(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

// forget empties the index.
func (o *originals) forget() {
	fresh := newOriginals()
	o.index, o.texts, o.at, o.seen, o.origin, o.bytes = fresh.index, fresh.texts, fresh.at, fresh.seen, fresh.origin, 0
}

// take indexes the new texts of a conversation.
func (o *originals) take(ctx context.Context, s *served, c *store.Summary) error {
	state, err := s.Load(ctx, c.Key, store.Newest)
	if err != nil {
		return err
	}
	t := o.talk(c)
	texts, err := textsOf(ctx, s, state.Chain)
	if err != nil {
		return err
	}
	calls := passage.Calls{}
	for i, e := range state.Chain {
		if text := texts[e.Text]; found(&e) && text != "" {
			o.add(&state.Chain[i], t, text, calls.Head(e.Kind, e.Name, e.CallID, text))
		}
	}
	o.seen[c.ID] = state.Version
	return nil
}

// talk returns the entry of a conversation, updated.
func (o *originals) talk(c *store.Summary) *talk {
	t := o.origin[c.ID]
	if t == nil {
		t = &talk{}
		o.origin[c.ID] = t
	}
	*t = talk{id: c.ID, session: c.Session, agent: c.Agent, project: c.Project, created: c.Created, updated: c.Updated}
	return t
}

// add indexes a text once, and adds the conversation to it.
func (o *originals) add(e *store.Entry, in *talk, text, head string) {
	n, known := o.at[e.Text]
	if !known {
		n = len(o.texts)
		o.at[e.Text] = n
		o.texts = append(o.texts, original{Entry: *e})
		o.index.Add(head, text)
		o.bytes += len(text)
	}
	if !slices.Contains(o.texts[n].in, in) {
		o.texts[n].in = append(o.texts[n].in, in)
	}
}

// found reports whether recall may find an entry: what was said, called or shown, but not this server's own
// answers, which would hide their sources.
func found(e *store.Entry) bool {
	return !e.Text.IsZero() && e.Kind != decant.KindThinking && e.Kind != decant.KindOpaque && !ours(e.Name)
}

// ours reports whether a tool, by a client's name for it, belongs to this server.
func ours(tool string) bool {
	low := strings.ToLower(tool)
	return strings.Contains(low, "decant") && (strings.HasSuffix(low, "recall") || strings.HasSuffix(low, "expand"))
}

// page is how many texts are read at once.
const page = 256

// textsOf reads the texts of entries.
func textsOf(ctx context.Context, s *served, es []store.Entry) (map[decant.Hash]string, error) {
	var want []decant.Hash
	out := map[decant.Hash]string{}
	for i := range es {
		if _, there := out[es[i].Text]; found(&es[i]) && !there {
			out[es[i].Text] = ""
			want = append(want, es[i].Text)
		}
	}
	for some := range slices.Chunk(want, page) {
		blobs, err := s.Blobs(ctx, s.tenant, some...)
		if err != nil {
			return nil, err
		}
		for i, h := range some {
			out[h] = string(blobs[i])
		}
	}
	return out, nil
}
