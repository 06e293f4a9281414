package standin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaultsHappenInOrder(t *testing.T) {
	var f Faults
	f.Inject(Fault{Operation: "a", After: 1, Times: 2, Status: 429, RetryAfter: 1200 * time.Millisecond})
	f.Inject(Fault{Status: 500})
	for i, test := range []struct {
		operation string
		want      int
		after     string
	}{{"b", 500, ""}, {"a", 0, ""}, {"b", 0, ""}, {"a", 429, "2"}, {"a", 429, "2"}, {"a", 0, ""}} {
		w := httptest.NewRecorder()
		status, done := f.Strike(w, httptest.NewRequest(http.MethodGet, "/", nil), test.operation)
		if status != test.want || done != (test.want != 0) || w.Header().Get("Retry-After") != test.after {
			t.Errorf("call %d: %d, %v, Retry-After %q, want %d", i, status, done, w.Header().Get("Retry-After"), test.want)
		}
	}
}

func TestConnectionsAreClosed(t *testing.T) {
	var f Faults
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.Strike(w, r, "")
		w.Write([]byte("fine"))
	}))
	defer s.Close()
	f.Inject(Fault{})
	if res, err := http.Post(s.URL, "text/plain", nil); err == nil {
		res.Body.Close()
		t.Errorf("got %d, want no answer", res.StatusCode)
	}
	res, err := http.Post(s.URL, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

// A client that leaves ends a delay.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Faults
		f.Inject(Fault{Delay: time.Hour, Status: 503, Times: 2})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if status, done := f.Strike(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx), ""); status != 0 || !done || time.Since(began) != time.Minute {
			t.Errorf("got %d, %v after %v", status, done, time.Since(began))
		}
		if status, _ := f.Strike(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), ""); status != 503 || time.Since(began) != 61*time.Minute {
			t.Errorf("got %d after %v", status, time.Since(began))
		}
	})
}
