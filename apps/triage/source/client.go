package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/provider"
)

// Why a service does not give what it is asked for. The error around it says what to do.
var (
	errCredential = errors.New("the credential is refused")
	errRight      = errors.New("the credential lacks a right")
	errBusy       = errors.New("the service asks to wait for longer than a run can")
)

// What is waited for a service, and read of an answer, at most.
const (
	mostTries  = 4
	mostWait   = time.Minute     // for one try
	timeOfTry  = 3 * time.Minute // with what it waits for the limits of the service
	mostAnswer = 64 << 20
)

// A service is asked over HTTP, with a credential.
type service struct {
	name string // for people: "Sentry"
	base string
	who  provider.Credential
	via  http.RoundTripper
	help map[int]string // what to do, by the status of an answer
}

// A failure is an answer that is none.
type failure struct {
	err   error
	again bool          // another try may help
	after time.Duration // not earlier; 0: not told
}

// Error says why.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns why.
func (f *failure) Unwrap() error { return f.err }

// ask makes a call, again where that may help, and returns the answer. request makes the call's request each time. check says what is wrong
// with an answer whose status is 200, nil: nothing.
func (s *service) ask(ctx context.Context, request func(context.Context) (*http.Request, error), check func([]byte) error) ([]byte, http.Header, error) {
	if err := modelhttp.CheckBase(s.base); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.name, err)
	}
	for try := 1; ; try++ {
		body, header, err := s.try(ctx, request, check)
		if err == nil {
			return body, header, nil
		}
		err = fmt.Errorf("%s: %w", s.name, err)
		f, ok := errors.AsType[*failure](err)
		if !ok || !f.again || ctx.Err() != nil {
			return nil, nil, err
		}
		if f.after > mostWait {
			return nil, nil, fmt.Errorf("%w: %w (%v)", err, errBusy, f.after)
		}
		if try == mostTries {
			return nil, nil, fmt.Errorf("%w, at the %dth try", err, try)
		}
		wait := cmp.Or(f.after, time.Second<<(try-1)) + rand.N(time.Second/2)
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// try makes one call.
func (s *service) try(ctx context.Context, request func(context.Context) (*http.Request, error), check func([]byte) error) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, timeOfTry)
	defer cancel()
	req, err := request(ctx)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("User-Agent", "decant")
	res, err := modelhttp.Client(s.via, s.who).Do(req)
	if err != nil {
		if full, ok := errors.AsType[*pace.LimitError](err); ok {
			return nil, nil, full
		}
		redirected := res != nil // an answer beside an error means only that
		return nil, nil, &failure{err: errors.New(s.who.Hide(err.Error())), again: !redirected}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, nil, &failure{err: fmt.Errorf("read the answer: %w", err), again: true}
	case len(body) > mostAnswer:
		return nil, nil, fmt.Errorf("the answer has more than %d bytes", mostAnswer)
	case res.StatusCode != http.StatusOK:
		return nil, nil, s.refused(res, body)
	}
	return body, res.Header, check(body)
}

// refused says what an answer means that is not 200.
func (s *service) refused(res *http.Response, body []byte) error {
	err := fmt.Errorf("answers %d: %s", res.StatusCode, s.who.Hide(string(body)))
	f := &failure{err: err, after: retryAfter(res.Header, time.Now())}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		f.err = fmt.Errorf("%w: %w", errCredential, err)
	case http.StatusForbidden:
		f.err = fmt.Errorf("%w: %w", errRight, err)
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		f.again = true
	default:
		f.again = res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented
	}
	if do := s.help[res.StatusCode]; do != "" {
		f.err = fmt.Errorf("%w; %s", f.err, do)
	}
	return f
}

// retryAfter returns how long a service asks to wait: Retry-After in seconds or as a date, or the time at which Sentry counts anew.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 && n < 1e6 {
			return time.Duration(n * float64(time.Second))
		}
		if t, err := http.ParseTime(v); err == nil {
			return max(0, t.Sub(now))
		}
	}
	if n, err := strconv.ParseInt(h.Get("X-Sentry-Rate-Limit-Reset"), 10, 64); err == nil && h.Get("X-Sentry-Rate-Limit-Remaining") == "0" {
		return max(0, time.Unix(n, 0).Sub(now))
	}
	return 0
}
