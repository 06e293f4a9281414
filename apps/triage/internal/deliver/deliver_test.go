package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v89/github"
	"go.uber.org/goleak"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/testing/standin"
	hub "github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/standin/slack"
	"github.com/decantdev/decant/testing/testkit"
)

func TestMain(m *testing.M) {
	tools.MainIfConfined()
	goleak.VerifyTestMain(m)
}

// entry is what a box keeps.
type entry = deliver.Entry

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// errKilled is how a process ends in these tests.
var errKilled = errors.New("killed")

// A box keeps entries as a journal does, across the death of processes.
type box struct {
	kept   map[string]deliver.Entry
	writes int
	dies   int  // at which write; 0: never
	after  bool // behind it, not before
}

func (b *box) Entry(id string) (deliver.Entry, bool) { e, ok := b.kept[id]; return e, ok }

func (b *box) Write(_ context.Context, e deliver.Entry) error {
	b.writes++
	if b.writes == b.dies && !b.after {
		return errKilled
	}
	b.kept[e.Item.ID] = e
	if b.writes == b.dies {
		return errKilled
	}
	return nil
}

// A world is a workspace of Slack and a repository on GitHub, with one run.
type world struct {
	*testing.T
	git   string
	sha   string
	slack *slack.Server
	hub   *hub.Server
	now   time.Time
	waits []time.Duration
	o     deliver.Options
	box   *box
	via   *httptest.Server
	at    string // of GitHub
}

// again returns the world for another process: with clients of its own.
func (w *world) again() *world { w.as("xoxb-right", "right", w.at); return w }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, git: t.TempDir(), now: noon, box: &box{kept: map[string]deliver.Entry{}}}
	w.run("init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(w.git, "cart.py"), []byte("def f(o):\n    return o['sku']\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.run("add", "-A")
	w.run("commit", "-q", "-m", "A cart")
	w.sha = w.run("rev-parse", "HEAD")
	clock := func() time.Time { return w.now }
	w.slack = slack.New(slack.Options{Token: "xoxb-right", Channels: map[string]string{"C01ERR": "errors"}, Now: clock, Webhook: "/services/T1/B1/abc"})
	var err error
	if w.hub, err = hub.New(hub.Options{Repos: map[string]string{"acme/shop": w.git}, Token: "right", Now: clock}); err != nil {
		t.Fatal(err)
	}
	at, slackAt := httptest.NewServer(w.hub), httptest.NewServer(w.slack)
	t.Cleanup(at.Close)
	t.Cleanup(slackAt.Close)
	w.via, w.at = slackAt, at.URL+"/"
	w.o = deliver.Options{Now: clock, Settings: deliver.Settings{Slack: deliver.SlackSettings{Channel: "#errors"}, Issues: deliver.IssueSettings{Repo: "acme/shop"}},
		Rest: func(_ context.Context, d time.Duration) error { w.waits = append(w.waits, d); return nil }}
	w.as("xoxb-right", "right", w.at)
	return w
}

// as takes credentials.
func (w *world) as(bot, token, base string) {
	w.Helper()
	var err error
	if w.o.Slack, err = deliver.Bot(bot, w.via.URL+"/api/", nil); err != nil {
		w.Fatal(err)
	}
	// A client refuses to call while it was told to wait; here nobody waits by the clock.
	client, err := github.NewClient(github.WithAuthToken(token), github.WithURLs(&base, &base), github.WithDisableRateLimitCheck())
	if err != nil {
		w.Fatal(err)
	}
	if w.o.Hub, err = deliver.NewHub(client, "acme/shop"); err != nil {
		w.Fatal(err)
	}
}

