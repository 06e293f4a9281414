package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
)

// last is the name of the conversation that changed last.
const last = "last"

// An AmbiguousError says that a name means several conversations.
type AmbiguousError struct {
	Name  string
	Found []store.Summary
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q may be any of %d conversations", e.Name, len(e.Found))
}

// ErrWhich means that a handle has a different meaning in each conversation, and no conversation was named.
var ErrWhich = errors.New("every conversation has one of its own")

// Conversation returns the conversation of a tenant that a name means: an id, the client's session if it has only one
// conversation, the beginning of either, or "last". If the name means several, the error is an *AmbiguousError; if it
// means none, the error wraps store.ErrNotFound.
func Conversation(ctx context.Context, s store.Directory, tenant, name string) (*store.Summary, error) {
	filter := store.Filter{Tenant: tenant, Name: name}
	if name == last {
		filter.Name, filter.Limit = "", 1
	}
	found, err := s.Conversations(ctx, filter)
	if err != nil {
		return nil, err
	}
	if exact := slices.DeleteFunc(slices.Clone(found), func(c store.Summary) bool { return c.ID != name && c.Session != name }); len(exact) > 0 {
		found = exact // the full name of a session does not count as the beginning of another
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("conversation %q: %w", name, store.ErrNotFound)
	case 1:
		return &found[0], nil
	}
	return nil, &AmbiguousError{name, found}
}

// Original returns what a handle stands for, in the conversation of a key or, if the key names none, in all conversations of
// its tenant. Checkpoints are numbered in each conversation, so without one their handles are ErrWhich. Other errors are
// those of store.Blobs. The handle of a summary that is none of Decant's is one of [Compactions].
func Original(ctx context.Context, s Originals, in store.Key, h decant.Handle) (*store.Original, error) {
	if in.ID == "" && strings.HasPrefix(string(h), "c:") {
		return nil, fmt.Errorf("handle %s: %w", h, ErrWhich)
	}
	if n, ok := compactionOf(h); ok {
		return hidden(ctx, s, in, h, n)
	}
	return s.Resolve(ctx, in, h)
}

// hidden returns what stands before a message with a summary that is none of Decant's.
func hidden(ctx context.Context, s store.Loader, in store.Key, h decant.Handle, message int) (*store.Original, error) {
	state, err := s.Load(ctx, in, store.Newest)
	if err != nil {
		return nil, err
	}
	o := &store.Original{Key: in, Decision: decant.Decision{Handle: h, Checkpoint: &decant.Checkpoint{To: message - 1}}}
	for _, e := range state.Chain {
		if e.Message < message {
			o.Entries = append(o.Entries, e)
		}
	}
	return o, nil
}

// Originals is what of a store holds originals.
type Originals interface {
	store.Blobs
	store.Loader
}
