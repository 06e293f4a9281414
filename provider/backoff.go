package provider

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// A Backoff says how long to wait before a call is tried again. The zero value leaves that to the SDK of the provider,
// which waits half a second, then twice that, and at most eight.
type Backoff struct {
	Attempts int           // in all; 0: three, as the SDKs make
	Least    time.Duration // before the second one; doubled before each further one
	Most     time.Duration // longest wait, unless the provider asks for a longer one
	Jitter   time.Duration // up to so much is added at random
}

// SDKRetries returns how often the SDK of a provider shall try a call again by itself: twice, as SDKs do, where nothing else is
// said, and never where Retry does.
func (b Backoff) SDKRetries() int {
	if b == (Backoff{}) {
		return 2
	}
	return 0
}

// Retry calls ask until it succeeds, its error is not worth another try, or ctx is done. Where the provider says how long
// to wait, that counts if it is longer. The zero value calls it once.
func (b Backoff) Retry(ctx context.Context, ask func() (*Answer, error)) (*Answer, error) {
	if b == (Backoff{}) {
		return ask()
	}
	attempts := cmp.Or(b.Attempts, 3)
	for n := 0; ; n++ {
		a, err := ask()
		if err == nil || n+1 >= attempts || ctx.Err() != nil || !again(err) {
			return a, err
		}
		wait := b.wait(n, err)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// again reports whether an error is worth another try. An answer that broke off is not: it is paid for, and so would be
// the next one.
func again(err error) bool {
	if f, ok := errors.AsType[*Failure](err); ok {
		return !f.Refused && Transient(f.Status)
	}
	return !errors.Is(err, ErrRefused) && !errors.Is(err, ErrBroken) && !errors.Is(err, errRedirect)
}

// wait returns how long to wait after the n-th try, counted from 0, has failed.
func (b Backoff) wait(n int, err error) time.Duration {
	d := min(b.Least<<n, b.Most)
	d = min(d+rand.N(b.Jitter+1), b.Most)
	if f, ok := errors.AsType[*Failure](err); ok {
		d = max(d, f.After)
	}
	return d
}
