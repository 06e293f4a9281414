package chatserver

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/decantdev/decant/store"
)

// getMe says who asks.
func (s *Server) getMe(w http.ResponseWriter, r *http.Request) {
	u, err := s.door.admit(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, http.StatusOK, u)
}

// agentAPI answers requests about agents.
type agentAPI struct {
	agents *agentBook
	rooms  *rooms
}

func (h *agentAPI) listAgents(w http.ResponseWriter, r *http.Request, tenant string) error {
	all, err := h.agents.list(r.Context(), tenant)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, all)
	return nil
}

func (h *agentAPI) getAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	a, err := h.agents.find(r.Context(), tenant, r.PathValue("name"))
	if err != nil {
		return err
	}
	write(w, http.StatusOK, a)
	return nil
}

// postAgent keeps an agent. Sessions of it go on with the new configuration.
func (h *agentAPI) postAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	var a Agent
	if err := read(r, &a); err != nil {
		return err
	}
	tools, err := h.agents.tools(tenant)
	if err != nil {
		return err
	}
	if err := h.agents.check(&a, tools); err != nil {
		return invalid(err)
	}
	if _, err := h.agents.made(tenant, &a); err != nil {
		return invalid(err)
	}
	made, err := h.agents.put(r.Context(), tenant, &a)
	if err != nil {
		return err
	}
	h.rooms.leave(func(rm *room) bool { return rm.key.Tenant == tenant && (rm.agent == nil || rm.agent.Name == a.Name) })
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	write(w, status, &a)
	return nil
}

func (h *agentAPI) deleteAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	name := r.PathValue("name")
	if err := h.agents.opts.Store.DropJournal(r.Context(), store.Key{Tenant: tenant, ID: agentPrefix + name}); err != nil {
		return fmt.Errorf("agent %s: %w", name, err)
	}
	h.rooms.leave(func(rm *room) bool { return rm.key.Tenant == tenant && rm.agent != nil && rm.agent.Name == name })
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// sessionAPI answers requests about sessions as a whole.
type sessionAPI struct{ rooms *rooms }

// listSessions lists those that a query wants.
func (h *sessionAPI) listSessions(w http.ResponseWriter, r *http.Request, tenant string) error {
	v := r.URL.Query()
	var before time.Time
	var err error
	if text := v.Get("before"); text != "" {
		if before, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return invalid(fmt.Errorf("before: %w", err))
		}
	}
	limit := 1000
	if text := v.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > 1000 {
			return invalid(fmt.Errorf("limit: a number from 1 to 1000: %q", text))
		}
	}
	js, err := h.rooms.records.journals(r.Context(), tenant, sessionKind, before)
	if err != nil {
		return err
	}
	wanted, err := h.rooms.records.found(r.Context(), tenant, v.Get("q"))
	if err != nil {
		return err
	}
	out := []summary{}
	for i := 0; i < len(js) && len(out) < limit; i++ {
		sum, err := summaryOf(&js[i])
		if err != nil {
			return err
		}
		archived := sum.Labels[labelArchived] != ""
		if sum.Labels[labelAgent] != "" && archived == (v.Get("archived") == "true") && wanted(sum, js[i].Conversation) {
			out = append(out, h.rooms.described(js[i].Key, sum))
		}
	}
	write(w, http.StatusOK, out)
	return nil
}

// postSession begins a session.
func (h *sessionAPI) postSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in struct {
		Agent string `json:"agent"`
		Title string `json:"title"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	conf, err := h.rooms.agents.find(r.Context(), tenant, cmp.Or(in.Agent, DefaultAgent))
	if errors.Is(err, store.ErrNotFound) {
		return invalid(err)
	}
	if err != nil {
		return err
	}
	a, err := h.rooms.agents.made(tenant, conf)
	if err != nil {
		return err
	}
	session := a.Session(rand.Text())
	if in.Title != "" { // first: a bad title begins no session
		if err := session.Rename(in.Title); err != nil {
			return err
		}
	}
	if err := session.SetLabels(map[string]string{labelAgent: conf.Name}); err != nil {
		return err
	}
	return h.rooms.answerWith(w, r, http.StatusCreated, store.Key{Tenant: tenant, ID: session.ID()})
}

func (h *sessionAPI) getSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	return h.rooms.answerWith(w, r, http.StatusOK, store.Key{Tenant: tenant, ID: r.PathValue("id")})
}

// patchSession renames or archives a session.
func (h *sessionAPI) patchSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in struct {
		Title    *string `json:"title"`
		Archived *bool   `json:"archived"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	rm, err := h.rooms.ownRoom(r, tenant)
	if err != nil {
		return err
	}
	if in.Title != nil {
		if err := rm.session.Rename(*in.Title); err != nil {
			return err
		}
	}
	if in.Archived != nil {
		mark := ""
		if *in.Archived {
			mark = "yes"
		}
		if err := rm.session.SetLabels(map[string]string{labelArchived: mark}); err != nil {
			return err
		}
	}
	return h.rooms.answerWith(w, r, http.StatusOK, rm.key)
}

// deleteSession removes a session with what was said in it. What other sessions begin with stays with them.
func (h *sessionAPI) deleteSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.ownRoom(r, tenant)
	if err != nil {
		return err
	}
	if err := rm.stop(r.Context()); err != nil {
		return err
	}
	if err := h.rooms.records.dropTried(r.Context(), rm.key); err != nil {
		return err
	}
	root, err := rm.session.Root(), h.rooms.opts.Store.DropJournal(r.Context(), rm.key)
	if err != nil {
		return err
	}
	h.rooms.leave(func(other *room) bool { return other == rm })
	err = h.rooms.aside(func() { // it takes as long as the database is large
		h.rooms.folders.removeFiles(rm.session)
		if err := h.rooms.records.forget(h.rooms.ctx, tenant, root); err != nil {
			h.rooms.opts.Logger.Error("what was said in a removed session is still stored: decant forget removes it", "session", root, "error", err)
		}
	})
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
