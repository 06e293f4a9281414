package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/memory"
)

const aboutConfirm = "Confirm an observation or a rule with the user's own words. quote is what the user typed, word for word; it is looked up in the stored sessions. " +
	"It counts once for each session, and not in the session that the observation comes from. Words of tools, files and models do not count."

type confirmInput struct {
	ID    string `json:"id" jsonschema:"of the observation or rule, as the tool rules shows it"`
	Quote string `json:"quote" jsonschema:"the user's words, exactly, at least 15 characters"`
}

// leastQuote is the shortest quote in characters: "yes, do that" would confirm anything.
const leastQuote = 15

// confirm is the tool of that name.
func (t *tools) confirm(ctx context.Context, in confirmInput) ([]string, error) {
	quote := spaced(in.Quote)
	if utf8.RuneCountInString(quote) < leastQuote {
		return nil, fmt.Errorf("the quote is too short to say what it confirms: give at least %d characters of the user's words", leastQuote)
	}
	s, it, err := t.one(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if it.Kind != memory.KindObservation && it.Kind != memory.KindRule {
		return nil, fmt.Errorf("%s is a %s: observations and rules are confirmed", it.ID, it.Kind)
	}
	at, err := t.said(ctx, s, quote, it)
	if err != nil {
		return nil, err
	}
	c := memory.Confirmation{Source: at, Evidence: quote, Time: t.Now().UTC()}
	err = s.Revise(ctx, s.tenant, it.Scope, memory.Update(it.ID, func(now memory.Item) (memory.Item, error) {
		return t.confirmed(now, c)
	}))
	return []string{fmt.Sprintf("%s is confirmed by message %d of conversation %s.", it.ID, at.From, at.Conversation)}, err
}

// confirmed returns an item with one more confirmation. A record of the notebook also gets the session, so
// that a later scan of the same session does not count it again.
func (t *tools) confirmed(it memory.Item, c memory.Confirmation) (memory.Item, error) {
	if it.Scope != t.Notebook {
		return memory.Confirm(it, c), nil
	}
	r, err := notebook.RecordOf(it)
	if err != nil {
		return it, err
	}
	session := c.Conversation
	if talk := t.originals.origin[session]; talk != nil {
		session = talk.key()
	}
	if r.Known(session) {
		return it, nil
	}
	r.Item = memory.Confirm(it, c)
	r.Suspended, r.Against = time.Time{}, ""
	r.Seen = append(r.Seen, notebook.Seen{By: notebook.Person, Session: session, From: c.From, To: c.To, Time: c.Time})
	return r.Packed()
}

// errUnsaid means that the user did not say it.
var errUnsaid = errors.New("the user has not typed that in any stored session: quote the user's words exactly, or let the user confirm it by hand")

// said returns where the user typed a text, in a session that may confirm the item.
func (t *tools) said(ctx context.Context, s *served, quote string, it *memory.Item) (memory.Source, error) {
	o := t.originals
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.follow(ctx, s); err != nil {
		return memory.Source{}, err
	}
	used := o.sessions(it)
	err := errUnsaid
	for _, h := range o.index.Find(quote, mostRecalled, func(n int) bool { return o.texts[n].Author == decant.AuthorUser }) {
		e := &o.texts[h.Text]
		blobs, failed := s.Blobs(ctx, s.tenant, e.Text)
		if failed != nil {
			return memory.Source{}, failed
		}
		for _, in := range e.in {
			switch {
			case !strings.Contains(spaced(typed.Words(in.agent, string(blobs[0]))), quote):
			case used[in.key()] || it.Source.Conversation == "" && !in.created.After(it.Created):
				err = fmt.Errorf("the user's words are in session %s, which has confirmed %s already or is where it comes from: another session can", in.key(), it.ID)
			default:
				return memory.Source{Conversation: in.id, From: e.Message, To: e.Message}, nil
			}
		}
	}
	return memory.Source{}, err
}

// sessions returns the sessions that an item comes from or was confirmed in.
func (o *originals) sessions(it *memory.Item) map[string]bool {
	out := map[string]bool{}
	add := func(conversation string) {
		if t := o.origin[conversation]; t != nil {
			out[t.key()] = true
		}
	}
	add(it.Source.Conversation)
	for i := range it.Confirmations {
		add(it.Confirmations[i].Conversation)
	}
	return out
}

// key returns the session of a conversation, or the conversation if it has none.
func (t *talk) key() string {
	if t.session == "" {
		return t.id
	}
	return t.session
}

// spaced returns a text with each run of white space as one space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
