package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/decantdev/decant/memory"
)

const (
	aboutObserve  = "Note a pattern of this project that may become a rule, as one sentence: what the user corrected, how something is done here. It is a candidate: only the user's own words in other sessions make it a rule."
	aboutRemember = "Save one thing that must outlive this session: a preference, a decision, a key fact. One sentence that is complete in itself; no passwords, keys or tokens."
	aboutForget   = "Remove one memory or observation for good, when the user wants it forgotten. Rules are removed by the user only."
	aboutPour     = "Ask for a pour: older messages of a conversation are replaced by a record, and the originals stay behind handles. It takes effect with the conversation's next request through Decant's gateway."
)

type textInput struct {
	Text string `json:"text" jsonschema:"one sentence"`
}

// observe is the tool of that name.
func (t *tools) observe(ctx context.Context, in textInput) ([]string, error) {
	return t.save(ctx, cmp.Or(t.Notebook, t.Scope), memory.KindObservation, in.Text)
}

// remember is the tool of that name.
func (t *tools) remember(ctx context.Context, in textInput) ([]string, error) {
	return t.save(ctx, t.Scope, memory.KindMemory, in.Text)
}

// save saves a text. Saving a known text again does not confirm it: a model's word is not evidence.
func (t *tools) save(ctx context.Context, scope memory.Scope, kind memory.Kind, text string) ([]string, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	id, err := memory.NewID(rand.Reader)
	if err != nil {
		return nil, err
	}
	it, err := memory.New(id, kind, scope, text, memory.Source{}, t.Now().UTC())
	if err != nil {
		return nil, err
	}
	have := ""
	err = s.Revise(ctx, s.tenant, scope, func(was []memory.Item) ([]memory.Item, error) {
		now, err := memory.Save(it)(was)
		have = confirmed(was, now)
		if have != "" {
			return was, nil
		}
		return now, err
	})
	if err != nil {
		return nil, err
	}
	if have != "" {
		return []string{"It was saved before: " + have}, nil
	}
	return []string{fmt.Sprintf("Saved as %s.", id)}, nil
}

// confirmed returns the id of an item that Save confirmed, or "".
func confirmed(was, now []memory.Item) string {
	for i := range was {
		if k := slices.IndexFunc(now, func(it memory.Item) bool { return it.ID == was[i].ID }); k >= 0 && now[k].Times > was[i].Times {
			return was[i].ID
		}
	}
	return ""
}

type forgetInput struct {
	ID string `json:"id" jsonschema:"of the memory, as the tool rules shows it"`
}

// forget is the tool of that name.
func (t *tools) forget(ctx context.Context, in forgetInput) ([]string, error) {
	s, it, err := t.one(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if it.Kind == memory.KindRule {
		return nil, fmt.Errorf("%s is a rule: the user removes it with \"decant memory forget %s\"", it.ID, it.ID)
	}
	err = s.Revise(ctx, s.tenant, it.Scope, func(have []memory.Item) ([]memory.Item, error) {
		return slices.DeleteFunc(slices.Clone(have), func(h memory.Item) bool { return h.ID == it.ID }), nil
	})
	return []string{"Forgotten: " + it.ID}, err
}

// one returns the item with an id in the served scopes.
func (t *tools) one(ctx context.Context, id string) (*served, *memory.Item, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	items, err := t.items(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(items, func(it memory.Item) bool { return it.ID == id })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no %q: the tool rules shows the ids", id)
	}
	return s, &items[i], nil
}

type pourInput struct {
	Conversation string `json:"conversation,omitempty" jsonschema:"conversation to pour: its id or the client's session id, or the beginning of either; without it the one that changed last"`
	Focus        string `json:"focus,omitempty" jsonschema:"what the record is to be about"`
}

// pour is the tool of that name.
func (t *tools) pour(ctx context.Context, in pourInput) ([]string, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.chosen(ctx, in.Conversation)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("there is no conversation yet: Decant pours what goes through its gateway")
	}
	text, err := t.Pour(ctx, list[0].Key, in.Focus)
	return []string{text}, err
}
