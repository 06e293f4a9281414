package pace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/internal/pace"
)

// A service lets a number of calls in during each window, and tells of it as GitHub and Sentry do. An answer takes a moment, another one each time, so
// that answers overtake each other.
type service struct {
	name   string // of the headers
	most   int
	length time.Duration

	mu      sync.Mutex
	used    int
	reset   time.Time
	refused int
	all     int
	random  *rand.Rand
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	before, after := time.Duration(s.random.IntN(40))*time.Millisecond, time.Duration(s.random.IntN(400))*time.Millisecond
	s.mu.Unlock()
	time.Sleep(before)
	w := httptest.NewRecorder()
	s.mu.Lock()
	if now := time.Now(); !now.Before(s.reset) {
		s.used, s.reset = 0, now.Truncate(time.Second).Add(s.length)
	}
	s.all++
	if s.used == s.most {
		s.refused++
		w.Code = http.StatusTooManyRequests
	} else {
		s.used++
	}
	w.Header().Set(s.name+"Limit", strconv.Itoa(s.most))
	w.Header().Set(s.name+"Remaining", strconv.Itoa(s.most-s.used))
	w.Header().Set(s.name+"Reset", strconv.FormatInt(s.reset.Unix(), 10))
	s.mu.Unlock()
	time.Sleep(after)
	return w.Result(), nil
}

// Many calls at once never meet a limit that is told, and use what there is of it; no 429 is provoked.
func TestNoCallMeetsALimit(t *testing.T) {
	for _, s := range []*service{
		{name: "X-RateLimit-", most: 10, length: time.Minute},
		{name: "X-Sentry-Rate-Limit-", most: 3, length: time.Second},
	} {
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				*s = service{name: s.name, most: s.most, length: s.length, random: rand.New(rand.NewPCG(seed, 1))}
				p, began := pace.New(pace.Options{Via: s, Most: time.Hour}), time.Now()
				const all = 55
				together(5, all, func(i int) {
					res, err := p.RoundTrip(httptest.NewRequest("GET", "https://api.example.com/search/code?q="+strconv.Itoa(i), nil))
					if err != nil || res.StatusCode != http.StatusOK {
						t.Errorf("call %d: %v, %v", i, res, err)
					}
				})
				windows := (all + s.most - 1) / s.most
				if took := time.Since(began); s.refused > 0 || took > time.Duration(windows+2)*(s.length+time.Second) {
					t.Errorf("%s: %d refused of %d, in %v", s.name, s.refused, s.all, took)
				}
			})
		}
	}
}

// together makes calls, a number of them at a time.
func together(at, all int, do func(i int)) {
	var g sync.WaitGroup
	next := make(chan int)
	for range at {
		g.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	g.Wait()
}

// A bucket fills steadily, as Anthropic's limits do: so many calls and so many tokens in a minute.
type bucket struct {
	mu            sync.Mutex
	perMinute     [2]float64
	left          [2]float64
	at            time.Time
	refused, runs int
}

func (b *bucket) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	b.mu.Lock()
	defer b.mu.Unlock()
	need := [2]float64{1, float64(req.ContentLength) / 3}
	now, short := time.Now(), false
	for i := range b.left {
		b.left[i] = min(b.perMinute[i], b.left[i]+b.perMinute[i]*now.Sub(b.at).Minutes())
		short = short || b.left[i] < need[i]
	}
	b.at = now
	if b.runs++; short {
		b.refused++
		w.Code = http.StatusTooManyRequests
	}
	for i, name := range []string{"Requests", "Input-Tokens"} {
		if !short {
			b.left[i] -= need[i]
		}
		full := now.Add(time.Duration((b.perMinute[i] - b.left[i]) / b.perMinute[i] * float64(time.Minute)))
		h := w.Header()
		h.Set("Anthropic-Ratelimit-"+name+"-Limit", strconv.Itoa(int(b.perMinute[i])))
		h.Set("Anthropic-Ratelimit-"+name+"-Remaining", strconv.Itoa(int(b.left[i])))
		h.Set("Anthropic-Ratelimit-"+name+"-Reset", full.UTC().Format(time.RFC3339))
	}
	return w.Result(), nil
}

// Requests and tokens a minute, for each model.
func TestTokensOfAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bucket{perMinute: [2]float64{50, 20_000}, left: [2]float64{50, 20_000}, at: time.Now()}
		p, began := pace.New(pace.Options{Via: b, Most: time.Hour}), time.Now()
		together(5, 60, func(i int) {
			body := fmt.Appendf(nil, `{"model":"m","max_tokens":10,"messages":%q}`, bytes.Repeat([]byte("x"), 900+i*100))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com/v1/messages", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			res, err := p.RoundTrip(req)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("call %d: %v, %v", i, res, err)
			}
		})
		if b.refused > 0 || b.runs != 60 || time.Since(began) > 10*time.Minute {
			t.Errorf("%d refused of %d, in %v", b.refused, b.runs, time.Since(began))
		}
	})
}

type funcs func(*http.Request) (*http.Response, error)

func (f funcs) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Retry-After holds back all calls to the service, and none to another one. What would wait too long fails, and says until when.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		p := pace.New(pace.Options{Via: funcs(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			if n++; n == 1 {
				w.Header().Set("Retry-After", "40")
				w.Code = http.StatusTooManyRequests
			} else if r.URL.Host == "a.example.com" && time.Since(began) < 40*time.Second {
				t.Errorf("called after %v", time.Since(began))
			}
			if n == 3 {
				w.Header().Set("Retry-After", "4000")
				w.Code = http.StatusServiceUnavailable
			}
			return w.Result(), nil
		})})
		get := func(host string) error {
			_, err := p.RoundTrip(httptest.NewRequest("GET", "https://"+host+"/x", nil))
			return err
		}
		for _, host := range []string{"a.example.com", "b.example.com", "a.example.com"} {
			if err := get(host); err != nil {
				t.Error(err)
			}
		}
		var limit *pace.LimitError
		if err := get("a.example.com"); !errors.As(err, &limit) || limit.Service != "a.example.com" || n != 3 {
			t.Errorf("%v after %d calls", err, n)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		p = pace.New(pace.Options{Most: 5000 * time.Second, Via: funcs(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"60"}}, Body: http.NoBody}, nil
		})})
		_ = get("a.example.com")
		if _, err := p.RoundTrip(httptest.NewRequestWithContext(ctx, "GET", "https://a.example.com/x", nil)); err == nil || err.Error() != "enough" {
			t.Errorf("a call that nobody waits for: %v", err)
		}
	})
}
