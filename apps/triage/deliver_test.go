package triage_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/standin/slack"
)

// What a run sends is in its journal: another process sends nothing again, and what was not delivered it delivers.
func TestARunIsDeliveredOnce(t *testing.T) {
	w := newWorld(t, analyst.Analyst{})
	w.commit("v1", map[string]string{"shop/cart.py": goodCart, "shop/stock.py": stock})
	w.commit("v2", map[string]string{"shop/cart.py": badCart})
	o := w.options()
	r, err := triage.Start(t.Context(), o, w.plan(o, "v1", "v2", cartCases()...))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := slack.New(slack.Options{Token: "xoxb-1", Channels: map[string]string{"C01": "errors"}})
	at := httptest.NewServer(server)
	defer at.Close()
	// The token has expired: the run is done all the same.
	for i, token := range []string{"xoxb-0", "xoxb-1", "xoxb-1"} {
		service, err := deliver.Bot(token, at.URL+"/api/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = triage.Open(t.Context(), o, ""); err != nil || !r.Done() {
			t.Fatal(err)
		}
		res, err := r.Deliver(t.Context(), deliver.Options{Slack: service, Settings: deliver.Settings{Slack: deliver.SlackSettings{Channel: "#errors"}}})
		if err != nil || (len(res.Missing) > 0) != (i == 0) || len(server.Messages()) != min(i, 1)*4 {
			t.Fatalf("try %d: %v, %+v, %d messages", i, err, res, len(server.Messages()))
		}
	}
	if text := server.Messages()[0].Text; !strings.Contains(text, "the cause of 2 is known, 2 with high confidence") {
		t.Error(text)
	}
}

// Outcomes change what is known, are told to later runs, and are counted; what a person has typed is stronger than what is read.
func TestLearn(t *testing.T) {
	w := newWorld(t, analyst.Analyst{})
	w.commit("v1", map[string]string{"shop/cart.py": goodCart, "shop/stock.py": stock})
	w.commit("v2", map[string]string{"shop/cart.py": badCart})
	o := w.options()
	p := w.plan(o, "v1", "v2", cartCases()...)
	for _, e := range p.Report.Errors {
		p.Known = append(p.Known, group.Known{Key: e.Key, First: e.First, Last: e.Last})
	}
	r, err := triage.Start(t.Context(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed := w.at.Add(time.Hour)
	fixed := deliver.Outcome{Key: "a", Run: "r1", Number: 1, Confidence: "high", Right: true, Resolved: closed, By: "issue acme/shop#1 closed as completed"}
	wrong := deliver.Outcome{Key: "b", Run: "r1", Number: 2, Confidence: "high", By: "issue acme/shop#2 closed as not planned"}
	for i, tt := range []struct {
		all         []deliver.Outcome
		news        int
		judged, are int
		a, b        string
	}{
		{[]deliver.Outcome{fixed, wrong, {Key: "none", Run: "r0", Number: 1}}, 2, 2, 1, "yes", "no"},
		{[]deliver.Outcome{fixed, wrong}, 0, 2, 1, "yes", "no"},
		{[]deliver.Outcome{{Key: "a", Run: "r1", Number: 1, Open: true, By: "issue acme/shop#1 opened again"}}, 1, 1, 0, "", "no"},
		{[]deliver.Outcome{{Key: "b", Run: "r1", Number: 2, Right: true, By: "pull request acme/shop#3 merged"}}, 0, 1, 0, "", "no"},
	} {
		news, err := triage.Learn(t.Context(), o, tt.all)
		if err != nil || news != tt.news {
			t.Errorf("%d: %d news, %v", i, news, err)
		}
		known, err := triage.Known(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := triage.Track(known); got.Judged != tt.judged || got.Right != tt.are || known["a"].Found.Right != tt.a || known["b"].Found.Right != tt.b {
			t.Errorf("%d: %+v, %q, %q", i, got, known["a"].Found.Right, known["b"].Found.Right)
		}
		if i == 0 && !known["a"].Closed.Equal(closed) || i == 2 && !known["a"].Closed.IsZero() {
			t.Errorf("%d: closed %v", i, known["a"].Closed)
		}
	}
	if _, err := triage.Judge(t.Context(), o, "r1#1", false); err != nil {
		t.Fatal(err)
	}
	if news, err := triage.Learn(t.Context(), o, []deliver.Outcome{fixed}); news != 0 || err != nil {
		t.Errorf("a person has said it is wrong: %d news, %v", news, err)
	}
}
