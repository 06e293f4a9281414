package github

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/google/go-github/v89/github"
)

// A world is a repository, a server over it, and a client.
type world struct {
	dir    string
	shas   []string
	server *Server
	client *api.Client
	http   *httptest.Server
	now    time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), now: time.Unix(1_790_000_000, 0)}
	git := func(args ...string) string {
		c := exec.Command("git", append([]string{"-C", w.dir}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
			"GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1790000000 +0000", "GIT_COMMITTER_DATE=1790000000 +0000")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	for _, text := range []string{"one\n", "one\ntwo\n", "one\ntwo\nthree\n"} {
		os.MkdirAll(filepath.Join(w.dir, "src"), 0o755)
		os.WriteFile(filepath.Join(w.dir, "src", "a.txt"), []byte(text), 0o644)
		git("add", "-A")
		git("commit", "-q", "-m", "Lines: "+text)
		w.shas = append(w.shas, git("rev-parse", "HEAD"))
	}
	git("tag", "v1", w.shas[0])
	var err error
	w.server, err = New(Options{Repos: map[string]string{"acme/shop": w.dir}, Token: "right", Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	w.http = httptest.NewServer(w.server)
	t.Cleanup(w.http.Close)
	w.client = w.as(t, "right")
	return w
}

// as returns a client with a token.
func (w *world) as(t *testing.T, token string) *api.Client {
	t.Helper()
	base := w.http.URL + "/"
	c, err := api.NewClient(api.WithAuthToken(token), api.WithURLs(&base, &base), api.WithDisableRateLimitCheck())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// status returns the status of an error of the client, 0 where there is none.
func status(err error) int {
	var e *api.ErrorResponse
	var limit *api.RateLimitError
	var busy *api.AbuseRateLimitError
	switch {
	case errors.As(err, &e):
		return e.Response.StatusCode
	case errors.As(err, &limit):
		return limit.Response.StatusCode
	case errors.As(err, &busy):
		return busy.Response.StatusCode
	}
	return 0
}

func TestReading(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	if repo, _, err := w.client.Repositories.Get(ctx, "acme", "shop"); err != nil || repo.GetDefaultBranch() != "main" {
		t.Errorf("%v, %v", repo, err)
	}
	for ref, want := range map[string]string{"tags/v1": w.shas[0], "v1": w.shas[0], "heads/main": w.shas[2], w.shas[1][:7]: w.shas[1], "nothing": "", "--all": ""} {
		sha, _, err := w.client.Repositories.GetCommitSHA1(ctx, "acme", "shop", ref, "")
		if sha != want || want == "" && status(err) != 422 {
			t.Errorf("%s is %q, %v", ref, sha, err)
		}
	}
	tree, _, err := w.client.Git.GetTree(ctx, "acme", "shop", w.shas[2], true)
	if err != nil || len(tree.Entries) != 2 || tree.Entries[1].GetPath() != "src/a.txt" || tree.Entries[1].GetSize() != 14 {
		t.Fatalf("%v, %v", tree, err)
	}
	if data, _, err := w.client.Git.GetBlobRaw(ctx, "acme", "shop", tree.Entries[1].GetSHA()); err != nil || string(data) != "one\ntwo\nthree\n" {
		t.Errorf("%q, %v", data, err)
	}
	file, _, _, err := w.client.Repositories.GetContents(ctx, "acme", "shop", "src/a.txt", &api.RepositoryContentGetOptions{Ref: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := file.GetContent(); err != nil || text != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, dir, _, err := w.client.Repositories.GetContents(ctx, "acme", "shop", "src", nil); err != nil || len(dir) != 1 {
		t.Errorf("%v, %v", dir, err)
	}
	c, _, err := w.client.Repositories.GetCommit(ctx, "acme", "shop", w.shas[1], nil)
	if err != nil || len(c.Files) != 1 || c.Files[0].GetPatch() != "@@ -1 +1,2 @@\n one\n+two" || c.GetStats().GetAdditions() != 1 {
		t.Errorf("%v, %v", c, err)
	}
	cmp, _, err := w.client.Repositories.CompareCommits(ctx, "acme", "shop", "v1", "main", nil)
	if err != nil || cmp.GetTotalCommits() != 2 || cmp.GetStatus() != "ahead" || cmp.Commits[1].GetSHA() != w.shas[2] {
		t.Errorf("%v, %v", cmp, err)
	}
	list, resp, err := w.client.Repositories.ListCommits(ctx, "acme", "shop", &api.CommitsListOptions{Path: "src/a.txt", ListOptions: api.ListOptions{PerPage: 2}})
	if err != nil || len(list) != 2 || resp.NextPage != 2 || list[0].GetSHA() != w.shas[2] {
		t.Errorf("%v, %v", list, err)
	}
	if calls := w.server.Calls(); calls["repos/get-commit"] != 7 || calls["git/get-tree"] != 1 || w.server.Total() < 10 {
		t.Errorf("%v", calls)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	_, _, err := w.as(t, "wrong").Repositories.Get(ctx, "acme", "shop")
	if status(err) != 401 {
		t.Errorf("a wrong token: %v", err)
	}
	if resp, err := http.Get(w.http.URL + "/repos/acme/shop"); err != nil || resp.StatusCode != 404 {
		t.Errorf("no token: %v", err)
	} else {
		resp.Body.Close()
	}
	_, _, err = w.client.Repositories.Get(ctx, "acme", "other")
	if status(err) != 404 {
		t.Errorf("another repository: %v", err)
	}
	_, _, err = w.client.Issues.Create(ctx, "acme", "shop", &api.IssueRequest{})
	if status(err) != 422 {
		t.Errorf("an issue without a title: %v", err)
	}
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/repos/acme/shop/issues?per_page=x", "", 422}, {"GET", "/repos/acme/shop/issues?unknown=1", "", 422}, {"POST", "/repos/acme/shop/issues", "{", 400},
		{"POST", "/repos/acme/shop/issues", `{"title":"a","labels":"x"}`, 422}, {"GET", "/repos/acme/shop/issues/9", "", 404}, {"GET", "/nothing", "", 404},
		{"POST", "/repos/acme/shop/pulls", `{"title":"a","head":"none","base":"main"}`, 422}, {"GET", "/search/code?q=one", "", 422},
		{"GET", "/repos/acme/shop/contents/none", "", 404}, {"GET", "/repos/acme/shop/git/blobs/--help", "", 404}, {"GET", "/repos/acme/shop/commits?sha=--all", "", 404},
	} {
		req, _ := http.NewRequestWithContext(ctx, tt.method, w.http.URL+tt.path, strings.NewReader(tt.body))
		req.Header.Set("Authorization", "Bearer right")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != tt.want || resp.Header.Get("X-RateLimit-Remaining") == "" {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, resp.StatusCode, tt.want)
		}
	}
}

func TestCodeSearch(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	for i := range 11 {
		found, _, err := w.client.Search.Code(ctx, `"three" repo:acme/shop`, nil)
		if i < 10 && (err != nil || found.GetTotal() != 1 || found.CodeResults[0].GetPath() != "src/a.txt") {
			t.Fatalf("%v, %v", found, err)
		}
		if i == 10 && status(err) != 403 {
			t.Errorf("the eleventh search of a minute: %v", err)
		}
	}
	w.now = w.now.Add(time.Minute)
	if _, _, err := w.client.Search.Code(ctx, `"three" repo:acme/shop`, nil); err != nil {
		t.Error(err)
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	made, _, err := w.client.Issues.Create(ctx, "acme", "shop", &api.IssueRequest{Title: new("KeyError in prices"), Body: new("Because."), Labels: &[]string{"triage"}})
	if err != nil || made.GetNumber() != 1 || made.Labels[0].GetName() != "triage" {
		t.Fatalf("%v, %v", made, err)
	}
	if _, _, err := w.client.Issues.CreateComment(ctx, "acme", "shop", 1, &api.IssueComment{Body: new("Again.")}); err != nil {
		t.Error(err)
	}
	if labels, _, err := w.client.Issues.AddLabelsToIssue(ctx, "acme", "shop", 1, []string{"has-fix"}); err != nil || len(labels) != 2 {
		t.Errorf("%v, %v", labels, err)
	}
	search := func(q string) int {
		found, _, err := w.client.Search.Issues(ctx, q, nil)
		if err != nil {
			t.Fatal(err)
		}
		return found.GetTotal()
	}
	if n := search(`repo:acme/shop is:issue is:open label:triage "keyerror in" in:title`); n != 1 {
		t.Errorf("%d found", n)
	}
	if _, _, err := w.client.Issues.Edit(ctx, "acme", "shop", 1, &api.IssueRequest{State: new("closed"), StateReason: new("not_planned")}); err != nil {
		t.Error(err)
	}
	if n := search(`repo:acme/shop is:open KeyError`); n != 0 {
		t.Errorf("%d open", n)
	}
	got, _, err := w.client.Issues.Get(ctx, "acme", "shop", 1)
	if err != nil || got.GetStateReason() != "not_planned" || got.GetComments() != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if open, _, err := w.client.Issues.ListByRepo(ctx, "acme", "shop", &api.IssueListByRepoOptions{State: "all", Labels: []string{"triage"}}); err != nil || len(open) != 1 {
		t.Errorf("%v, %v", open, err)
	}
	comments, _, err := w.client.Issues.ListComments(ctx, "acme", "shop", 1, nil)
	if err != nil || len(comments) != 1 || comments[0].GetBody() != "Again." {
		t.Errorf("%v, %v", comments, err)
	}
}

// A client makes a branch with a commit, and a draft of it.
func TestDraft(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	head, _, err := w.client.Repositories.GetCommit(ctx, "acme", "shop", "main", nil)
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := w.client.Git.CreateTree(ctx, "acme", "shop", head.GetCommit().GetTree().GetSHA(),
		[]*api.TreeEntry{{Path: new("src/b.txt"), Mode: new("100644"), Type: new("blob"), Content: new("new\n")}})
	if err != nil {
		t.Fatal(err)
	}
	commit, _, err := w.client.Git.CreateCommit(ctx, "acme", "shop", api.Commit{Message: new("Fix"), Tree: tree, Parents: []*api.Commit{{SHA: head.SHA}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 422} {
		_, _, err := w.client.Git.CreateRef(ctx, "acme", "shop", api.CreateRef{Ref: "refs/heads/fix", SHA: commit.GetSHA()})
		if status(err) != want || want == 0 && err != nil {
			t.Fatalf("reference %d: %v", i, err)
		}
		pull, _, err := w.client.PullRequests.Create(ctx, "acme", "shop", &api.NewPullRequest{Title: new("Fix"), Head: new("fix"), Base: new("main"), Draft: new(true)})
		if status(err) != want || want == 0 && (err != nil || !pull.GetDraft() || pull.GetHead().GetSHA() != commit.GetSHA()) {
			t.Fatalf("draft %d: %v, %v", i, pull, err)
		}
	}
	if all, _, err := w.client.PullRequests.List(ctx, "acme", "shop", &api.PullRequestListOptions{Head: "acme:fix"}); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if err := w.server.Merge("acme/shop", 1); err != nil {
		t.Fatal(err)
	}
	pull, _, err := w.client.PullRequests.Get(ctx, "acme", "shop", 1)
	if sha, _, _ := w.client.Repositories.GetCommitSHA1(ctx, "acme", "shop", "main", ""); err != nil || !pull.GetMerged() || pull.MergedAt == nil || sha != commit.GetSHA() {
		t.Errorf("%v, %v; main is at %s", pull, err, sha)
	}
	if w.server.Merge("acme/shop", 1) == nil || w.server.Merge("acme/shop", 7) == nil {
		t.Error("what is not open is merged")
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), t.Context()
	get := func() error { _, _, err := w.client.Repositories.Get(ctx, "acme", "shop"); return err }
	w.server.Inject(Fault{Operation: "repos/get", After: 1, Status: 429, RetryAfter: time.Minute})
	w.server.Inject(Fault{Operation: "repos/get", After: 1, Status: 502})
	for i, want := range []int{0, 429, 502, 0} {
		if err := get(); status(err) != want || want == 0 && err != nil {
			t.Errorf("call %d: %v, want %d", i, err, want)
		}
	}
	w.server.Inject(Fault{Status: 403, RetryAfter: time.Minute})
	var busy *api.AbuseRateLimitError
	if err := get(); !errors.As(err, &busy) || busy.GetRetryAfter() != time.Minute {
		t.Errorf("the secondary limit: %v", err)
	}
	w.server.Inject(Fault{Delay: time.Hour})
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, _, err := w.client.Repositories.Get(short, "acme", "shop"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that takes too long: %v", err)
	}
	w.server.Inject(Fault{Operation: "issues/create", Done: true})
	if _, _, err := w.client.Issues.Create(ctx, "acme", "shop", &api.IssueRequest{Title: new("Lost")}); err == nil {
		t.Error("the answer came")
	}
	if i, _, err := w.client.Issues.Get(ctx, "acme", "shop", 1); err != nil || i.GetTitle() != "Lost" {
		t.Errorf("what was asked for is done: %v, %v", i, err)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := New(Options{Repos: map[string]string{"acme/shop": w.dir}, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.http = httptest.NewServer(s)
	t.Cleanup(w.http.Close)
	c := w.as(t, "any")
	for i := range 3 {
		_, _, err := c.Repositories.Get(t.Context(), "acme", "shop")
		var limit *api.RateLimitError
		if i < 2 && err != nil || i == 2 && !errors.As(err, &limit) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
