package provider

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A Failure is an answer of a provider that is no answer of a model. It wraps [ErrRefused] when the same request would be
// refused again.
type Failure struct {
	Status  int           // of HTTP; 200 when an error came in the middle of a stream
	Kind    string        // what the provider calls it: "rate_limit_error"
	Message string        // what it says, without credentials
	Refused bool          // it would refuse the same request again
	After   time.Duration // how long it asks to wait; 0: it does not say
}

// Error says what the provider said.
func (f *Failure) Error() string {
	return fmt.Sprintf("the provider answered %d %s: %s", f.Status, f.Kind, f.Message)
}

// Unwrap returns ErrRefused when trying again is no use.
func (f *Failure) Unwrap() error {
	if f.Refused {
		return ErrRefused
	}
	return nil
}

// Transient reports whether a status is worth another try, as the clients of providers hold it.
func Transient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// Unreachable returns an error in the place of one that came in the way to a provider, without the credential. That it would
// not go elsewhere is kept.
func Unreachable(err error, c Credential) error {
	if errors.Is(err, errRedirect) {
		return fmt.Errorf("%w: %w", ErrRefused, errRedirect)
	}
	return errors.New(c.Hide(err.Error()))
}
