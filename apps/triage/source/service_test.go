package source_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/testing/standin"
	"github.com/decantdev/decant/testing/standin/newrelic"
	"github.com/decantdev/decant/testing/standin/sentry"
)

const (
	nrKey       = "NRAK-stand-in"
	sentryToken = "sntrys_stand-in"
)

var (
	night = time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)
	day   = source.Window{night.Add(-2 * time.Hour), night.Add(22 * time.Hour)}
)

// happened is what the stand-ins hold: n errors a minute apart, of three kinds.
func happened(n int) (out []source.Event) {
	for i := range n {
		e := source.Event{ID: fmt.Sprintf("%032x", i), Time: night.Add(time.Duration(i) * time.Minute), Service: "shop", Environment: "production", Release: "v1.2.0",
			Transaction: "orders/create", Attributes: map[string]string{"host": "a"}}
		switch i % 3 {
		case 0:
			e.Class, e.Message = "KeyError", "'sum'"
			e.Frames = []source.Frame{{File: "/srv/app/orders.py", Line: 42, Function: "create", InApp: true}, {File: "/srv/app/web.py", Line: 9, Function: "handle", InApp: true}}
		case 1:
			e.Class, e.Message = "TypeError", fmt.Sprintf("order %d is undefined", i)
			e.Frames = []source.Frame{{File: "/srv/app/price.js", Line: 12, Function: "price", InApp: true}}
		case 2:
			e.Class, e.Message, e.Service, e.Environment = "TimeoutError", "no answer", "mail's", "test"
		}
		out = append(out, e)
	}
	return out
}

// serve returns the address of a server on loopback.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func nerdgraph(t *testing.T, rows map[string][]newrelic.Row) (*newrelic.Server, *source.NewRelic) {
	server := newrelic.New(newrelic.Options{Key: nrKey, Account: 7, Rows: rows, Now: func() time.Time { return night.Add(23 * time.Hour) }})
	return server, &source.NewRelic{Account: 7, Key: nrKey, Base: serve(t, server)}
}

func sentryServer(t *testing.T, n, page int) (*sentry.Server, *source.Sentry) {
	server := sentry.New(sentry.Options{Token: sentryToken, Organization: "acme", Issues: sentry.Issues(happened(n)), Page: page, Now: func() time.Time { return night.Add(23 * time.Hour) }})
	return server, &source.Sentry{Organization: "acme", Token: sentryToken, Base: serve(t, server)}
}

// all reads a source to its end.
func all(t *testing.T, s source.Source, in source.Window) (out []source.Event) {
	t.Helper()
	for e, err := range s.Events(t.Context(), in) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// lines tells events by time, whatever their order.
func lines(events []source.Event) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		out[e.Time.Format("15:04 ")+e.Service+" "+e.Environment+" "+e.Release+" "+e.Transaction+" "+source.Short(e)]++
	}
	return out
}

// What New Relic and Sentry hold comes back as it was, stacks included.
func TestWhatServicesHoldComesBack(t *testing.T) {
	_, nr := nerdgraph(t, newrelic.Rows(happened(30)))
	_, sy := sentryServer(t, 30, 0)
	_, small := sentryServer(t, 30, 2) // seven pages
	want := lines(happened(30))
	for _, s := range []source.Source{nr, sy, small} {
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", s.Name(), err)
		}
		got := all(t, s, day)
		for line, n := range lines(got) {
			if want[line] != n {
				t.Errorf("%s: %d times %s", s.Name(), n, line)
			}
		}
		if len(got) != 30 || got[0].Attributes["host"] != "a" || got[0].ID == "" {
			t.Errorf("%s: %d events, the first one %+v", s.Name(), len(got), got[0])
		}
		if got := all(t, s, source.Window{night.Add(10 * time.Minute), night.Add(13 * time.Minute)}); len(got) != 3 {
			t.Errorf("%s: %d events in a window of three", s.Name(), len(got))
		}
	}
	nr.Apps, sy.Projects = []string{"mail's"}, []string{"shop"}
	if a, b := len(all(t, nr, day)), len(all(t, sy, day)); a != 10 || b != 20 {
		t.Errorf("%d events of mail's, %d of shop", a, b)
	}
	sy.Environment, sy.PerIssue = "production", 4
	if n := len(all(t, sy, day)); n != 8 {
		t.Errorf("%d events, want 4 of each of 2 issues", n)
	}
}