func (w *world) run(args ...string) string {
	w.Helper()
	c := exec.Command("git", append([]string{"-C", w.git}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// report returns a report of a run with n errors with a cause, and one without.
func (w *world) report(run string, n int) *deliver.Report {
	r := &deliver.Report{Run: run, Began: w.now, Since: w.now.Add(-24 * time.Hour), Until: w.now, Model: "m"}
	for i := 1; i <= n+1; i++ {
		e := deliver.ReportedError{Case: investigate.Case{Number: i, Key: fmt.Sprintf("key%d", i), Class: "KeyError", Message: "'sku'", Transaction: fmt.Sprintf("POST /order%d", i), State: "new", Count: 12, First: w.now, Last: w.now}}
		f := &investigate.Finding{Number: i, Iterations: 3, Limit: 7}
		f.State, f.Confidence, f.Cause, f.Fix = investigate.RootCause, investigate.High, "The key sku is read as if it were always there.", "use get"
		f.Evidence = []investigate.Evidence{{Repo: "acme/shop", SHA: w.sha, Path: "cart.py", Line: 2, Text: "    return o['sku']"}}
		e.Links = []string{"https://github.com/acme/shop/blob/" + w.sha + "/cart.py#L2"}
		if i == n+1 {
			f.State, f.Confidence = investigate.Inconclusive, investigate.Low
		}
		e.Finding = f
		r.Errors = append(r.Errors, e)
	}
	r.Sum(100, code.Stats{}, 2)
	return r
}

// deliver sends a report.
func (w *world) deliver(r *deliver.Report) (*deliver.Result, error) {
	return deliver.Run(w.Context(), w.o, r, w.box)
}

// must sends a report, all of it.
func (w *world) must(r *deliver.Report) {
	w.Helper()
	if res, err := w.deliver(r); err != nil || len(res.Missing) > 0 {
		w.Fatalf("%v, missing %q", err, res.Missing)
	}
}

// An issue is what the stand-in has.
type issue struct {
	Number             int
	Title, Body, State string
	Comments           []string
	Pull               bool
}

// issues returns what there is at GitHub, as its API says.
func (w *world) issues() (out []issue) {
	w.Helper()
	for n := 1; ; n++ {
		var i struct {
			Title, Body, State string
			Pull               *struct{} `json:"pull_request"`
		}
		if !w.get(fmt.Sprintf("/repos/acme/shop/issues/%d", n), &i) {
			return out
		}
		one := issue{Number: n, Title: i.Title, Body: i.Body, State: i.State, Pull: i.Pull != nil}
		var comments []struct{ Body string }
		w.get(fmt.Sprintf("/repos/acme/shop/issues/%d/comments?per_page=100", n), &comments)
		for _, c := range comments {
			one.Comments = append(one.Comments, c.Body)
		}
		out = append(out, one)
	}
}

// What a run sends: two causes become issues, what is inconclusive does not; Slack has a message, and a reply
// for each error with the lines at the commit.
func TestDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.report("r1", 2))
	all := w.issues()
	if len(all) != 2 || !strings.HasPrefix(all[0].Title, "KeyError in POST /order1: 'sku'") || !strings.Contains(all[0].Body, "blob/"+w.sha+"/cart.py#L2") ||
		!strings.HasSuffix(all[0].Body, "<!-- decant-triage: error=key1 run=r1#1 confidence=high -->") {
		t.Errorf("issues %+v", all)
	}
	said := w.slack.Messages()
	if len(said) != 4 {
		t.Fatalf("messages %+v", said)
	}
	for _, want := range []string{"3 errors, 3 investigated: the cause of 2 is known", "POST /order1", "/acme/shop/issues/1|issue>", "Run r1."} {
		if !strings.Contains(said[0].Text, want) {
			t.Errorf("%q is not in %s", want, said[0].Text)
		}
	}
	for i, m := range said[1:] {
		if m.Thread != said[0].TS || !strings.Contains(m.Text, "/cart.py#L2|cart.py:2>") || i < 2 && !strings.Contains(m.Text, "|issue>") {
			t.Errorf("reply %+v", m)
		}
	}
	calls := w.hub.Total()
	again, err := w.deliver(w.report("r1", 2))
	if err != nil || len(again.Entries) != 6 || len(again.Missing) > 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, e := range again.Entries {
		if !e.Earlier {
			t.Errorf("%s is told as sent now", e.Item.ID)
		}
	}
	if len(w.issues()) != 2 || len(w.slack.Messages()) != 4 || w.hub.Calls()["issues/create"] != 2 {
		t.Errorf("sent again: %d issues, %d messages, %d calls before", len(w.issues()), len(w.slack.Messages()), calls)
	}
}

// Whenever a process is killed, before or behind any write, and whether the answers of the services came or not: the next one sends what is left and
// nothing twice.
func TestOnceWheneverItIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.report("r1", 2))
	writes := w.box.writes
	if writes != 12 { // two issues, a message and three replies: begun, and done
		t.Fatalf("%d writes", writes)
	}
	for at := 1; at <= writes; at += testkit.Depth(5, 1) {
		for _, after := range []bool{false, true} {
			w := newWorld(t)
			w.box.dies, w.box.after = at, after
			if at%2 == 0 {
				w.slack.Lose("chat.postMessage", 1)
				w.hub.Inject(hub.Fault{Operation: "issues/create", Done: true})
			}
			if _, err := w.deliver(w.report("r1", 2)); !errors.Is(err, errKilled) {
				t.Fatalf("write %d: %v", at, err)
			}
			w.now = w.now.Add(10 * time.Minute)
			w.must(w.report("r1", 2))
			if n, m := len(w.issues()), len(w.slack.Messages()); n != 2 || m != 4 {
				t.Errorf("killed at write %d, behind it %v: %d issues, %d messages", at, after, n, m)
			}
		}
	}
}

