package notebook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A team is two people with a clone each of one repository, and a store of their own.
type team struct {
	*desk
	origin string
	ada    *notebook.Book
	bob    *notebook.Book
	stores map[*notebook.Book]store.Store
}

func newTeam(t *testing.T) *team {
	tm := &team{desk: newDesk(t), stores: map[*notebook.Book]store.Store{}, origin: filepath.Join(t.TempDir(), "origin.git")}
	tm.run("", "init", "-q", "--bare", "-b", "main", tm.origin)
	tm.ada, tm.bob = tm.member("ada"), tm.member("bob")
	return tm
}

// member returns the notebook of somebody who has cloned the repository.
func (tm *team) member(name string) *notebook.Book {
	root := filepath.Join(tm.TempDir(), name)
	tm.run("", "clone", "-q", tm.origin, root)
	db, err := sqlite.Open(tm.Context(), filepath.Join(tm.TempDir(), "d.db"), sqlite.Options{})
	tm.no(err)
	tm.Cleanup(func() { db.Close() })
	b, err := notebook.Open(notebook.Options{Memories: db, Root: root, Now: func() time.Time { return tm.now }})
	tm.no(err)
	_, err = b.Init(tm.Context())
	tm.no(err)
	tm.stores[b] = db
	return b
}

// run runs git and returns what it prints.
func (tm *team) run(dir string, args ...string) string {
	tm.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "pull.rebase=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tm.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// commit commits what a member has shared.
func (tm *team) commit(b *notebook.Book) {
	tm.Helper()
	tm.now = tm.now.Add(time.Minute)
	tm.run(b.Root(), "add", "-A")
	tm.run(b.Root(), "commit", "-q", "--allow-empty", "-m", "shared")
}

// pull merges what others have pushed, and reads it.
func (tm *team) pull(b *notebook.Book) {
	tm.Helper()
	tm.run(b.Root(), "pull", "-q", "--no-edit", "origin", "main")
	_, err := b.Sync(tm.Context())
	tm.no(err)
}

func (tm *team) push(b *notebook.Book) {
	tm.Helper()
	tm.commit(b)
	tm.run(b.Root(), "push", "-q", "origin", "HEAD:main")
}

// rule adds a rule and shares it.
func (tm *team) rule(b *notebook.Book, text string) memory.Item {
	tm.Helper()
	it, err := b.AddRule(tm.Context(), text, "we agreed", memory.Source{})
	tm.no(err)
	_, err = b.Share(tm.Context(), []string{it.ID})
	tm.no(err)
	return it
}

func (tm *team) file(b *notebook.Book) string {
	text, err := os.ReadFile(filepath.Join(b.Root(), ".decant", "shared.jsonl"))
	tm.no(err)
	return string(text)
}

func (tm *team) told(b *notebook.Book) string {
	text, err := b.Opening(tm.Context(), 1500)
	tm.no(err)
	return text
}

// Two people share rules on branches of their own, and change the same one: git merges both, and both notebooks end
// with the same records and the same file. Nothing is a rule for somebody who has not said yes, or trusts the file.
func TestTwoBranchesMerge(t *testing.T) {
	tm := newTeam(t)
	ctx := t.Context()
	common := tm.rule(tm.ada, "Run go vet before each commit")
	tm.push(tm.ada)
	tm.pull(tm.bob)
	if told := tm.told(tm.bob); strings.Contains(told, "vet") {
		t.Errorf("a rule out of a file holds without a yes:\n%s", told)
	}
	offered, err := tm.bob.Offered(ctx)
	tm.no(err)
	if len(offered) != 1 || offered[0].Shares != common.ID {
		t.Fatalf("%d wait for a yes, want the shared one", len(offered))
	}
	is, err := tm.bob.Accept(ctx, offered[0].ID, "")
	tm.no(err)
	if told := tm.told(tm.bob); is.ID != common.ID || !strings.Contains(told, "vet") {
		t.Errorf("after the yes it is %s, want %s; told:\n%s", is.ID, common.ID, told)
	}
	if out := tm.run(tm.bob.Root(), "status", "--porcelain"); out != "" {
		t.Errorf("a yes has changed what is committed:\n%s", out)
	}
	tm.no(tm.ada.Trust(ctx, true))
	tm.no(tm.bob.Trust(ctx, true))

	for _, b := range []*notebook.Book{tm.ada, tm.bob} { // one after the other, so Bob's words are the newer ones
		name := filepath.Base(b.Root())
		tm.rule(b, "Ask "+name+" about releases")
		tm.rule(b, "Name branches after "+name)
		tm.now = tm.now.Add(time.Minute)
		_, err = b.Edit(ctx, common.ID, "Run go vet and staticcheck before each commit, says "+name, "")
		tm.no(err)
		tm.commit(b)
	}
	tm.push(tm.ada)
	tm.pull(tm.bob)
	tm.push(tm.bob)
	tm.pull(tm.ada)

	if a, b := tm.file(tm.ada), tm.file(tm.bob); a != b || strings.Count(a, "\n") != 5 {
		t.Errorf("the files differ, or have not five lines:\n%s---\n%s", a, b)
	}
	for _, b := range []*notebook.Book{tm.ada, tm.bob} {
		told := tm.told(b)
		for _, want := range []string{"Ask ada", "Ask bob", "after ada", "after bob", "before each commit, says bob"} {
			if strings.Count(told, want) != 1 {
				t.Errorf("%s: %q is not told once:\n%s", b.Root(), want, told)
			}
		}
		if r, err := b.Find(ctx, common.ID); err != nil || len(r.Was) == 0 {
			t.Errorf("%s: what the rule said before is lost: %v", b.Root(), err)
		}
	}
	if out := tm.run(tm.ada.Root(), "status", "--porcelain"); out != "" {
		t.Errorf("the notebook has changed what was pulled:\n%s", out)
	}
}

// Words that somebody else has changed, or a rule that was planted in the file, are told to nobody before a yes.
func TestSharedWordsWaitForAYes(t *testing.T) {
	tm := newTeam(t)
	ctx := t.Context()
	rule := tm.rule(tm.ada, "Never push to main")
	tm.push(tm.ada)
	tm.pull(tm.bob)
	offered, err := tm.bob.Offered(ctx)
	tm.no(err)
	_, err = tm.bob.Accept(ctx, offered[0].ID, "")
	tm.no(err)

	tm.now = tm.now.Add(time.Minute)
	_, err = tm.ada.Edit(ctx, rule.ID, "Always push to main", "")
	tm.no(err)
	tm.push(tm.ada)
	tm.pull(tm.bob)
	if told := tm.told(tm.bob); !strings.Contains(told, "Never push") || strings.Contains(told, "Always") {
		t.Errorf("other words are told without a yes:\n%s", told)
	}
	if offered, err = tm.bob.Offered(ctx); err != nil || len(offered) != 1 {
		t.Fatalf("%d wait for a yes, %v", len(offered), err)
	}
	_, err = tm.bob.Accept(ctx, offered[0].ID, "")
	tm.no(err)
	if told := tm.told(tm.bob); strings.Contains(told, "Never push") || strings.Count(told, "Always push") != 1 {
		t.Errorf("after the yes:\n%s", told)
	}
	tm.now = tm.now.Add(time.Minute)
	_, err = tm.ada.Archive(ctx, rule.ID, "wrong")
	tm.no(err)
	tm.push(tm.ada)
	tm.pull(tm.bob)
	if told := tm.told(tm.bob); strings.Contains(told, "push") {
		t.Errorf("a rule that was archived for all is told:\n%s", told)
	}
}

// A branch that lacks a record takes it from nobody, and is not changed by what other branches have; a worktree that is deleted
// takes nothing along. A conflict that git has marked is settled.
func TestBranchesAndWorktreesKeepTheirFiles(t *testing.T) {
	tm := newTeam(t)
	ctx, root := t.Context(), tm.ada.Root()
	tm.rule(tm.ada, "One")
	tm.commit(tm.ada)
	tree := filepath.Join(t.TempDir(), "tree")
	tm.run(root, "worktree", "add", "-q", "-b", "other", tree)
	in, err := notebook.Open(notebook.Options{Memories: tm.stores[tm.ada], Root: tree, Now: func() time.Time { return tm.now }})
	tm.no(err)
	_, err = in.Init(ctx)
	tm.no(err)
	two := tm.rule(in, "Two")
	tm.run(tree, "add", "-A")
	tm.run(tree, "commit", "-q", "-m", "two")
	_, err = tm.ada.Sync(ctx)
	tm.no(err)
	if out := tm.run(root, "status", "--porcelain"); out != "" || strings.Contains(tm.file(tm.ada), "Two") {
		t.Errorf("what one branch shares stands in the other:\n%s", out)
	}
	tm.run(root, "worktree", "remove", "--force", tree)
	if told := tm.told(tm.ada); !strings.Contains(told, "Two") {
		t.Errorf("a rule has gone with its worktree:\n%s", told)
	}
	tm.run(root, "merge", "-q", "--no-edit", "other")
	_, err = tm.ada.Sync(ctx)
	tm.no(err)
	if file := tm.file(tm.ada); strings.Count(file, "\n") != 2 || strings.Count(tm.told(tm.ada), "Two") != 1 {
		t.Errorf("after the merge:\n%s", file)
	}

	lines := strings.SplitAfter(tm.file(tm.ada), "\n")
	newer := strings.Replace(lines[0], `"why":"we agreed"`, `"why":"he said so","changed":"2026-03-02T09:00:00Z"`, 1)
	text := "<<<<<<< HEAD\n" + lines[0] + "=======\n" + newer + ">>>>>>> other\n" + lines[1]
	tm.no(os.WriteFile(filepath.Join(root, ".decant", "shared.jsonl"), []byte(text), 0o600))
	tm.now = tm.now.Add(time.Hour)
	_, err = tm.ada.Sync(ctx)
	tm.no(err)
	if file := tm.file(tm.ada); strings.Count(file, "\n") != 2 || !strings.Contains(file, "he said so") {
		t.Errorf("a conflict is not settled:\n%s", file)
	}
	tm.no(os.WriteFile(filepath.Join(root, ".decant", "shared.jsonl"), []byte(lines[0]+"{oops\n"+lines[1]), 0o600))
	r, err := tm.ada.Sync(ctx)
	tm.no(err)
	if file := tm.file(tm.ada); !strings.Contains(file, "{oops") || !strings.Contains(strings.Join(r.Read, "\n"), "shared.jsonl:2") {
		t.Errorf("a line that is no record: %q\n%s", r.Read, file)
	}
	_, err = tm.ada.Unshare(ctx, []string{two.ID})
	tm.no(err)
}

// Only rules and decisions are shared, and nothing of where they are known from.
func TestWhatIsPersonal(t *testing.T) {
	tm := newTeam(t)
	ctx := t.Context()
	seen, err := tm.ada.Observe(ctx, "She likes tabs", session(1))
	tm.no(err)
	if _, err := tm.ada.Share(ctx, []string{seen.ID}); err == nil {
		t.Error("an observation is shared")
	}
	it, err := tm.ada.Decide(ctx, "Use SQLite", "one file <private>like hers</private>", "2027-01", session(2))
	tm.no(err)
	if _, err := os.Stat(filepath.Join(tm.ada.Root(), ".decant", "shared.jsonl")); err == nil {
		t.Error("a file was written before anything was shared")
	}
	_, err = tm.ada.Share(ctx, []string{it.ID})
	tm.no(err)
	if text := tm.file(tm.ada); strings.Contains(text, "session-") || strings.Contains(text, "hers") || !strings.Contains(text, "Use SQLite") {
		t.Errorf("the file has %s", text)
	}
	tm.push(tm.ada)
	tm.pull(tm.bob)
	if text := tm.read(tm.bob, notebook.DecisionsFile); !strings.Contains(text, "Use SQLite") {
		t.Errorf("a shared decision is not in %s:\n%s", notebook.DecisionsFile, text)
	}
	_, err = tm.ada.Unshare(ctx, []string{it.ID})
	tm.no(err)
	if text := tm.file(tm.ada); text != "" {
		t.Errorf("after it was taken back the file has %s", text)
	}
}

// Two repositories with the same shared file, such as a fork beside what it was forked from, may have one store.
func TestTwoRepositoriesShareALine(t *testing.T) {
	d := newDesk(t)
	for _, root := range []string{d.root, t.TempDir()} {
		d.no(os.MkdirAll(filepath.Join(root, ".decant"), 0o755))
		d.no(os.WriteFile(filepath.Join(root, ".decant", "shared.jsonl"),
			[]byte(`{"id":"m:0123456789ab","kind":"rule","text":"Never push to main","created":"2026-02-01T00:00:00Z"}`+"\n"), 0o600))
		b := d.open(root)
		_, err := b.Init(t.Context())
		d.no(err)
		offered, err := b.Offered(t.Context())
		if err != nil || len(offered) != 1 {
			t.Errorf("%d lines wait for a yes in %s, %v", len(offered), root, err)
		}
	}
}
