package modelhttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/internal/pace"
	"github.com/decantdev/decant/provider"
)

// A failed call waits as long as the provider asks for, within reason, and else as the official clients do.
func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		night := provider.Backoff{Attempts: 5, Least: 15 * time.Second, Most: 2 * time.Minute, Jitter: 5 * time.Second}
		for name, tt := range map[string]struct {
			header   http.Header
			backoff  provider.Backoff
			from, to time.Duration // of all pauses together
		}{
			"too many calls, patiently": {nil, night, 225 * time.Second, 240 * time.Second},
			"nothing is asked for":      {nil, provider.Backoff{}, 1125 * time.Millisecond, 1500 * time.Millisecond},
			"milliseconds":              {http.Header{"Retry-After-Ms": {"20"}}, provider.Backoff{}, 40 * time.Millisecond, 40 * time.Millisecond},
			"seconds":                   {http.Header{"Retry-After": {"7"}}, provider.Backoff{}, 14 * time.Second, 14 * time.Second},
			"an hour":                   {http.Header{"Retry-After": {"3600"}}, provider.Backoff{}, 1125 * time.Millisecond, 1500 * time.Millisecond},
			"days":                      {http.Header{"Retry-After": {"259200"}}, provider.Backoff{}, 0, 0},
			"days, for a backoff":       {http.Header{"Retry-After": {"259200"}}, provider.Backoff{Least: time.Second, Most: time.Minute}, 0, 0},
			"less than the backoff":     {http.Header{"Retry-After": {"1"}}, provider.Backoff{Least: 2 * time.Second, Most: 3 * time.Second}, 5 * time.Second, 5 * time.Second},
			"longer than it, at all":    {http.Header{"Retry-After": {"90"}}, provider.Backoff{Attempts: 2, Least: time.Second, Most: time.Second}, 90 * time.Second, 90 * time.Second},
		} {
			begun, failure := time.Now(), modelhttp.Failed(http.StatusTooManyRequests, tt.header)
			_, err := modelhttp.Retry(t.Context(), tt.backoff, func() (int, error) { return 0, failure })
			if took := time.Since(begun); !errors.Is(err, failure) || took < tt.from || took > tt.to {
				t.Errorf("%s: took %v, %v", name, took, err)
			}
		}
		failed := func(status int) func() error { return func() error { return modelhttp.Failed(status, nil) } }
		for name, tt := range map[string]struct {
			err      func() error
			from, to time.Duration
		}{
			"overloaded":    {failed(529), 225 * time.Second, 240 * time.Second},
			"broken":        {failed(http.StatusBadGateway), 5625 * time.Millisecond, 7500 * time.Millisecond},
			"no connection": {func() error { return errors.New("connection refused") }, 5625 * time.Millisecond, 7500 * time.Millisecond},
			"a limit known beforehand": {func() error {
				return fmt.Errorf("post: %w", &pace.LimitError{Until: time.Now().Add(100 * time.Second)})
			}, 265 * time.Second, 6 * time.Minute},
		} {
			begun, failure := time.Now(), tt.err()
			_, err := modelhttp.Retry(t.Context(), night, func() (int, error) { return 0, failure })
			if took := time.Since(begun); !errors.Is(err, failure) || took < tt.from || took > tt.to {
				t.Errorf("%s: took %v, %v", name, took, err)
			}
		}
		date := http.Header{"Retry-After": {time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)}}
		if f := modelhttp.Failed(http.StatusTooManyRequests, date); f.After < 2*time.Second || f.After > 3*time.Second {
			t.Errorf("a date: waits %v", f.After)
		}
	})
}

// A provider that says whether a call should be made again is believed.
func TestRetryAsksTheProvider(t *testing.T) {
	for should, want := range map[string]int{"true": 3, "false": 1} {
		tries := 0
		for _, status := range []int{http.StatusBadRequest, http.StatusServiceUnavailable} {
			_, _ = modelhttp.Retry(t.Context(), provider.Backoff{Least: 1, Most: 1}, func() (int, error) {
				tries++
				return 0, modelhttp.Failed(status, http.Header{"X-Should-Retry": {should}})
			})
		}
		if tries != 2*want {
			t.Errorf("x-should-retry %s: %d attempts, want %d", should, tries, 2*want)
		}
	}
}
