package transport

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// budgeted reports whether a budget limits what a request may spend.
func (t *Transport) budgeted(r *http.Request) bool {
	return t.engine.Load().Budgeted(t.opts.Budgets(r))
}

// guarded reports whether a request's headers may not make it do less than the options say.
func (t *Transport) guarded(r *http.Request) bool { return t.opts.Guarded(r) || t.budgeted(r) }

// unmetered returns why a request that is no request for messages may not pass where a budget applies: whatever
// may cost something must come by the door at which it is counted. It is empty when the request may pass.
func unmetered(r *http.Request, k kind) string {
	path := r.URL.Path
	switch {
	case odd(path):
		return fmt.Sprintf("a budget applies, and the path %.100q could mean another one to the provider; write it plainly", path)
	case r.Header.Get("Upgrade") != "":
		return "a budget applies, and what is said over an upgraded connection cannot be metered"
	case k == count, k == batch, costsNothing(r.Method, path):
		return ""
	}
	return fmt.Sprintf("a budget applies, and what %s %.100s costs cannot be metered; send requests to /v1/messages or /v1/messages/batches", r.Method, path)
}

// odd reports whether servers may differ in what a path means.
func odd(path string) bool {
	return strings.Contains(path, "//") || strings.ContainsAny(path, `;?#%\`) ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' })
}

// freePaths are those of the Messages API below its version to which something may be sent that costs nothing.
var freePaths = []string{"files", "skills"}

// costsNothing reports whether a request that is not for messages is free: it reads or removes, or it is known.
func costsNothing(method, path string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		return true
	case http.MethodPost:
		_, below, ok := strings.Cut(path, "/v1/")
		first, _, _ := strings.Cut(below, "/")
		batch, cancels := strings.CutSuffix(below, "/cancel")
		return ok && (slices.Contains(freePaths, first) || cancels && strings.HasPrefix(batch, "messages/batches/"))
	}
	return false
}

// refuseUnpacked returns the answer to a request that a budget applies to and whose body cannot be read.
func (x *exchange) refuseUnpacked() *http.Response {
	const why = "decant: a budget applies, and the body cannot be metered: "
	switch {
	case x.large:
		return refuseUnread(x.in, http.StatusRequestEntityTooLarge, "request_too_large", fmt.Sprintf("%sit has more than %d bytes", why, x.t.opts.MaxBody))
	case errors.Is(x.foreign, errLarge), errors.Is(x.foreign, errBomb):
		return refuse(x.in, http.StatusRequestEntityTooLarge, "request_too_large", why+x.foreign.Error())
	}
	return refuse(x.in, http.StatusUnsupportedMediaType, "invalid_request_error", why+x.foreign.Error())
}
