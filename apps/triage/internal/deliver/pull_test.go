package deliver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/triage/code"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	hub "github.com/decantdev/decant/testing/standin/github"
	"github.com/decantdev/decant/testing/testkit"
)

const patch = `diff --git a/sum.py b/sum.py
--- a/sum.py
+++ b/sum.py
@@ -1 +1 @@
-sum() { echo $(($1 + $2 + 1)); }
+sum() { echo $(($1 + $2)); }
diff --git a/sum_test.py b/sum_test.py
new file mode 100644
--- /dev/null
+++ b/sum_test.py
@@ -0,0 +1,2 @@
+. ./sum.py
+[ "$(sum 1 2)" = 3 ]
`

// fixable adds a program that the patch mends, and a prover that tries it for real.
func (w *world) fixable() {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.git, "sum.py"), []byte("sum() { echo $(($1 + $2 + 1)); }\n"), 0o644); err != nil {
		w.Fatal(err)
	}
	w.run("add", "-A")
	w.run("commit", "-q", "-m", "A sum")
	w.sha = w.run("rev-parse", "HEAD")
	no := false
	r, err := code.New(code.Options{Repos: []code.Repo{{Name: "shop", Remote: "acme/shop", Dir: w.git, Confined: &no, Build: []string{"sh", "-n", "sum.py"},
		Test: []string{"sh", "-c", "for f in *_test.py; do [ ! -e $f ] || sh -e $f || exit 1; done"}}}})
	if err != nil {
		w.Fatal(err)
	}
	w.o.Try = (&deliver.Prover{Code: r, Repo: "acme/shop"}).Try
}

// Of a patch that is no pull request, or that could not be tried, the issue says the stage. What was printed is kept
// for people at this machine.
func TestWhatIsPrintedStays(t *testing.T) {
	const printed = "INTERNAL plans of /srv/other"
	for _, test := range []struct {
		refused *deliver.Refusal
		err     error
		want    string
	}{
		{&deliver.Refusal{Stage: "the tests fail with it", Printed: printed}, nil, "It is no pull request: the tests fail with it.\n"},
		{nil, errors.New(printed), "It could not be tried.\n"},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fixable()
			w.o.Try = func(context.Context, *deliver.ReportedError) (*deliver.Branch, *deliver.Refusal, error) {
				return nil, test.refused, test.err
			}
			rep := w.patched("r1")
			rep.Errors[0].Trial = &deliver.Trial{Why: "It was tried before.", Printed: printed}
			w.must(rep)
			all := w.issues()
			if len(all) != 2 || !strings.Contains(all[0].Body, test.want) {
				t.Errorf("%+v", all)
			}
			if sent := fmt.Sprintf("%+v %+v", all, w.slack.Messages()); strings.Contains(sent, "INTERNAL") {
				t.Errorf("what was printed is sent: %s", sent)
			}
			if e, ok := w.box.Entry(deliver.ProofID(1)); !ok || e.Printed != printed {
				t.Errorf("what was printed is not kept: %+v", e)
			}
		})
	}
}

// patched returns a report with a patch for its first two errors.
func (w *world) patched(run string) *deliver.Report {
	r := w.report(run, 2)
	for i := range r.Errors[:2] {
		r.Errors[i].Finding.Patch, r.Errors[i].Finding.Evidence[0].Repo, r.Errors[i].Finding.Evidence[0].SHA = patch, "shop", w.sha
	}
	return r
}

// One draft at most, with the branch that was tried, for a finding whose patch is proven; the others carry theirs as a suggestion. It is
// not tried again while there is one, and what people do with it is read back.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fixable()
	w.must(w.patched("r1"))
	all := w.issues()
	if len(all) != 3 || !all[2].Pull || !strings.Contains(all[0].Body, "It was tried: it applies") || !strings.Contains(all[1].Body, "Nobody has tried it.") || !strings.Contains(all[1].Body, "+sum() { echo") {
		t.Fatalf("%+v", all)
	}
	var p struct {
		Draft bool
		Head  struct{ Ref, SHA string }
	}
	if w.get("/repos/acme/shop/pulls/3", &p); !p.Draft || p.Head.Ref != "decant-triage/r1-1" {
		t.Errorf("%+v", p)
	}
	if got := w.run("diff", "--stat", w.sha, p.Head.SHA); !strings.Contains(got, "2 files changed, 3 insertions(+), 1 deletion(-)") {
		t.Errorf("%s", got)
	}
	if m := w.slack.Messages(); !strings.Contains(m[0].Text, "/acme/shop/pull/3|draft of a fix>") || !strings.Contains(all[2].Body, "/acme/shop/issues/1") {
		t.Errorf("%s", m[0].Text)
	}
	w.box = &box{kept: map[string]entry{}}
	r := w.patched("r2")
	r.Errors = r.Errors[:1]
	w.must(r)
	if n := len(w.issues()); n != 3 {
		t.Errorf("%d issues and pull requests", n)
	}
	if err := w.hub.Merge("acme/shop", 3); err != nil {
		t.Fatal(err)
	}
	got, err := w.o.Hub.Outcomes(t.Context(), deliver.IssueSettings{})
	if err != nil || len(got) != 1 || !got[0].Right || got[0].By != "pull request acme/shop#3 merged" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A patch that is not proven is a suggestion, and the issue says why.
func TestSuggestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fixable()
	r := w.patched("r1")
	r.Errors[0].Finding.Patch = strings.Split(patch, "diff --git a/sum_test")[0]
	r.Errors[1].Finding.Patch = ""
	w.must(r)
	if all := w.issues(); len(all) != 2 || !strings.Contains(all[0].Body, "It is no pull request: it brings no test") || !strings.Contains(all[0].Body, "+sum() { echo") {
		t.Errorf("%+v", all)
	}
}

// A pull request takes five calls, and any of them may be the last of a process, or its answer be lost: there is one branch and one draft.
func TestPullRequestOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []hub.Fault{
		{Operation: "git/create-tree"}, {Operation: "git/create-commit", Done: true}, {Operation: "git/create-ref", Done: true}, {Operation: "git/create-ref", Status: 502},
		{Operation: "pulls/create", Done: true}, {Operation: "pulls/create", Status: 502}, {Operation: "issues/add-labels", Status: 502}, {Operation: "issues/add-labels", Done: true},
	} {
		w := newWorld(t)
		w.fixable()
		w.hub.Inject(f)
		w.must(w.patched("r1"))
		w.check(f.Operation)
	}
	for at := testkit.Depth(4, 1); at <= 8; at += testkit.Depth(3, 1) {
		w := newWorld(t)
		w.fixable()
		w.o.Slack = nil
		w.box.dies, w.box.after = at, at%2 == 0
		if _, err := w.deliver(w.patched("r1")); at <= 7 && !errors.Is(err, errKilled) {
			t.Fatalf("write %d: %v", at, err)
		}
		w.must(w.patched("r1"))
		w.check("killed")
	}
}

// check looks for two issues and one draft, which has its label.
func (w *world) check(when string) {
	w.Helper()
	all := w.issues()
	var p struct{ Labels []struct{ Name string } }
	if len(all) != 3 || !all[2].Pull || !w.get("/repos/acme/shop/pulls/3", &p) || len(p.Labels) != 1 {
		w.Errorf("%s: %+v, %+v", when, all, p)
	}
	if got := w.run("branch", "--list", "decant-triage/*"); strings.Count(got, "\n") != 0 || got == "" {
		w.Errorf("%s: branches %s", when, got)
	}
}
