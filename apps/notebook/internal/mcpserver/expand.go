package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/store"
)

const aboutExpand = "Get an original back by its handle: d:1f2e3d4c is one text (a command's output, a file that was read, a message), c:3 all messages that checkpoint 3 replaced, " +
	"m2-m80 the messages behind a record that begins with [Decant record of m2-m80. " +
	"Recall and checkpoints return handles; you also find them where Decant left something out. Returns the exact text, at most 16000 bytes at a time; offset continues."

// mostExpanded is how many bytes of an original are returned at a time.
const mostExpanded = 16_000

type expandInput struct {
	Handle       string `json:"handle" jsonschema:"d: and hexadecimal digits, c: and a number, or the messages that a record is of, such as m2-m80"`
	Conversation string `json:"conversation,omitempty" jsonschema:"conversation that the handle belongs to, needed for c: handles if there are several conversations; its id or session id, or the beginning of either"`
	Offset       int    `json:"offset,omitempty" jsonschema:"byte to begin at, to read on"`
	Limit        int    `json:"limit,omitempty" jsonschema:"how many bytes at most, up to 16000"`
}

// expand is the tool of that name. The first text of its answer is the original, byte for byte.
func (t *tools) expand(ctx context.Context, in expandInput) ([]string, error) {
	s, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := t.original(ctx, s, &in)
	if err != nil {
		return nil, advised(err, in.Handle)
	}
	from, to := piece(whole, in.Offset, in.Limit)
	if from == 0 && to == len(whole) {
		return []string{whole}, nil
	}
	note := fmt.Sprintf("[bytes %d to %d of %d", from, to, len(whole))
	if to < len(whole) {
		note += fmt.Sprintf("; the rest: expand %s with offset %d", in.Handle, to)
	}
	return []string{whole[from:to], note + "]"}, nil
}

// recorded replaces a handle such as m2-m80 by that of the checkpoint and its conversation. The record in a
// model's context names the messages, not the number of the checkpoint.
func (s *served) recorded(ctx context.Context, in *expandInput) error {
	var from, to int
	if n, err := fmt.Sscanf(in.Handle, "m%d-m%d", &from, &to); n != 2 || err != nil {
		return nil // another handle
	}
	list, err := s.chosen(ctx, in.Conversation)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Checkpoints == 0 {
			continue
		}
		state, err := s.Load(ctx, list[i].Key, store.Newest)
		if err != nil {
			return err
		}
		for _, cp := range slices.Backward(state.Checkpoints()) {
			if cp.From == from && cp.To == to {
				in.Handle, in.Conversation = fmt.Sprintf("c:%d", cp.Number), list[i].ID
				return nil
			}
		}
	}
	return store.ErrNotFound
}

// original returns the text behind a handle: one from the index, or the original of a decision in the store.
func (t *tools) original(ctx context.Context, s *served, in *expandInput) (string, error) {
	if err := s.recorded(ctx, in); err != nil {
		return "", err
	}
	digits, _, err := store.ParseHandle(decant.Handle(in.Handle))
	if err != nil {
		return "", err
	}
	if digits != "" {
		h, err := t.originals.named(ctx, s, digits, in.Conversation)
		if err == nil {
			blobs, err := s.Blobs(ctx, s.tenant, h)
			if err != nil {
				return "", err
			}
			return string(blobs[0]), nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	k, err := s.within(ctx, in.Conversation, in.Handle)
	if err != nil {
		return "", err
	}
	o, err := lookup.Original(ctx, s, k, decant.Handle(in.Handle))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = lookup.Expand(ctx, &b, s, o)
	return b.String(), err
}

// named returns the text whose hash begins with digits, in one conversation or, without a name, in all.
func (o *originals) named(ctx context.Context, s *served, digits, conversation string) (decant.Hash, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.follow(ctx, s); err != nil {
		return decant.Hash{}, err
	}
	counts := o.within(conversation)
	var found []string
	var h decant.Hash
	for n := range o.texts {
		if name := o.texts[n].Text.String(); strings.HasPrefix(name, digits) && (counts == nil || counts(n)) {
			found, h = append(found, "d:"+name), o.texts[n].Text
		}
	}
	switch len(found) {
	case 0:
		return h, store.ErrNotFound
	case 1:
		return h, nil
	}
	return h, &store.AmbiguousError{Name: "d:" + digits, Candidates: found}
}

// piece returns the begin and end of a part of a text, at borders of characters.
func piece(text string, offset, limit int) (from, to int) {
	from = min(max(offset, 0), len(text))
	to = min(len(text), from+min(cmp.Or(max(limit, 0), mostExpanded), mostExpanded))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	to = max(from, to)
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	if to == from && from < len(text) { // less than a character was asked for
		_, size := utf8.DecodeRuneInString(text[from:])
		to = from + size
	}
	return from, to
}

// within returns where to look for a handle: in the named conversation; for a checkpoint, in the only one
// there is; otherwise everywhere.
func (s *served) within(ctx context.Context, conversation, handle string) (store.Key, error) {
	if conversation != "" {
		c, err := s.conversation(ctx, conversation)
		if err != nil {
			return store.Key{}, err
		}
		return c.Key, nil
	}
	if strings.HasPrefix(handle, "c:") {
		if all, err := s.Conversations(ctx, store.Filter{Tenant: s.tenant, Limit: 2}); err != nil || len(all) == 1 {
			return store.Key{Tenant: s.tenant, ID: firstID(all)}, err
		}
	}
	return store.Key{Tenant: s.tenant}, nil
}

func firstID(all []store.Summary) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// conversation returns the conversation with a name.
func (s *served) conversation(ctx context.Context, name string) (*store.Summary, error) {
	c, err := lookup.Conversation(ctx, s, s.tenant, name)
	var several *lookup.AmbiguousError
	switch {
	case errors.As(err, &several):
		// A session has a conversation for each of its agents; take the newest.
		return &several.Found[0], nil
	case errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("there is no conversation %q: recall and checkpoints name them", name)
	}
	return c, err
}

// advised adds to an error what to do about an unknown or ambiguous handle.
func advised(err error, handle string) error {
	var several *store.AmbiguousError
	switch {
	case errors.Is(err, lookup.ErrWhich):
		return fmt.Errorf("every conversation has a checkpoint %s of its own: name the conversation, which the tool checkpoints lists", handle)
	case errors.As(err, &several):
		return fmt.Errorf("%s may be any of %s: give more digits", handle, strings.Join(several.Candidates, ", "))
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("nothing has the handle %s: it belongs to another database or conversation, or was deleted; recall finds texts by their words", handle)
	}
	return err
}