// More events than one query gives are read by halves of the window, each once.
func TestManyRowsAreHalved(t *testing.T) {
	rows := newrelic.Rows(happened(3 * source.MaxRows / 2))
	for i, row := range rows["TransactionError"] {
		row["timestamp"] = night.UnixMilli() + int64(i*1000)
	}
	delete(rows, "ErrorTrace")
	server, nr := nerdgraph(t, rows)
	seen := map[string]bool{}
	for _, e := range all(t, nr, day) {
		seen[e.ID] = true
	}
	if len(seen) != 3*source.MaxRows/2 || server.Calls() > 20 {
		t.Errorf("%d events in %d calls", len(seen), server.Calls())
	}
}

// get_error_traces: what one request did, by NRQL: its errors with their stacks, and its spans in their order.
func TestTrace(t *testing.T) {
	at := night.UnixMilli()
	_, nr := nerdgraph(t, map[string][]newrelic.Row{
		"ErrorTrace": {
			{"timestamp": at, "traceId": "t'1", "error.class": "KeyError", "error.message": "'total'", "stackTrace": "  File \"/app/cart.py\", line 11, in total"},
			{"timestamp": at, "traceId": "other", "error.class": "OSError"},
		},
		"Span": {
			{"timestamp": at, "traceId": "t'1", "name": "GET /orders", "appName": "shop", "duration.ms": 12.5},
			{"timestamp": at + 5, "traceId": "t'1", "name": "SELECT", "error.class": "Timeout", "error.message": "slow", "duration": 0.25},
			{"timestamp": at, "traceId": "other", "name": "x"},
		},
	})
	got, err := nr.Trace(t.Context(), "t'1", night)
	if err != nil || len(got.Spans) != 2 || got.Spans[0].Name != "GET /orders" || got.Spans[0].Duration != 12500*time.Microsecond || got.Spans[1].Class != "Timeout" || got.Spans[1].Duration != 250*time.Millisecond {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(got.Errors) != 1 || got.Errors[0].Class != "KeyError" || len(got.Errors[0].Frames) != 1 || got.Errors[0].Frames[0].Line != 11 {
		t.Errorf("got %+v", got.Errors)
	}
	if got, err := nr.Trace(t.Context(), "none", night); len(got.Errors)+len(got.Spans) > 0 || err != nil {
		t.Errorf("got %v, %v of a trace that is not there", got, err)
	}
}

// Each refusal says which right is missing and what to do, and no error has the credential.
func TestRefusals(t *testing.T) {
	_, nr := nerdgraph(t, nil)
	_, sy := sentryServer(t, 3, 0)
	_, noRight := sentryServer(t, 3, 0)
	noRight.Base = serve(t, sentry.New(sentry.Options{Token: sentryToken, Organization: "acme", Scopes: []string{"org:read"}}))
	moved := serve(t, http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	for _, test := range []struct {
		name   string
		source source.Source
		is     error
		says   string
	}{
		{"no account", &source.NewRelic{Key: nrKey}, nil, "name its number"},
		{"no key", &source.NewRelic{Account: 7}, nil, "NEW_RELIC_API_KEY"},
		{"region", &source.NewRelic{Account: 7, Key: nrKey, Region: "mars"}, nil, "want us or eu"},
		{"wrong key", &source.NewRelic{Account: 7, Key: "NRAK-wrong-key", Base: nr.Base}, source.ErrCredential, "user key"},
		{"other account", &source.NewRelic{Account: 8, Key: nrKey, Base: nr.Base}, source.ErrRight, "account 8"},
		{"moved", &source.NewRelic{Account: 7, Key: nrKey, Base: moved}, nil, "redirects"},
		{"no organization", &source.Sentry{Token: sentryToken}, nil, "slug"},
		{"no token", &source.Sentry{Organization: "acme"}, nil, "SENTRY_AUTH_TOKEN"},
		{"project", &source.Sentry{Organization: "acme", Token: sentryToken, Projects: []string{"a b"}}, nil, "slug"},
		{"wrong token", &source.Sentry{Organization: "acme", Token: "sntrys_wrong", Base: sy.Base}, source.ErrCredential, "expired"},
		{"no right", noRight, source.ErrRight, "event:read"},
		{"other organization", &source.Sentry{Organization: "other", Token: sentryToken, Base: sy.Base}, nil, `organization "other"`},
		{"other project", &source.Sentry{Organization: "acme", Token: sentryToken, Projects: []string{"none"}, Base: sy.Base}, nil, "do not exist"},
		{"base", &source.Sentry{Organization: "acme", Token: sentryToken, Base: "sentry"}, nil, "base URL"},
	} {
		t.Run(test.name, func(t *testing.T) { check(t, test.source, test.is, test.says) })
	}
}

func check(t *testing.T, s source.Source, is error, says string) {
	t.Helper()
	err := s.Check(t.Context())
	if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want one that says %q", err, says)
	}
	if all := fmt.Sprintf("%v %+v %#v", err, s, s); strings.Contains(all, nrKey) || strings.Contains(all, sentryToken) || strings.Contains(all, "wrong-key") {
		t.Errorf("a credential is in %s", all)
	}
}

// inside carries calls to a handler in this process.
type inside struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (i inside) RoundTrip(r *http.Request) (res *http.Response, err error) {
	w := httptest.NewRecorder()
	defer func() {
		if recover() == http.ErrAbortHandler {
			res, err = nil, errors.New("connection reset")
		}
	}()
	i.ServeHTTP(w, r)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}

// What goes wrong for a while is tried again, not before the service allows it.
func TestFaultsAreOutlived(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault standin.Fault
		least time.Duration // waited
		calls int           // more than without a fault
		fails error         // nil: it does not
	}{
		{"rate limit", standin.Fault{Status: 429, RetryAfter: 20 * time.Second}, 20 * time.Second, 1, nil},
		{"rate limit twice", standin.Fault{Status: 429, Times: 2}, 3 * time.Second, 2, nil},
		{"rate limit for long", standin.Fault{Status: 429, RetryAfter: time.Hour}, 0, 0, source.ErrBusy},
		{"unavailable", standin.Fault{Status: 503, After: 1}, time.Second, 1, nil},
		{"always failing", standin.Fault{Status: 500, Times: 99}, 7 * time.Second, 3, errAny},
		{"closed", standin.Fault{}, time.Second, 1, nil},
		{"hangs", standin.Fault{Status: 503, Delay: time.Hour}, source.TimeOfTry, 1, nil},
		{"expired", standin.Fault{Status: 401, Times: 9}, 0, 0, source.ErrCredential},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nrServer := newrelic.New(newrelic.Options{Key: nrKey, Account: 7, Rows: newrelic.Rows(happened(9)), Now: func() time.Time { return night.Add(23 * time.Hour) }})
				outlive(t, &source.NewRelic{Account: 7, Key: nrKey, Base: "http://nerdgraph.test", Via: inside{nrServer}}, nrServer.Inject, test.fault, test.least, test.fails)
				sServer := sentry.New(sentry.Options{Token: sentryToken, Organization: "acme", Issues: sentry.Issues(happened(9)), Now: func() time.Time { return night.Add(23 * time.Hour) }})
				outlive(t, &source.Sentry{Organization: "acme", Token: sentryToken, Base: "http://sentry.test", Via: inside{sServer}}, sServer.Inject, test.fault, test.least, test.fails)
			})
		})
	}
}

