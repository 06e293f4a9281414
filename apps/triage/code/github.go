package code

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/go-github/v89/github"

	"github.com/decantdev/decant/internal/pace"
)

// GitHub returns a client for GitHub, or for another address such as that of an Enterprise server; base empty: GitHub itself. A call that changes
// nothing is made again, three times at most, when the server fails or wants it to wait for no longer than a minute. via makes the calls;
// nil: http.DefaultTransport.
func GitHub(token, base string, via http.RoundTripper) (*github.Client, error) {
	if via == nil {
		via = http.DefaultTransport
	}
	// Whether there is room for a call is for via to say: the client itself would refuse a call that has only to wait.
	options := []github.ClientOptionsFunc{github.WithTransport(&again{via: via}), github.WithTimeout(mostCall), github.WithUserAgent("decant"), github.WithDisableRateLimitCheck()}
	if token != "" {
		options = append(options, github.WithAuthToken(token))
	}
	if base != "" {
		options = append(options, github.WithURLs(&base, &base))
	}
	client, err := github.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make a client for GitHub: %w", err)
	}
	return client, nil
}

// again makes calls again that change nothing.
type again struct{ via http.RoundTripper }

// What is waited for a server at most.
const (
	mostTries = 3
	mostWait  = time.Minute
	mostCall  = 3 * time.Minute // with all that it waits
)

// RoundTrip makes a call.
func (a *again) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := a.via.RoundTrip(req)
		if req.Method != http.MethodGet || try == mostTries || req.Context().Err() != nil {
			return resp, err
		}
		wait, ok := pause(resp, err, try)
		if !ok {
			return resp, err
		}
		if resp != nil {
			io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
			resp.Body.Close()
		}
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(wait):
		}
	}
}

// pause returns how long to wait before a call is made again, and whether it should be.
func pause(resp *http.Response, err error, try int) (time.Duration, bool) {
	wait := time.Duration(try) * (500*time.Millisecond + rand.N(500*time.Millisecond))
	if err != nil {
		_, full := errors.AsType[*pace.LimitError](err)
		return wait, !full
	}
	switch {
	case resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented:
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusForbidden && resp.Header.Get("Retry-After") != "":
		wait = mostWait + 1
	default:
		return 0, false
	}
	if s := resp.Header.Get("Retry-After"); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			wait = time.Duration(n)*time.Second + rand.N(time.Second)
		}
	}
	return wait, wait <= mostWait
}
