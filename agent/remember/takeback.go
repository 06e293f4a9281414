package remember

import (
	"context"
	stdjson "encoding/json"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/memory"
)

// Taken is what TakeBack has taken back: the memories that it removed or changed, as they were before.
type Taken struct {
	Items []memory.Item
}

// TakeBack takes back what calls of save_memory have saved in the messages of a session from first on, counted from 0: a memory that was new
// then is removed, the one that it corrected is in use again, and one that was there before is no longer confirmed by it. conversations
// are those under which the session is stored. What somebody has said again elsewhere meanwhile stays, and what forget has removed is gone;
// calls with the ids of but are left alone.
func TakeBack(ctx context.Context, o Options, conversations []string, messages []stdjson.RawMessage, first int, but ...string) (Taken, error) {
	b := newBook(o)
	said := savedIn(messages, first, but)
	var out Taken
	if len(said) == 0 {
		return out, nil
	}
	err := b.Store.Revise(ctx, b.Tenant, b.scope, func(have []memory.Item) ([]memory.Item, error) {
		r := revision{have: slices.Clone(have), was: have, conversations: conversations}
		for i := range slices.Backward(said) {
			r.undo(&said[i], b.Now().UTC())
		}
		out.Items = r.changed
		return r.have, nil
	})
	return out, err
}

// PutBack makes memories what they were before TakeBack.
func PutBack(ctx context.Context, o Options, t Taken) error {
	if len(t.Items) == 0 {
		return nil
	}
	b := newBook(o)
	return b.Store.Revise(ctx, b.Tenant, b.scope, func(have []memory.Item) ([]memory.Item, error) {
		out := slices.Clone(have)
		for _, it := range t.Items {
			if old := find(out, it.ID); old != nil {
				*old = it
			} else {
				out = append(out, it)
			}
		}
		return out, nil
	})
}

// A said thing is a call that has saved something.
type said struct {
	saved
	message int // from 1, as sources count
}

// savedIn returns the calls of save_memory in messages, from first on and but for some, that have not failed.
func savedIn(messages []stdjson.RawMessage, first int, but []string) (out []said) {
	type block struct {
		Type      string             `json:"type"`
		ID        string             `json:"id"`
		Name      string             `json:"name"`
		Input     stdjson.RawMessage `json:"input"`
		Answers   string             `json:"tool_use_id"`
		Error     bool               `json:"is_error"`
		Arguments saved              `json:"-"`
	}
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	ids := map[string]int{} // where a call stands in out
	failed := map[int]bool{}
	for n := max(first, 0); n < len(messages); n++ {
		var m struct {
			Blocks []block `json:"content"`
		}
		if json.Unmarshal(messages[n], &m, lenient) != nil {
			continue
		}
		for _, b := range m.Blocks {
			switch i, known := ids[b.Answers]; {
			case b.Type == "tool_result" && known && b.Error:
				failed[i] = true
			case b.Type == "tool_use" && b.Name == saveName && !slices.Contains(but, b.ID) && json.Unmarshal(b.Input, &b.Arguments) == nil:
				ids[b.ID] = len(out)
				out = append(out, said{b.Arguments, n + 1})
			}
		}
	}
	kept := out[:0]
	for i := range out {
		if !failed[i] {
			kept = append(kept, out[i])
		}
	}
	return kept
}

// A revision is what becomes of the items of a scope.
type revision struct {
	have, was     []memory.Item
	changed       []memory.Item // as they were
	conversations []string
}

// undo takes back what a call has saved.
func (r *revision) undo(s *said, now time.Time) {
	it, err := memory.New("m:0", memory.KindMemory, memory.Scope{Level: memory.User}, s.Content, memory.Source{}, now)
	if err != nil {
		return // such a text is not saved
	}
	from := func(src memory.Source) bool {
		return src.From == s.message && slices.Contains(r.conversations, src.Conversation)
	}
	for i := range r.have {
		h := &r.have[i]
		if from(h.Source) && h.Text == it.Text {
			r.remove(i, s.Corrects, now)
			return
		}
		k := slices.IndexFunc(h.Confirmations, func(c memory.Confirmation) bool { return from(c.Source) && c.Evidence == it.Text })
		if k >= 0 {
			r.note(h.ID)
			h.Confirmations = slices.Delete(slices.Clone(h.Confirmations), k, k+1)
			h.Times--
			h.Confirmed = h.Created
			for _, c := range h.Confirmations {
				if c.Time.After(h.Confirmed) {
					h.Confirmed = c.Time
				}
			}
			r.restore(s.Corrects, h.ID, now)
			return
		}
	}
}

// remove removes an item that nobody has confirmed since, and restores the one that it has corrected.
func (r *revision) remove(i int, corrected string, now time.Time) {
	id := r.have[i].ID
	if r.have[i].Times > 0 {
		return
	}
	r.note(id)
	r.have = slices.Delete(r.have, i, i+1)
	r.restore(corrected, id, now)
}

// restore takes an item into use again that another one has corrected.
func (r *revision) restore(id, by string, now time.Time) {
	old := find(r.have, id)
	if old == nil || old.Became != by {
		return
	}
	if it, err := memory.Restore(*old, now); err == nil {
		r.note(id)
		it.Became = ""
		*old = it
	}
}

// note keeps an item as it was before anything was taken back.
func (r *revision) note(id string) {
	if was := find(r.was, id); was != nil && find(r.changed, id) == nil {
		r.changed = append(r.changed, *was)
	}
}
