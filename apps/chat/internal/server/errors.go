package chatserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/internal/front"
	"github.com/decantdev/decant/internal/hold"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/store"
)

// An apiError is an error with the answer that it becomes.
type apiError struct {
	status  int
	kind    string
	message string
}

// Error returns what the client is told.
func (e *apiError) Error() string { return e.message }

// invalid returns the error of a request that is wrong.
func invalid(err error) error {
	return &apiError{http.StatusBadRequest, "invalid_request", err.Error()}
}

// errorBody returns an error as openapi.yaml describes it.
func errorBody(kind, message string) any {
	return map[string]any{"error": map[string]string{"type": kind, "message": message}}
}

// statuses are what errors that callers can do something about become.
var statuses = []struct {
	err    error
	status int
	kind   string
}{
	{store.ErrNotFound, http.StatusNotFound, "not_found"},
	{agent.ErrTitle, http.StatusBadRequest, "invalid_request"},
	{agent.ErrRunning, http.StatusConflict, "running"},
	{agent.ErrWaiting, http.StatusConflict, "waiting"},
	{agent.ErrUnknown, http.StatusConflict, "unknown_call"},
	{agent.ErrNoAnswer, http.StatusNotFound, "no_answer"},
	{agent.ErrNotNoted, http.StatusNotFound, "not_noted"},
	{agent.ErrNotTheSame, http.StatusConflict, "not_the_same"},
	{agent.ErrEnded, http.StatusConflict, "ended"},
	{agent.ErrTaken, http.StatusConflict, "taken"},
	{decant.ErrNothing, http.StatusConflict, "nothing"},
	{decant.ErrStale, http.StatusConflict, "stale"},
	{store.ErrConflict, http.StatusConflict, "conflict"},
	{hold.ErrFull, http.StatusServiceUnavailable, "overloaded"},
	{store.ErrFull, http.StatusInsufficientStorage, "full"},
}

// addresses are URLs, and addresses of machines with their ports.
var addresses = lazyregexp.New(`\w+://[^\s"']+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|\[[0-9A-Fa-f:.%]+\](:\d+)?`)

// told returns why a run has failed as its user may know it: without where the model is and with what it is asked. The log says
// all of it.
func (o *Options) told(err error) string {
	if f, ok := errors.AsType[*provider.Failure](err); ok {
		o.Logger.Warn("the provider has refused a request of the chat", "error", err)
		if f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden { // what it says is about the service's credential
			return fmt.Sprintf("the provider answered %d: it refuses the credential of the service, whose log says why", f.Status)
		}
		return secret.Mask(addresses.ReplaceAllString(f.Error(), "(address)"))
	}
	if _, ok := errors.AsType[*budget.Error](err); ok || errors.Is(err, agent.ErrBudget) {
		return err.Error()
	}
	for _, c := range statuses {
		if errors.Is(err, c.err) {
			return err.Error()
		}
	}
	o.Logger.Error("a run of the chat has failed", "error", err)
	if errors.Is(err, provider.ErrBroken) {
		return provider.ErrBroken.Error() + "; the service's log says why"
	}
	return "the model gave no answer; the service's log says why"
}

// fail answers with an error. What is none of the client's business is logged and not told.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if e, ok := errors.AsType[*apiError](err); ok {
		write(w, e.status, errorBody(e.kind, e.message))
		return
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		write(w, http.StatusRequestEntityTooLarge, errorBody("too_large", e.Error()))
		return
	}
	if e, ok := errors.AsType[*front.BodyError](err); ok {
		w.Header().Set("Connection", "close") // the rest of the body is not waited for
		write(w, e.Status, errorBody("invalid_request", e.Error()))
		return
	}
	if s.rooms.agents.limits.refused(w, err) {
		return
	}
	for _, c := range statuses {
		if errors.Is(err, c.err) {
			if c.status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "5")
				io.Copy(io.Discard, r.Body) // many clients read no answer before they have sent all
			}
			write(w, c.status, errorBody(c.kind, err.Error()))
			return
		}
	}
	if _, ok := errors.AsType[*provider.Failure](err); ok {
		write(w, http.StatusBadGateway, errorBody("model", s.opts.told(err)))
		return
	}
	if r.Context().Err() == nil {
		s.opts.Logger.Error("a request of the chat failed", "path", r.Pattern, "error", err)
	}
	write(w, http.StatusInternalServerError, errorBody("internal", "the service has failed; its log says more"))
}

// write writes an answer in JSON. An error means that the client has left.
func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.MarshalWrite(w, body)
}

// read reads a request in JSON. One without a body leaves in as it is.
func read(r *http.Request, in any) error {
	if r.ContentLength == 0 {
		return nil
	}
	if err := json.UnmarshalRead(r.Body, in); err != nil {
		return unread(err, invalid(err))
	}
	return nil
}

// unread returns the error of a body that cannot be read: why it did not arrive, or else wrong, which says that it is no such request.
func unread(err, wrong error) error {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*front.BodyError](err); ok {
		return e
	}
	if errors.Is(err, hold.ErrFull) {
		return err
	}
	return wrong
}