var errAny = errors.New("any")

func outlive(t *testing.T, s source.Source, inject func(standin.Fault), fault standin.Fault, least time.Duration, fails error) {
	t.Helper()
	inject(fault)
	began, n, last := time.Now(), 0, error(nil)
	for _, err := range s.Events(t.Context(), day) {
		if last = err; err == nil {
			n++
		}
	}
	if waited := time.Since(began); waited < least || waited > least*2+3*time.Second {
		t.Errorf("%s: waited %v, want %v", s.Name(), waited, least)
	}
	switch {
	case fails == nil && (last != nil || n != 9):
		t.Errorf("%s: %d events, then %v", s.Name(), n, last)
	case fails != nil && (last == nil || fails != errAny && !errors.Is(last, fails)):
		t.Errorf("%s: got %v, want %v", s.Name(), last, fails)
	}
}

// Sentry's own limit is kept: the client waits for the second that counts anew.
func TestSentryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sentry.New(sentry.Options{Token: sentryToken, Organization: "acme", Issues: sentry.Issues(happened(300)), Page: 10, PerSecond: 2})
		s := &source.Sentry{Organization: "acme", Token: sentryToken, Base: "http://sentry.test", Via: inside{server}, PerIssue: 200}
		if n := len(all(t, s, day)); n != 300 {
			t.Errorf("%d events", n)
		}
	})
}

