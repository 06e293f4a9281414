package chatserver

import (
	"context"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

// messageAPI answers requests about what is said in a session.
type messageAPI struct{ rooms *rooms }

func (h *messageAPI) getMessages(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, shown(rm.session))
	return nil
}

// getExport answers with all that was said as a file.
func (h *messageAPI) getExport(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	all := shown(rm.session)
	switch as := r.URL.Query().Get("as"); as {
	case "", "json":
		w.Header().Set("Content-Disposition", `attachment; filename="session.json"`)
		write(w, http.StatusOK, all)
	case "text":
		w.Header().Set("Content-Disposition", `attachment; filename="session.md"`)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(plain(all))) // an error means that the client has left
	default:
		return invalid(fmt.Errorf("as: json or text: %q", as))
	}
	return nil
}

// A said text is what a user says.
type said struct {
	Text        string `json:"text"`
	Attachments []struct {
		Name      string `json:"name"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"attachments"`
}

// shownWith returns the attachments of what is said.
func (in *said) shownWith() (out []agent.Attachment, err error) {
	for _, a := range in.Attachments {
		data, err := base64.StdEncoding.DecodeString(a.Data)
		if err != nil {
			return nil, fmt.Errorf("attachments: %s: %w", a.Name, err)
		}
		out = append(out, agent.Attachment{Name: a.Name, MediaType: a.MediaType, Data: data})
	}
	return out, nil
}

// mostKey is the length of the longest Idempotency-Key.
const mostKey = 200

// postMessage says something.
func (h *messageAPI) postMessage(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	var in said
	if err := read(r, &in); err != nil {
		return err
	}
	with, err := in.shownWith()
	if err != nil {
		return invalid(err)
	}
	key := r.Header.Get("Idempotency-Key")
	switch {
	case strings.TrimSpace(in.Text) == "":
		return invalid(errors.New("text: it is empty"))
	case len(key) > mostKey:
		return invalid(fmt.Errorf("Idempotency-Key: it is longer than %d characters", mostKey))
	case rm.agent == nil:
		return &apiError{http.StatusConflict, "agent_gone", "the agent of the session was removed: make one of the same name to go on"}
	}
	for i := range with {
		if err := with[i].Check(); err != nil {
			return invalid(err)
		}
	}
	if len(with) == 0 && rm.session.SteerOnce(key, in.Text) {
		write(w, http.StatusAccepted, map[string]bool{"steered": true})
		return nil
	}
	run, err := rm.begin(r.Context(), func(ctx context.Context) iter.Seq2[agent.Event, error] {
		return rm.session.RunOnce(ctx, key, in.Text, with...)
	})
	if errors.Is(err, agent.ErrSaid) {
		return h.saidBefore(w, r, rm)
	}
	if err != nil {
		return err
	}
	return h.follow(w, r, rm, run)
}

// everything is the number from which nothing is known.
const everything = -1

// saidBefore answers somebody who says something again because he did not hear the answer.
func (h *messageAPI) saidBefore(w http.ResponseWriter, r *http.Request, rm *room) error {
	run := rm.current()
	switch {
	case run != nil && wantsJSON(r):
		return h.follow(w, r, rm, run)
	case run != nil:
		h.stream(w, r, rm, everything, run)
		return nil
	case wantsJSON(r):
		write(w, http.StatusOK, answerOf(rm.session))
		return nil
	}
	h.snapshot(r.Context(), newSender(w, rm)) // an error means that the client has left
	return nil
}

// answerOf returns the outcome of the last run of a session, by what was said last.
func answerOf(session *agent.Session) *outcome {
	o := &outcome{Stop: agent.StopAnswered, Spent: spentOf(session.Spent())}
	for _, m := range shown(session) {
		if m.Role == "assistant" && m.Text != "" {
			o.Text = m.Text
		}
	}
	return o
}

func (h *messageAPI) postContinue(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	run, err := rm.begin(r.Context(), rm.session.Continue)
	if err != nil {
		return err
	}
	return h.follow(w, r, rm, run)
}

// postApproval decides about a call.
func (h *messageAPI) postApproval(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	var in struct {
		Kind      agent.VerdictKind `json:"kind"`
		Reason    string            `json:"reason"`
		Arguments jsontext.Value    `json:"arguments"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	if in.Kind == agent.Edit && in.Arguments.Kind() != jsontext.KindBeginObject {
		return invalid(errors.New("arguments: an object in place of the model's"))
	}
	if in.Kind != agent.Allow && in.Kind != agent.Deny && in.Kind != agent.Edit {
		return invalid(fmt.Errorf("kind: allow, deny or edit: %q", in.Kind))
	}
	v := agent.Verdict{Kind: in.Kind, Reason: in.Reason, Arguments: stdjson.RawMessage(in.Arguments)}
	resume := func() (*running, error) {
		return rm.begin(r.Context(), func(ctx context.Context) iter.Seq2[agent.Event, error] {
			return rm.session.Resume(ctx, r.PathValue("call"), v)
		})
	}
	run, err := resume()
	if errors.Is(err, agent.ErrUnknown) && rm.current() == nil { // another service may have written the call since it was opened
		h.rooms.leave(func(o *room) bool { return o == rm })
		if rm, err = h.rooms.roomOf(r, tenant); err == nil {
			run, err = resume()
		}
	}
	if err != nil {
		return err
	}
	return h.follow(w, r, rm, run)
}

func (h *messageAPI) postStop(w http.ResponseWriter, r *http.Request, tenant string) error {
	k := store.Key{Tenant: tenant, ID: r.PathValue("id")}
	if _, err := h.rooms.records.known(r.Context(), k); err != nil {
		return err
	}
	if err := h.rooms.elsewhere(r.Context(), k); err != nil {
		return err
	}
	if rm := h.rooms.known(claimOf(r.Context()), k); rm != nil { // else it has no run
		if err := rm.stop(r.Context()); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postRewind takes a session back to before something that the user said.
func (h *messageAPI) postRewind(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, in, err := h.rooms.turnOf(r, tenant)
	if err == nil && in.Message == nil {
		err = invalid(errors.New("message: it is missing"))
	}
	if err != nil {
		return err
	}
	now, err := rm.rewind(r.Context(), *in.Message, in.Memory)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, now)
	return nil
}

// A place is a turn of a session, which a request names by the message with which it begins.
type place struct {
	Message *int `json:"message"`
	Memory  bool `json:"memory"` // what was saved from there on is meant, too
}

// turnOf returns the room of a request, and the turn that it names, if it names one.
func (s *rooms) turnOf(r *http.Request, tenant string) (*room, place, error) {
	var in place
	rm, err := s.roomOf(r, tenant)
	if err != nil {
		return nil, in, err
	}
	if err := read(r, &in); err != nil || in.Message == nil {
		return rm, in, err
	}
	if !slices.ContainsFunc(rm.session.Turns(), func(t agent.Turn) bool { return t.First == *in.Message }) {
		return nil, in, invalid(fmt.Errorf("message: %d is not the index of a message with which the user begins a turn", *in.Message))
	}
	return rm, in, nil
}

// postFork begins a session with a part of another one.
func (h *messageAPI) postFork(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, in, err := h.rooms.turnOf(r, tenant)
	if err != nil {
		return err
	}
	first := -1
	if in.Message != nil {
		first = *in.Message
	}
	f, err := h.branched(rm, first)
	if err == nil {
		err = h.rooms.folders.withFiles(f)
	}
	if err != nil {
		return err
	}
	return h.rooms.answerWith(w, r, http.StatusCreated, store.Key{Tenant: tenant, ID: f.ID()})
}

// branched returns a session with the first messages of another one; less than zero: with all.
func (h *messageAPI) branched(rm *room, n int) (*agent.Session, error) {
	conf := rm.agent
	if conf == nil {
		conf = &h.rooms.opts.Default
	}
	a, err := h.rooms.agents.made(rm.key.Tenant, conf)
	if err != nil {
		return nil, err
	}
	return a.Take("", rm.session, n)
}

// wantsJSON reports whether a client asks for one answer at the end, not for a stream.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream")
}

// follow answers with what happens in a run, or with how it has ended.
func (h *messageAPI) follow(w http.ResponseWriter, r *http.Request, rm *room, run *running) error {
	if !wantsJSON(r) {
		h.stream(w, r, rm, run.from, run)
		return nil
	}
	select {
	case <-run.done:
		if run.limit != nil {
			return run.limit
		}
		write(w, http.StatusOK, run.end)
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// getEvents answers with what happens, until the client leaves.
func (h *messageAPI) getEvents(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	from, ok := rm.number(r.Header.Get("Last-Event-ID"))
	if !ok {
		from = everything
	}
	h.stream(w, r, rm, from, nil)
	return nil
}

// heartbeat is how long a stream may say nothing.
const heartbeat = 15 * time.Second