// Refusals, failures and lost answers of both services: what is told to wait waits, what may have arrived is looked for, what has not arrived
// is told and sent the next time.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		hub   hub.Fault
		slack standin.Fault
		lose  bool
		lacks bool // the first try does not bring all
		wait  time.Duration
	}{
		{name: "429", hub: hub.Fault{Operation: "issues/create", Status: 429, RetryAfter: 7 * time.Second}, slack: standin.Fault{Operation: "chat.postMessage", Status: 429, RetryAfter: 7 * time.Second}, wait: 7 * time.Second},
		{name: "429 for an hour", hub: hub.Fault{Operation: "issues/create", Status: 403, RetryAfter: time.Hour}, slack: standin.Fault{Operation: "chat.postMessage", Status: 429, RetryAfter: time.Hour}, lacks: true},
		{name: "502", hub: hub.Fault{Operation: "issues/create", Status: 502, Times: 2}, slack: standin.Fault{Operation: "chat.postMessage", Status: 503, Times: 2}},
		{name: "down", hub: hub.Fault{Operation: "issues/create", Status: 502, Times: 9}, slack: standin.Fault{Operation: "chat.postMessage", Status: 503, Times: 9}, lacks: true},
		{name: "connection", hub: hub.Fault{Operation: "issues/create"}, slack: standin.Fault{Operation: "chat.postMessage"}},
		{name: "expired", hub: hub.Fault{Operation: "issues/create", Status: 401, Times: 2}, slack: standin.Fault{Operation: "chat.postMessage", Status: 401, Times: 1}, lacks: true},
		{name: "lost answers", hub: hub.Fault{Operation: "issues/create", Done: true, Times: 2}, lose: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hub.Inject(tt.hub)
			if tt.lose {
				w.slack.Lose("chat.postMessage", 4)
			} else {
				w.slack.Inject(tt.slack)
			}
			res, err := w.deliver(w.report("r1", 2))
			if err != nil || (len(res.Missing) > 0) != tt.lacks {
				t.Fatalf("%v, missing %q", err, res.Missing)
			}
			if tt.wait > 0 && (len(w.waits) == 0 || w.waits[0] < tt.wait) {
				t.Errorf("waited %v", w.waits)
			}
			for range 9 { // until the faults are used up
				w.now = w.now.Add(time.Hour + time.Minute)
				if res, err = w.again().deliver(w.report("r1", 2)); err != nil {
					t.Fatal(err)
				}
			}
			if len(res.Missing) > 0 || len(w.issues()) != 2 || len(w.slack.Messages()) != 4 {
				t.Errorf("missing %q, %d issues, %d messages", res.Missing, len(w.issues()), len(w.slack.Messages()))
			}
		})
	}
}

// What an error was told about before is a comment, once per run; what was closed and is back is told so; what was closed and is gone is left.
func TestRecurrence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.report("r1", 2))
	next := func(run string) {
		w.now = w.now.Add(24 * time.Hour)
		w.box = &box{kept: map[string]deliver.Entry{}}
		r := w.report(run, 2)
		w.must(r)
		w.must(r)
	}
	next("r2")
	all := w.issues()
	if len(all) != 2 || len(all[0].Comments) != 1 || !strings.Contains(all[0].Comments[0], "It happened again: 12 times") {
		t.Fatalf("the second run: %+v", all)
	}
	w.edit(1, `{"state":"closed","state_reason":"completed"}`)
	r := w.report("r3", 2)
	r.Errors[0].Last = w.now.Add(-time.Hour)
	w.box = &box{kept: map[string]deliver.Entry{}}
	w.must(r)
	if all = w.issues(); len(all[0].Comments) != 1 || len(all[1].Comments) != 2 {
		t.Errorf("closed, and gone since: %+v", all)
	}
	next("r4")
	if all = w.issues(); len(all) != 2 || len(all[0].Comments) != 2 || !strings.Contains(all[0].Comments[1], "This error is back") || all[0].State != "closed" {
		t.Errorf("closed, and back: %+v", all)
	}
}

// At most as many issues as a run may open, and never more than ten that are open.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Settings.Issues.Most, w.o.Settings.Issues.MostAll = 4, 99
	for i := range 4 {
		r := w.report(fmt.Sprintf("r%d", i), 6)
		for k := range r.Errors {
			r.Errors[k].Key = fmt.Sprintf("key%d-%d", i, k)
		}
		w.box = &box{kept: map[string]deliver.Entry{}}
		res, err := w.deliver(r)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(10, 4*(i+1)); len(w.issues()) != want || (want == 10) != (len(res.Missing) > 0) {
			t.Errorf("run %d: %d issues, missing %q", i, len(w.issues()), res.Missing)
		}
	}
}

