package provider

import (
	"fmt"
	"strings"
	"time"
)

// A Failure is an error that a provider answered with. It wraps [ErrRefused] when the provider would refuse the same
// request again.
type Failure struct {
	Status  int           // of HTTP; 200 when an error came in the middle of a stream
	Kind    string        // what the provider calls it: "rate_limit_error"
	Message string        // what it says, without credentials
	Refused bool          // it would refuse the same request again
	After   time.Duration // how long it asks to wait; 0: it does not say
}

// Error says what the provider said.
func (f *Failure) Error() string {
	out := strings.TrimSuffix(fmt.Sprintf("the provider answered %d %s", f.Status, f.Kind), " ") + ": " + f.Message
	if f.After > time.Minute {
		out += fmt.Sprintf(" (it asks to wait %s)", f.After.Round(time.Second))
	}
	return out
}

// Unwrap returns ErrRefused when trying again is no use.
func (f *Failure) Unwrap() error {
	if f.Refused {
		return ErrRefused
	}
	return nil
}
