package chatserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
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

func (s *Server) listAgents(w http.ResponseWriter, r *http.Request, tenant string) error {
	all, err := s.agents(r.Context(), tenant)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, all)
	return nil
}

func (s *Server) getAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	a, err := s.agent(r.Context(), tenant, r.PathValue("name"))
	if err != nil {
		return err
	}
	write(w, http.StatusOK, a)
	return nil
}

// postAgent keeps an agent. Sessions of it go on with the new configuration.
func (s *Server) postAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	var a Agent
	if err := read(r, &a); err != nil {
		return err
	}
	tools, err := s.tools(tenant)
	if err != nil {
		return err
	}
	if err := s.check(&a, tools); err != nil {
		return invalid(err)
	}
	if _, err := s.made(tenant, &a); err != nil {
		return invalid(err)
	}
	made, err := s.putAgent(r.Context(), tenant, &a)
	if err != nil {
		return err
	}
	s.leave(func(rm *room) bool { return rm.key.Tenant == tenant && (rm.agent == nil || rm.agent.Name == a.Name) })
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	write(w, status, &a)
	return nil
}

func (s *Server) deleteAgent(w http.ResponseWriter, r *http.Request, tenant string) error {
	name := r.PathValue("name")
	if err := s.opts.Store.DropJournal(r.Context(), store.Key{Tenant: tenant, ID: agentPrefix + name}); err != nil {
		return fmt.Errorf("agent %s: %w", name, err)
	}
	s.leave(func(rm *room) bool { return rm.key.Tenant == tenant && rm.agent != nil && rm.agent.Name == name })
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// listSessions lists those that a query wants.
func (s *Server) listSessions(w http.ResponseWriter, r *http.Request, tenant string) error {
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
	js, err := s.journals(r.Context(), tenant, sessionKind, before)
	if err != nil {
		return err
	}
	wanted, err := s.found(r.Context(), tenant, v.Get("q"))
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
			out = append(out, s.described(js[i].Key, sum))
		}
	}
	write(w, http.StatusOK, out)
	return nil
}

// found returns which sessions hold every word of a text, in the title or in what was said.
func (s *Server) found(ctx context.Context, tenant, text string) (func(*agent.Summary, string) bool, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return func(*agent.Summary, string) bool { return true }, nil
	}
	hits, err := s.opts.Store.Search(ctx, store.Query{Tenant: tenant, Text: text, Limit: 1000})
	said := map[string]bool{}
	for _, h := range hits {
		said[h.Conversation], said[h.Session] = true, true
	}
	return func(sum *agent.Summary, conversation string) bool {
		title := strings.ToLower(sum.Title)
		for _, word := range words {
			if !strings.Contains(title, word) {
				return said[conversation] || said[sum.ID]
			}
		}
		return true
	}, err
}

// postSession begins a session.
func (s *Server) postSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in struct {
		Agent string `json:"agent"`
		Title string `json:"title"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	conf, err := s.agent(r.Context(), tenant, cmp.Or(in.Agent, DefaultAgent))
	if errors.Is(err, store.ErrNotFound) {
		return invalid(err)
	}
	if err != nil {
		return err
	}
	a, err := s.made(tenant, conf)
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
	return s.answerWith(w, r, http.StatusCreated, store.Key{Tenant: tenant, ID: session.ID()})
}

// answerWith answers with a session as it is now.
func (s *Server) answerWith(w http.ResponseWriter, r *http.Request, status int, k store.Key) error {
	now, err := s.now(r.Context(), k)
	if err != nil {
		return err
	}
	write(w, status, now)
	return nil
}

// now returns a session as it is now.
func (s *Server) now(ctx context.Context, k store.Key) (*summary, error) {
	sum, err := s.known(ctx, k)
	if err != nil {
		return nil, err
	}
	out := s.described(k, sum)
	return &out, nil
}

// known returns what a session of the service wrote of itself. What is none is store.ErrNotFound.
func (s *Server) known(ctx context.Context, k store.Key) (*agent.Summary, error) {
	j, err := s.opts.Store.Journal(ctx, k)
	if err != nil {
		return nil, err
	}
	if j.Kind != sessionKind {
		return nil, fmt.Errorf("session %s: %w", k.ID, store.ErrNotFound)
	}
	sum, err := summaryOf(j)
	if err == nil && sum.Labels[labelAgent] == "" {
		err = fmt.Errorf("session %s: %w", k.ID, store.ErrNotFound)
	}
	return sum, err
}

// journals returns all journals of a kind that changed before a time; the zero time means all. A limit would leave out what is old, and with it what a
// session begins with that somebody still talks in.
func (s *Server) journals(ctx context.Context, tenant, kind string, before time.Time) ([]store.Journal, error) {
	return s.opts.Store.Journals(ctx, store.JournalQuery{Tenant: tenant, Kind: kind, Before: before, Limit: math.MaxInt32})
}

func (s *Server) getSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	return s.answerWith(w, r, http.StatusOK, store.Key{Tenant: tenant, ID: r.PathValue("id")})
}

// patchSession renames or archives a session.
func (s *Server) patchSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in struct {
		Title    *string `json:"title"`
		Archived *bool   `json:"archived"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	rm, err := s.room(r.Context(), store.Key{Tenant: tenant, ID: r.PathValue("id")})
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
	return s.answerWith(w, r, http.StatusOK, rm.key)
}

// deleteSession removes a session with what was said in it. What other sessions begin with stays with them.
func (s *Server) deleteSession(w http.ResponseWriter, r *http.Request, tenant string) error {
	k := store.Key{Tenant: tenant, ID: r.PathValue("id")}
	rm, err := s.room(r.Context(), k)
	if err != nil {
		return err
	}
	if err := rm.stop(r.Context()); err != nil {
		return err
	}
	if err := s.dropTried(r.Context(), k); err != nil {
		return err
	}
	root, err := rm.session.Root(), s.opts.Store.DropJournal(r.Context(), k)
	if err != nil {
		return err
	}
	s.leave(func(other *room) bool { return other == rm })
	err = s.aside(func() { // it takes as long as the database is large
		s.removeFiles(rm.session)
		if err := s.forget(s.ctx, tenant, root); err != nil {
			s.opts.Logger.Error("what was said in a removed session is still stored: decant forget removes it", "session", root, "error", err)
		}
	})
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// forget removes what is stored of sessions with a root, unless there is one of them yet.
func (s *Server) forget(ctx context.Context, tenant, root string) error {
	js, err := s.journals(ctx, tenant, sessionKind, time.Time{})
	if err != nil {
		return err
	}
	for i := range js {
		if sum, err := summaryOf(&js[i]); err != nil || sum.Root == root {
			return err
		}
	}
	if err := s.opts.Engine.Flush(ctx); err != nil { // what is still being archived would come back
		return err
	}
	found, err := s.opts.Store.Conversations(ctx, store.Filter{Tenant: tenant, Session: root})
	if err != nil || len(found) == 0 {
		return err
	}
	f := store.Forgetting{Tenant: tenant, KeepMemories: true}
	for _, c := range found {
		f.Conversations = append(f.Conversations, c.ID)
	}
	_, err = s.opts.Store.Forget(ctx, f)
	return err
}