// A webhook has one message with all causes. It cannot be asked what it has got: where nobody knows, nothing is sent again, and that is said.
func TestWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Hub = nil
	var err error
	if w.o.Slack, err = deliver.Webhook(w.via.URL+"/services/T1/B1/abc", nil); err != nil {
		t.Fatal(err)
	}
	w.must(w.report("r1", 2))
	if m := w.slack.Messages(); len(m) != 1 || !strings.Contains(m[0].Text, "as if it were always there") {
		t.Errorf("%+v", m)
	}
	w.box = &box{kept: map[string]deliver.Entry{}}
	w.slack.Lose("webhook", 1)
	for range 2 {
		res, err := w.deliver(w.report("r2", 1))
		if err != nil || len(res.Missing) != 1 || !strings.Contains(res.Missing[0], "cannot be asked") || strings.Contains(res.Missing[0], "abc") {
			t.Errorf("%v, %q", err, res.Missing)
		}
	}
	if n := len(w.slack.Messages()); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// A run that finds nothing says so, and one that fails says why.
func TestNothingAndFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := &deliver.Report{Run: "r1", Since: noon.Add(-24 * time.Hour), Until: noon}
	w.must(r)
	r.Failed = "Sentry refuses the credential"
	w.must(r)
	m := w.slack.Messages()
	if len(m) != 2 || !strings.Contains(m[0].Text, "No errors from") || !strings.Contains(m[1].Text, "The run has failed: Sentry refuses") {
		t.Errorf("%+v", m)
	}
}

// What is shown is what would be sent, and nothing is sent.
func TestShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown := map[string]string{}
	w.o.Show = func(it deliver.Item) { shown[it.ID] = it.Text }
	w.must(w.report("r1", 2))
	if len(w.issues()) != 0 || len(w.slack.Messages()) != 0 {
		t.Fatal("something was sent")
	}
	w.o.Show = nil
	w.must(w.report("r1", 2))
	for id, e := range w.box.kept {
		if e.Item.Kind != "message" && e.Item.Kind != "reply" && shown[id] != e.Item.Text { // messages link what is made
			t.Errorf("%s: shown %q, sent %q", id, shown[id], e.Item.Text)
		}
	}
	if len(shown) != len(w.box.kept) {
		t.Errorf("shown %v", maps.Keys(shown))
	}
}

// What people do with issues and pull requests is read back.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.report("r1", 3))
	outcomes := func() map[string]deliver.Outcome {
		all, err := w.o.Hub.Outcomes(t.Context(), deliver.IssueSettings{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]deliver.Outcome{}
		for _, o := range all {
			out[o.Key] = o
		}
		return out
	}
	if got := outcomes(); len(got) != 0 {
		t.Errorf("nobody has done anything: %v", got)
	}
	w.edit(1, `{"state":"closed","state_reason":"completed"}`)
	w.edit(2, `{"state":"closed","state_reason":"not_planned"}`)
	got := outcomes()
	if a, b := got["key1"], got["key2"]; len(got) != 2 || !a.Right || a.Run != "r1" || a.Number != 1 || a.Confidence != "high" || a.Resolved.IsZero() || a.By != "issue acme/shop#1 closed as completed" ||
		b.Right || b.By != "issue acme/shop#2 closed as not planned" {
		t.Errorf("%+v", got)
	}
	w.edit(1, `{"state":"open"}`)
	if got = outcomes(); !got["key1"].Open {
		t.Errorf("%+v", got["key1"])
	}
}

// The rights are examined, and what to do is said.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.o.Slack.Check(t.Context(), "#errors"); err != nil {
		t.Error(err)
	}
	if err := w.o.Hub.Check(t.Context(), true); err != nil {
		t.Error(err)
	}
	if err := w.o.Slack.Check(t.Context(), "#none"); err == nil || !strings.Contains(err.Error(), "channel_not_found; there is no such channel") {
		t.Error(err)
	}
	w.as("xoxb-wrong", "wrong", w.at)
	if err := w.o.Slack.Check(t.Context(), "#errors"); err == nil || !strings.Contains(err.Error(), "SLACK_BOT_TOKEN is wrong") {
		t.Error(err)
	}
	if err := w.o.Hub.Check(t.Context(), true); err == nil || !strings.Contains(err.Error(), "make a new one") {
		t.Error(err)
	}
}
