package sandbox_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/testing/sandbox"
)

// post sends a body through a pipe and returns the whole answer.
func post(t *testing.T, rt http.RoundTripper, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://sandbox/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	res, err := rt.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return string(out), err
}

func TestPipeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sandbox.New(sandbox.Options{})
		rt, stop := s.Pipe()
		defer stop()
		s.Inject(sandbox.Fault{Kind: sandbox.FaultStall, After: 3, Wait: time.Hour}, sandbox.Fault{Kind: sandbox.FaultSlow, Wait: time.Minute}, sandbox.Fault{Kind: sandbox.FaultCut, After: 3})
		begin := time.Now()
		stalled, err := post(t, rt, streamed(rule{}))
		if err != nil || !strings.Contains(stalled, "message_stop") || time.Since(begin) != time.Hour {
			t.Errorf("stalled for %v: %v, %s", time.Since(begin), err, stalled)
		}
		begin = time.Now()
		slow, err := post(t, rt, streamed(rule{}))
		if want := time.Duration(len(names(slow))) * time.Minute; err != nil || time.Since(begin) != want {
			t.Errorf("slow for %v, want %v: %v", time.Since(begin), want, err)
		}
		if cut, err := post(t, rt, streamed(rule{})); err == nil || len(names(cut)) != 3 {
			t.Errorf("cut: %v, %s", err, cut)
		}
	})
}

func TestPipeStops(t *testing.T) {
	rt, stop := sandbox.New(sandbox.Options{}).Pipe()
	if got, err := post(t, rt, rule{}.body()); err != nil || !strings.Contains(got, "end_turn") {
		t.Fatalf("%v, %s", err, got)
	}
	stop()
	if _, err := post(t, rt, rule{}.body()); err == nil {
		t.Error("a stopped server answers")
	}
}

// The newest request of a log is one for an answer, though the list of models was asked for since.
func TestTheNewestRequestIsOneForAnAnswer(t *testing.T) {
	s, url := start(t, sandbox.Options{})
	if got := s.Log.Last(); got.Number != 0 {
		t.Errorf("before any request: %+v", got)
	}
	do(t, "POST", url+"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello."}]}`)
	do(t, "GET", url+"/v1/models", "")
	if got := s.Log.Last(); got.Path != "/v1/messages" || got.Status != 200 || len(s.Log.Entries()) != 2 {
		t.Errorf("request %d, %s with status %d, of %d", got.Number, got.Path, got.Status, len(s.Log.Entries()))
	}
}
