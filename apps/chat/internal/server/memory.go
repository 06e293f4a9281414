package chatserver

import (
	"net/http"
	"time"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

// A remembered is one thing that is remembered of a user.
type remembered struct {
	ID        string      `json:"id"`
	Kind      memory.Kind `json:"kind"`
	Text      string      `json:"text"`
	Scope     string      `json:"scope"`
	Session   string      `json:"session,omitzero"`
	Message   int         `json:"message,omitzero"`
	Times     int         `json:"times"`
	Created   time.Time   `json:"created"`
	Confirmed time.Time   `json:"confirmed"`
}

// memoryAPI answers requests about memories.
type memoryAPI struct{ records *records }

func (h *memoryAPI) listMemory(w http.ResponseWriter, r *http.Request, tenant string) error {
	items, err := h.records.opts.Store.Memories(r.Context(), store.MemoryQuery{Tenant: tenant})
	if err != nil {
		return err
	}
	js, err := h.records.journals(r.Context(), tenant, sessionKind, time.Time{})
	if err != nil {
		return err
	}
	sessions := map[string]string{} // by their conversations
	for i := range js {
		sessions[js[i].Conversation] = js[i].ID
	}
	out := []remembered{}
	for i := range items {
		it := &items[i]
		out = append(out, remembered{
			ID: it.ID, Kind: it.Kind, Text: it.Text, Scope: it.Scope.String(), Session: sessions[it.Source.Conversation], Message: it.Source.From,
			Times: it.Times, Created: it.Created, Confirmed: it.Confirmed,
		})
	}
	write(w, http.StatusOK, out)
	return nil
}

// deleteMemory forgets one thing.
func (h *memoryAPI) deleteMemory(w http.ResponseWriter, r *http.Request, tenant string) error {
	if _, err := h.records.opts.Store.Forget(r.Context(), store.Forgetting{Tenant: tenant, Memories: []string{r.PathValue("id")}}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// deleteMemories forgets everything.
func (h *memoryAPI) deleteMemories(w http.ResponseWriter, r *http.Request, tenant string) error {
	items, err := h.records.opts.Store.Memories(r.Context(), store.MemoryQuery{Tenant: tenant, Archived: true, Limit: 1 << 20})
	if err != nil {
		return err
	}
	f := store.Forgetting{Tenant: tenant}
	for i := range items {
		f.Memories = append(f.Memories, items[i].ID)
	}
	if len(items) > 0 { // with nothing named, everything of the tenant would go
		if _, err := h.records.opts.Store.Forget(r.Context(), f); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
