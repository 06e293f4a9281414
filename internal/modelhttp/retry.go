package modelhttp

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/provider"
)

// Retry calls ask until it succeeds, its error is not worth another attempt, or ctx is done.
func Retry[T any](ctx context.Context, b provider.Backoff, ask func() (T, error)) (T, error) {
	attempts := cmp.Or(b.Attempts, 3)
	for n := 0; ; n++ {
		a, err := ask()
		if err == nil || n+1 >= attempts || ctx.Err() != nil || !again(err) {
			return a, err
		}
		pause := wait(b, n, err)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
			return a, err
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// again reports whether an error is worth another attempt. An answer that broke off is not: it is paid for, and so would
// be the next one.
func again(err error) bool {
	if f, ok := errors.AsType[*provider.Failure](err); ok {
		return !f.Refused && f.After <= hopeless && f.Status >= http.StatusBadRequest && !errors.Is(err, provider.ErrBroken)
	}
	return !errors.Is(err, provider.ErrRefused) && !errors.Is(err, provider.ErrBroken)
}

// The pauses where no Backoff is given, as the official clients of the APIs make them.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 8 * time.Second
	longestAsked = time.Minute // a longer wait that the provider asks for is not taken

	hopeless = time.Hour // a call that is to be made again later than that has failed
)

// wait returns the pause after the n-th attempt, counted from 0, has failed. A backoff is for a provider that has too many calls: whatever
// else fails is tried again as usual, and soon known to fail.
func wait(b provider.Backoff, n int, err error) time.Duration {
	asked, crowded := crowding(err)
	if b == (provider.Backoff{}) || !crowded {
		if 0 < asked && asked < longestAsked {
			return asked
		}
		d := min(firstPause<<n, longestPause)
		return d - rand.N(d/4)
	}
	d := min(b.Least<<n, b.Most)
	return max(min(d+rand.N(b.Jitter+1), b.Most), asked)
}

// statusOverloaded is what Anthropic answers when all of its clients together ask for too much.
const statusOverloaded = 529

// crowding returns how long an error asks to wait, and whether it says that there are too many calls.
func crowding(err error) (asked time.Duration, crowded bool) {
	if f, ok := errors.AsType[*provider.Failure](err); ok {
		return f.After, f.Status == http.StatusTooManyRequests || f.Status == statusOverloaded
	}
	if l, ok := errors.AsType[*pace.LimitError](err); ok {
		return time.Until(l.Until), true
	}
	return 0, false
}

// Failed returns the failure of an answer by its status and headers. The caller adds what the body says.
func Failed(status int, h http.Header) *provider.Failure {
	f := &provider.Failure{Status: status, Refused: status >= http.StatusBadRequest && !transient(status), After: after(h)}
	if should, err := strconv.ParseBool(h.Get("X-Should-Retry")); err == nil {
		f.Refused = !should
	}
	return f
}

// transient reports whether a status is worth another attempt, as the official clients see it.
func transient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// after returns how long an answer asks to wait: in milliseconds, in seconds, or until a date. It is 0 where it does not
// say.
func after(h http.Header) time.Duration {
	if d, err := time.ParseDuration(h.Get("Retry-After-Ms") + "ms"); err == nil {
		return max(0, d)
	}
	said := h.Get("Retry-After")
	if d, err := time.ParseDuration(said + "s"); err == nil {
		return max(0, d)
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
