package transport

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/decantdev/decant/internal/dialect"
)

// budgeted reports whether a budget limits what a request may spend.
func (t *Transport) budgeted(r *http.Request) bool {
	return t.engine.Load().Budgeted(t.opts.Budgets(r))
}

// guarded reports whether a request's headers may not make it do less than the options say.
func (t *Transport) guarded(r *http.Request) bool { return t.opts.Guarded(r) || t.budgeted(r) }

// unmetered returns why a request that is no request for messages may not pass where a budget applies: whatever
// may cost something must come by the door at which it is counted. It is empty when the request may pass.
func unmetered(r *http.Request, d dialect.Dialect, k dialect.Kind) string {
	path := r.URL.Path
	switch {
	case dialect.Ambiguous(path):
		return fmt.Sprintf("a budget applies, and the path %.100q could mean another one to the provider; write it plainly", path)
	case r.Header.Get("Upgrade") != "":
		return "a budget applies, and what is said over an upgraded connection cannot be metered"
	case unpriced(k), onlyReads(r.Method):
		return ""
	}
	return fmt.Sprintf("a budget applies, and what %s %.100s costs cannot be metered; send requests to %s", r.Method,
		path, strings.Join(d.About().Metered, " or "))
}

// unpriced reports whether requests of a kind cost nothing, or are counted at their own door.
func unpriced(k dialect.Kind) bool {
	switch k {
	case dialect.Free, dialect.Count, dialect.Batch, dialect.BatchState, dialect.BatchResults:
		return true
	}
	return false
}

// onlyReads reports whether requests with a method read or remove something, which costs nothing.
func onlyReads(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		return true
	}
	return false
}

// refuseUnpacked returns the answer to a request that a budget applies to and whose body cannot be read.
func (x *exchange) refuseUnpacked() *http.Response {
	const why = "decant: a budget applies, and the body cannot be metered: "
	switch {
	case x.large:
		return refuseUnread(x.dialect, x.in, http.StatusRequestEntityTooLarge, dialect.TooLarge,
			fmt.Sprintf("%sit has more than %d bytes", why, x.t.opts.MaxBody))
	case errors.Is(x.foreign, errLarge), errors.Is(x.foreign, errBomb):
		return x.refuse(http.StatusRequestEntityTooLarge, dialect.TooLarge, why+x.foreign.Error())
	}
	return x.refuse(http.StatusUnsupportedMediaType, dialect.Invalid, why+x.foreign.Error())
}
