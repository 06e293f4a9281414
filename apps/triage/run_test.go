package triage_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/analyst"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// sampleDir is a folder for the repositories of the bundled sample: they are made once, and read by all tests.
var sampleDir string

func TestMain(m *testing.M) {
	var err error
	if sampleDir, err = os.MkdirTemp("", "triage-test-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(sampleDir)
		os.Exit(code)
	}))
}

// A world has a real repository and a real store, and an analyst behind a strict stand-in for the Messages API.
type world struct {
	*testing.T
	dir    string // of the repository
	at     time.Time
	db     *embedded.DB
	server *sandbox.Server
	client provider.Speaker
}

func newWorld(t *testing.T, m sandbox.Model) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), server: sandbox.New(sandbox.Options{Model: m})}
	w.git("init", "-q", "-b", "main")
	w.client = sandboxtest.Client(t, w.server)
	var err error
	if w.db, err = embedded.Open(t.Context(), filepath.Join(t.TempDir(), "triage.db"), &embedded.Options{NoMarkers: true, Engine: engine.Options{Timeouts: sandboxtest.Patient}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	return w
}

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-C", w.dir}, args...)...)
	when := w.at.Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE="+when, "GIT_COMMITTER_DATE="+when,
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and commits them as a release.
func (w *world) commit(tag string, files map[string]string) string {
	w.Helper()
	for name, text := range files {
		name = filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			w.Fatal(err)
		}
	}
	w.at = w.at.Add(time.Hour)
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "Release "+tag)
	w.git("tag", tag)
	return w.git("rev-parse", "HEAD")
}

// options returns options of runs.
func (w *world) options() triage.Options {
	w.Helper()
	reader, err := code.New(code.Options{Repos: []code.Repo{{Name: "acme/shop", Dir: w.dir, Paths: []code.Mapping{{From: "/app/"}}}}})
	if err != nil {
		w.Fatal(err)
	}
	p, err := preset.Load("night-watch")
	if err != nil {
		w.Fatal(err)
	}
	return triage.Options{Journals: w.db.Store(), Code: reader, Parallel: 2, Investigator: investigate.New(investigate.Options{
		Client: w.client, Model: "claude-sonnet-4-5", Engine: w.db.Engine(), Journals: w.db.Store(), Preset: p, Code: reader})}
}

// plan returns a plan of errors in a release, when an earlier one was good.
func (w *world) plan(o triage.Options, good, release string, cases ...investigate.Case) *triage.Plan {
	w.Helper()
	v, err := o.Code.Version(w.Context(), "acme/shop", release)
	if err != nil {
		w.Fatal(err)
	}
	p := &triage.Plan{Events: len(cases), Scopes: map[int]investigate.Scope{}, Report: deliver.Report{Run: "r1", Began: w.at, Since: w.at.Add(-24 * time.Hour), Until: w.at, Model: "claude-sonnet-4-5", Simulated: true}}
	for i, c := range cases {
		c.Number, c.Release, c.Count, c.First, c.Last, c.State = i+1, release, 3, w.at, w.at, "new"
		p.Report.Errors = append(p.Report.Errors, deliver.ReportedError{Case: c})
		p.Scopes[c.Number] = investigate.Scope{Versions: []code.Version{v}, Window: code.Window{Good: good}}
	}
	return p
}

const (
	goodCart = `def lines(cart):
    return [item for item in cart.items if item.count > 0]


def discount(cart, coupons):
    coupon = coupons.get(cart.code)
    if coupon is None:
        return 0
    return coupon.percent * total(cart) / 100


def total(cart):
    return sum(item.price for item in lines(cart))


def last(cart):
    for i in range(len(cart.items)):
        item = cart.items[i]
    return item
`
	badCart = `def lines(cart):
    return [item for item in cart.items if item.count > 0]


def discount(cart, coupons):
    coupon = coupons.get(cart.code)
    return coupon.percent * total(cart) / 100


def total(cart):
    return sum(item.price for item in lines(cart))


def last(cart):
    for i in range(len(cart.items) + 1):
        item = cart.items[i]
    return item
`
)

func cartCases() []investigate.Case {
	return []investigate.Case{
		{Key: "a", Class: "AttributeError", Message: "'NoneType' object has no attribute 'percent'", Transaction: "POST /discount",
			Frames: []source.Frame{{File: "shop/cart.py", Line: 7, Function: "discount", InApp: true}}},
		{Key: "b", Class: "IndexError", Message: "list index out of range", Transaction: "GET /last",
			Frames: []source.Frame{{File: "shop/cart.py", Line: 16, Function: "last", InApp: true}}},
		{Key: "c", Class: "ConnectionResetError", Message: "[Errno 104] Connection reset by peer", Transaction: "GET /stock",
			Frames: []source.Frame{{File: "shop/stock.py", Line: 4, Function: "stock", InApp: true}}},
	}
}

