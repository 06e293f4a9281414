package sentry

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/testing/standin"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func server(o Options) *Server {
	var events []source.Event
	for i := range 5 {
		events = append(events, source.Event{Time: now.Add(-time.Duration(i) * time.Hour), Class: []string{"A", "B"}[i%2], Message: "m", Service: "shop", Transaction: "t", Release: "v1",
			Cause: &source.Event{Class: "C"}, Frames: []source.Frame{{File: "/src/in.go", Line: 2, Function: "in", InApp: true}, {File: "/src/out.go", Line: 1, Function: "out", InApp: true}}})
	}
	o.Token, o.Organization, o.Issues, o.Now = "t", "acme", Issues(events), func() time.Time { return now }
	o.Issues = append(o.Issues, Issue{ID: "9", Status: "resolved", Events: events[:1]})
	return New(o)
}

func get(s *Server, token, target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/api/0/organizations/"+target, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestListsComeByThePage(t *testing.T) {
	s := server(Options{Page: 1})
	w := get(s, "t", "acme/issues/?query=is:unresolved+project:shop&sort=date")
	var issues []struct{ ID, Title, Count string }
	if err := json.Unmarshal(w.Body.Bytes(), &issues); err != nil || len(issues) != 1 || issues[0].Title != "A: m" || issues[0].Count != "3" {
		t.Fatalf("got %s, %v", w.Body, err)
	}
	if link := w.Header().Get("Link"); !strings.Contains(link, `rel="next"; results="true"; cursor="0:1:0"`) || !strings.Contains(link, `rel="previous"; results="false"`) {
		t.Errorf("Link: %s", link)
	}
	w = get(s, "t", "acme/issues/?query=is:unresolved&cursor=0:1:0")
	if link := w.Header().Get("Link"); !strings.Contains(w.Body.String(), `"B: m"`) || !strings.Contains(link, `rel="next"; results="false"`) {
		t.Errorf("got %s, Link: %s", w.Body, link)
	}
	if w = get(s, "t", "acme/issues/?cursor=0:99:0"); strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("behind the last page: %s", w.Body)
	}
}

func TestEventsInFull(t *testing.T) {
	s := server(Options{})
	w := get(s, "t", "acme/issues/1001/events/?full=true&start=2026-11-23T09:00:00&end=2026-11-23T12:00:00")
	text := w.Body.String()
	inner, outer := strings.Index(text, `"/src/in.go"`), strings.Index(text, `"/src/out.go"`)
	cause, class := strings.Index(text, `"type":"C"`), strings.Index(text, `"type":"A"`)
	if strings.Count(text, `"eventID"`) != 2 || outer > inner || cause > class || inner < 0 || cause < 0 || !strings.Contains(text, `"release":{"version":"v1"}`) {
		t.Errorf("got %s", text)
	}
	if w = get(s, "t", "acme/issues/1001/events/"); strings.Contains(w.Body.String(), "entries") {
		t.Errorf("without full: %s", w.Body)
	}
}

func TestStatuses(t *testing.T) {
	s := server(Options{})
	for target, want := range map[string]int{
		"acme/issues/": 200, "acme/issues": 404, "other/issues/": 404, "acme/projects/": 404, "acme/issues/77/events/": 404, "acme/issues/?statsPeriod=24h": 200,
		"acme/issues/?unknown=1": 400, "acme/issues/?cursor=x": 400, "acme/issues/?limit=101": 400, "acme/issues/?query=level:error": 400, "acme/issues/?query=project:none": 400,
		"acme/issues/?project=shop": 400, "acme/issues/?sort=x": 400, "acme/issues/?start=2026-11-23T12:00:00": 400, "acme/issues/?start=x&end=y": 400,
		"acme/issues/?start=2026-11-23T12:00:00&end=2026-11-23T11:00:00": 400, "acme/issues/?statsPeriod=9": 400, "acme/issues/1001/events/?limit=3": 400,
	} {
		w := get(s, "t", target)
		if w.Code != want || want != 200 && !strings.Contains(w.Body.String(), `"detail":`) {
			t.Errorf("%s: %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
	if a, b, c := get(s, "", "acme/issues/").Code, get(s, "x", "acme/issues/").Code, get(server(Options{Scopes: []string{"org:read"}}), "t", "acme/issues/").Code; a != 401 || b != 401 || c != 403 {
		t.Errorf("no token %d, another %d, no right %d", a, b, c)
	}
	s.Inject(standin.Fault{Operation: "events", Status: 503})
	if a, b := get(s, "t", "acme/issues/").Code, get(s, "t", "acme/issues/1001/events/").Code; a != 200 || b != 503 {
		t.Errorf("issues %d, events %d", a, b)
	}
}

func TestTooManyCalls(t *testing.T) {
	s := server(Options{PerSecond: 2})
	for i, want := range []int{200, 200, 429, 429} {
		w := get(s, "t", "acme/issues/")
		if w.Code != want || w.Header().Get("X-Sentry-Rate-Limit-Reset") == "" {
			t.Errorf("call %d: %d, want %d", i, w.Code, want)
		}
	}
	if s.calls() != 4 {
		t.Errorf("%d calls", s.calls())
	}
}