// Stacks of all languages come back from New Relic, which keeps them as texts.
func TestStacksOfNewRelic(t *testing.T) {
	for _, test := range []struct {
		class  string
		frames []source.Frame
		want   string
	}{
		{"NoMethodError", []source.Frame{{File: "app/models/order.rb", Line: 7, Function: "sum"}, {File: "/gems/rack-3.0/lib/rack.rb", Line: 2, Function: "call"}}, "NoMethodError: m | *app/models/order.rb:7 sum | /gems/rack-3.0/lib/rack.rb:2 call"},
		{"java.lang.IllegalStateException", []source.Frame{{File: "Order.java", Line: 7, Function: "com.acme.Order.sum"}}, "java.lang.IllegalStateException: m | *Order.java:7 com.acme.Order.sum"},
		{"panic", []source.Frame{{File: "/src/order.go", Line: 7, Function: "main.(*Order).Sum"}, {File: "/usr/local/go/src/net/http/server.go", Line: 9, Function: "net/http.serve"}}, "panic: m | */src/order.go:7 main.(*Order).Sum | /usr/local/go/src/net/http/server.go:9 net/http.serve"},
		{"KeyError", []source.Frame{{File: "/srv/a.py", Line: 7, Function: "sum"}, {File: "/srv/b.py", Line: 8, Function: "call"}}, "KeyError: m | */srv/a.py:7 sum | */srv/b.py:8 call"},
	} {
		rows := newrelic.Rows([]source.Event{{Time: night, Class: test.class, Message: "m", Frames: test.frames}})
		_, nr := nerdgraph(t, rows)
		if got := all(t, nr, day); len(got) != 1 || source.Short(got[0]) != test.want {
			t.Errorf("got %+v\nwant %s", got, test.want)
		}
	}
	rows := newrelic.Rows([]source.Event{{Time: night, Class: "KeyError", Message: "m", Frames: []source.Frame{{File: "a.py", Line: 1}}}})
	rows["ErrorTrace"][0]["stackTrace"] = []string{`File "/srv/b.py", line 8, in call`, `File "/srv/a.py", line 7, in sum`} // as a list, without a head
	_, nr := nerdgraph(t, rows)
	if got := all(t, nr, day); len(got) != 1 || len(got[0].Frames) != 2 || got[0].Frames[0].Line != 7 {
		t.Errorf("got %+v", got)
	}
}

// A stack is asked for once for all events of an error. Where that fails, the events come without it, and it is said once.
func TestStacksAreAskedForOnce(t *testing.T) {
	var events []source.Event
	for i := range 20 {
		class := []string{"KeyError", "OSError"}[i%2]
		events = append(events, source.Event{Time: night.Add(time.Duration(i) * time.Minute), Class: class, Message: "m", Service: "shop", Frames: []source.Frame{{File: "/srv/a.py", Line: 7, Function: "f"}}})
	}
	server, nr := nerdgraph(t, newrelic.Rows(events))
	for _, e := range all(t, nr, day) {
		if len(e.Frames) != 1 || e.Frames[0].Line != 7 {
			t.Fatalf("got %+v", e)
		}
	}
	if n := server.Calls(); n != 4 {
		t.Errorf("%d calls, want two for rows and one for each error", n)
	}
	rows := newrelic.Rows(events)
	for _, row := range rows["ErrorTrace"] {
		row["id"] = strings.Repeat("x", 2<<20) // more than a call may have
	}
	_, nr = nerdgraph(t, rows)
	got, faults := 0, 0
	for e, err := range nr.Events(t.Context(), day) {
		if line, ok := errors.AsType[*source.LineError](err); ok && strings.Contains(line.Error(), "the stack of") {
			faults++
		} else if err == nil && len(e.Frames) == 0 {
			got++
		}
	}
	if got != 20 || faults != 1 {
		t.Errorf("%d events without a stack, %d faults", got, faults)
	}
}