const stock = "import http.client\n\n\ndef stock(host): return http.client.HTTPConnection(host).getresponse()\n"

// A run finds the lines that are wrong and the commit that brought them, says so where it finds none, and every line that it quotes is there.
func TestRun(t *testing.T) {
	w := newWorld(t, analyst.Analyst{})
	w.commit("v1", map[string]string{"shop/cart.py": goodCart, "shop/stock.py": stock})
	bad := w.commit("v2", map[string]string{"shop/cart.py": badCart})
	o := w.options()
	r, err := triage.Start(t.Context(), o, w.plan(o, "v1", "v2", cartCases()...))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Work(t.Context()); err != nil || !r.Done() {
		t.Fatal(err)
	}
	rep := r.Report()
	for i, want := range []struct {
		state investigate.State
		lines []int
		sha   string
	}{{investigate.RootCause, []int{6, 7}, bad}, {investigate.RootCause, []int{15, 16}, bad}, {investigate.Inconclusive, []int{4}, ""}} {
		f := rep.Errors[i].Finding
		if f == nil || f.Error != "" || f.State != want.state || len(f.Struck) > 0 {
			t.Errorf("error %d: %+v", i+1, f)
			continue
		}
		var lines []int
		for _, e := range f.Evidence {
			lines = append(lines, e.Line)
			source := w.git("show", e.SHA+":"+e.Path)
			if all := strings.Split(source, "\n"); all[e.Line-1] != e.Text {
				t.Errorf("line %d of %s is %q, quoted as %q", e.Line, e.Path, all[e.Line-1], e.Text)
			}
		}
		if len(lines) != len(want.lines) || lines[0] != want.lines[0] {
			t.Errorf("error %d: evidence in lines %v, want %v", i+1, lines, want.lines)
		}
		if got := f.Suspect; want.sha != "" && (got == nil || got.SHA != want.sha) || want.sha == "" && got != nil {
			t.Errorf("error %d: suspect %+v, want %q", i+1, got, want.sha)
		}
	}
	if tt := rep.Totals; tt.Investigated != 3 || tt.High != 2 || tt.Inconclusive != 1 || tt.Tokens == 0 || tt.USD == 0 || tt.Code.Hits == 0 {
		t.Errorf("totals %+v", tt)
	}
	for _, e := range w.server.Log.Refused() {
		t.Errorf("request %d was refused with %d: %s", e.Number, e.Status, e.Error)
	}
	if all, err := triage.Runs(t.Context(), o, 10); err != nil || len(all) != 1 || !all[0].Done || all[0].Totals.High != 2 {
		t.Errorf("kept: %+v, %v", all, err)
	}
}

// A run that is interrupted after any of its answers (at quick depth, every third) goes on in another process, finds the same, and asks nothing twice.
func TestARunGoesOn(t *testing.T) {
	w := newWorld(t, analyst.Analyst{})
	w.commit("v1", map[string]string{"shop/cart.py": goodCart, "shop/stock.py": stock})
	w.commit("v2", map[string]string{"shop/cart.py": badCart})
	o := w.options()
	r, err := triage.Start(t.Context(), o, w.plan(o, "v1", "v2", cartCases()...))
	if err == nil {
		err = r.Work(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	needed := len(w.server.Log.Entries())
	whole := 0
	for at := 0; ; at += testkit.Depth(3, 1) {
		w := newWorld(t, analyst.Analyst{})
		w.commit("v1", map[string]string{"shop/cart.py": goodCart, "shop/stock.py": stock})
		w.commit("v2", map[string]string{"shop/cart.py": badCart})
		o := w.options()
		ctx, kill := context.WithCancel(t.Context())
		n := 0
		o.Parallel = 1
		o.Told = func(_ *investigate.Case, e agent.Event) {
			if e.Kind == agent.EventMessage {
				if n++; n > at {
					kill()
				}
			}
		}
		r, err := triage.Start(t.Context(), o, w.plan(o, "v1", "v2", cartCases()...))
		if err != nil {
			t.Fatal(err)
		}
		err = r.Work(ctx)
		kill()
		if err == nil {
			whole = n
			break
		}
		o = w.options()
		if r, err = triage.Open(t.Context(), o, ""); err != nil || r.Done() {
			t.Fatal(err)
		}
		if err := r.Work(t.Context()); err != nil {
			t.Fatalf("after %d answers: %v", at, err)
		}
		rep := r.Report()
		if tt := rep.Totals; tt.Investigated != 3 || tt.High != 2 || tt.Struck != 0 {
			t.Errorf("after %d answers: %+v", at, tt)
		}
		if asked := len(w.server.Log.Entries()); asked > needed+1 { // the answer that was under way is lost
			t.Errorf("after %d answers: %d requests in all, %d without an interruption", at, asked, needed)
		}
	}
	if whole < 5 {
		t.Errorf("a run of %d answers", whole)
	}
}
