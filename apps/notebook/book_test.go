package notebook_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// A desk is a repository with a notebook, and a clock.
type desk struct {
	*testing.T
	db   store.Store
	name string // of the database
	root string
	now  time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, root: t.TempDir(), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	d.name = filepath.Join(t.TempDir(), "d.db")
	if out, err := exec.Command("git", "init", "-q", d.root).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	var err error
	if d.db, err = sqlite.Open(t.Context(), d.name, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.db.Close() })
	return d
}

func (d *desk) open(root string) *notebook.Book {
	b, err := notebook.Open(notebook.Options{Memories: d.db, Root: root, Now: func() time.Time { return d.now }})
	d.no(err)
	return b
}

func (d *desk) no(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *desk) git(args ...string) {
	d.Helper()
	args = append([]string{"-C", d.root, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		d.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (d *desk) book() *notebook.Book {
	b := d.open(d.root)
	_, err := b.Init(d.Context())
	d.no(err)
	return b
}

func (d *desk) read(b *notebook.Book, name string) string {
	text, err := os.ReadFile(filepath.Join(b.Dir(), name))
	d.no(err)
	return string(text)
}

func (d *desk) write(b *notebook.Book, name, text string) {
	d.no(os.WriteFile(filepath.Join(b.Dir(), name), []byte(text), 0o600))
}

// same insists that the files are those that the store alone makes.
func (d *desk) same(b *notebook.Book) {
	d.Helper()
	files, err := b.Render(d.Context())
	d.no(err)
	for name, want := range files {
		if got := d.read(b, name); got != want {
			d.Errorf("%s is not what the store makes:\n%s\n--- store:\n%s", name, got, want)
		}
	}
}

func session(n int) memory.Source {
	return memory.Source{Conversation: fmt.Sprintf("session-%d", n), From: n, To: n}
}

// Five confirmations and a yes make a numbered rule; both name each other.
func TestFiveConfirmationsAndAYesMakeARule(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	it, err := b.Observe(ctx, "Run go vet before each commit", session(1))
	d.no(err)
	for n := range 8 {
		d.now = d.now.Add(time.Hour)
		_, err = b.Confirm(ctx, it.ID, notebook.Confirmation{By: notebook.Person, From: session(1 + n/2), Evidence: "vet first, please"})
		d.no(err)
	}
	r, err := b.Find(ctx, it.ID)
	d.no(err)
	if r.Times != 3 {
		t.Errorf("%d confirmations by four sessions of which one has said it first, want 3", r.Times)
	}
	if _, err := b.Confirm(ctx, it.ID, notebook.Confirmation{By: "model", From: session(9)}); !errors.Is(err, notebook.ErrMayNot) {
		t.Errorf("a model confirms: %v", err)
	}
	for range 2 {
		d.now = d.now.Add(time.Hour)
		_, err = b.Confirm(ctx, "run go vet before each commit", notebook.Confirmation{By: notebook.Hand})
		d.no(err)
	}
	if text := d.read(b, notebook.RulesFile); strings.Contains(text, "vet") {
		t.Errorf("it is a rule without a yes:\n%s", text)
	}
	ready, err := b.Offered(ctx)
	d.no(err)
	if len(ready) != 1 {
		t.Fatalf("%d wait for a yes, want 1", len(ready))
	}
	rule, err := b.Accept(ctx, it.ID, "")
	d.no(err)
	text := d.read(b, notebook.RulesFile)
	for _, want := range []string{"## Rule #1: Run go vet before each commit <!-- " + rule.ID, "**Why:** confirmed 5 times", "**From:** " + it.ID} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := d.read(b, notebook.ObservationArchiveFile); !strings.Contains(text, "→ Added as Rule #1 ("+rule.ID+")") {
		t.Errorf("the archive does not name the rule:\n%s", text)
	}
	_, err = b.Contradict(ctx, rule.ID, "no vet for documents", session(12))
	d.no(err)
	if open, _ := b.Opening(ctx, 1000); strings.Contains(open, "vet") {
		t.Errorf("a contradicted rule is told: %s", open)
	}
	d.same(b)
}

// Files are read back, decisions among them.
func TestEditsInFilesBecomeRecords(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	one, err := b.Observe(ctx, "Prefers short answers", session(1))
	d.no(err)
	two, err := b.Observe(ctx, "Writes tests first", session(1))
	d.no(err)
	_, err = b.Done(ctx, "TASK-42: Add SMS OTP handler", notebook.Task{Files: 3, Which: "handler, stack, tests", Estimate: 3500, Tokens: 2800, Commits: []string{"7b848b0"}}, session(1))
	d.no(err)
	text := strings.Replace(d.read(b, notebook.ObservationsFile), "Prefers short answers", "Prefers very short answers", 1)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.Contains(l, two.ID) {
			lines = append(lines[:i], lines[i+2:]...)
			break
		}
	}
	text = strings.Join(lines, "\n") + "- Tabs, not spaces\n\n## My own notes\n\nAsk Ann. <private>her number</private>\n- not a record\n"
	d.write(b, notebook.ObservationsFile, text)
	d.write(b, notebook.DoneFile, strings.Replace(d.read(b, notebook.DoneFile), "  - Tokens", "  - Outcome: shipped\n  a note of mine\n  - Tokens", 1))
	r, err := b.Sync(ctx)
	d.no(err)
	if len(r.Read) != 4 {
		t.Errorf("read %q, want an edit, a deletion, an addition and an outcome", r.Read)
	}
	got := d.read(b, notebook.ObservationsFile)
	for _, want := range []string{"- Prefers very short answers <!-- " + one.ID, "- Tabs, not spaces <!-- m:", "\n## My own notes\n\nAsk Ann. <private>her number</private>\n- not a record\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Writes tests first") || !strings.Contains(d.read(b, notebook.ObservationArchiveFile), "Writes tests first") {
		t.Error("what was deleted is not in the archive")
	}
	if got := d.read(b, notebook.DoneFile); strings.Count(got, "Tokens") != 1 || !strings.Contains(got, "a note of mine") || !strings.Contains(got, "  - Outcome: shipped") {
		t.Errorf("DONE.md:\n%s", got)
	}
	if src, err := os.ReadFile(d.name); err == nil && strings.Contains(string(src), "her number") {
		t.Error("private text is in the store")
	}
	if r, err := b.Sync(ctx); err != nil || len(r.Read)+len(r.Changes) > 0 {
		t.Errorf("a second look finds %+v, %v", r, err)
	}
	_, err = b.Restore(ctx, two.ID)
	d.no(err)
	if !strings.Contains(d.read(b, notebook.ObservationsFile), "Writes tests first") {
		t.Error("it was not restored")
	}
}

// What an editor saves while scans write is never lost.
func TestTwoWriters(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range 10 {
				if _, err := b.Observe(ctx, fmt.Sprintf("pattern %d of writer %d", n, w), memory.Source{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for n := range 10 {
			f, err := os.OpenFile(filepath.Join(b.Dir(), notebook.DecisionsFile), os.O_RDONLY, 0)
			if err == nil {
				f.Close()
			}
			name := filepath.Join(b.Dir(), notebook.DecisionsFile)
			for { // as an editor: it saves what it has read and its own line
				text, err := os.ReadFile(name)
				if err != nil {
					t.Error(err)
					return
				}
				if is, err := os.ReadFile(name); err != nil || string(is) != string(text) {
					continue
				}
				tmp := name + "~"
				os.WriteFile(tmp, append(text, fmt.Sprintf("- decision %d\n", n)...), 0o600)
				os.Rename(tmp, name)
				break
			}
		}
	})
	wg.Wait()
	_, err := b.Sync(ctx)
	d.no(err)
	got := d.read(b, notebook.ObservationsFile)
	for w := range 2 {
		for n := range 10 {
			if !strings.Contains(got, fmt.Sprintf("pattern %d of writer %d", n, w)) {
				t.Errorf("pattern %d of writer %d is lost", n, w)
			}
		}
	}
	all, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindMemory}, Archived: true})
	d.no(err)
	texts := map[string]bool{}
	for _, it := range all {
		texts[it.Text] = true
	}
	for n := range 10 {
		if !texts[fmt.Sprintf("decision %d", n)] {
			t.Errorf("decision %d is lost", n)
		}
	}
	d.same(b)
}

// A quarter: nothing is lost, every schedule runs once, files are those of the store.
func TestAQuarter(t *testing.T) {
	d := newDesk(t)
	b, ctx := d.book(), t.Context()
	begin, observed, done := d.now, 0, 0
	var first memory.Item
	for day := range 90 {
		d.now = begin.AddDate(0, 0, day)
		if day%20 > 11 || day%testkit.Depth(2, 1) > 0 { // holidays: nothing runs
			continue
		}
		var wg sync.WaitGroup
		for range 2 { // two processes at once
			wg.Go(func() {
				if _, err := d.open(d.root).CatchUp(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		it, err := b.Observe(ctx, fmt.Sprintf("pattern seen on day %d", day), session(day))
		d.no(err)
		if observed++; first.ID == "" {
			first = it
		}
		_, err = b.Done(ctx, fmt.Sprintf("work of day %d", day), notebook.Task{Files: 2, Tokens: 1000 + day, Pattern: "daily"}, session(day))
		d.no(err)
		done++
	}
	d.now = begin.AddDate(0, 0, 90)
	_, err := b.CatchUp(ctx)
	d.no(err)
	db, err := sql.Open("sqlite", "file:"+d.name+"?mode=ro")
	d.no(err)
	defer db.Close()
	for kind, want := range map[string]int{"observation": observed + 1, "task": done} {
		var kept, archived int
		d.no(db.QueryRow("SELECT sum(archived <= restored), sum(archived > restored) FROM memories WHERE kind = ?", kind).Scan(&kept, &archived))
		if kept+archived != want || archived == 0 || kept == 0 {
			t.Errorf("%ss: %d kept and %d archived, want %d together", kind, kept, archived, want)
		}
	}
	s, err := b.State(ctx)
	d.no(err)
	due := map[string]int{}
	for _, r := range s.Runs {
		due[r.Schedule+r.Due.Format(" 2006-01-02")]++
		due[r.Schedule]++
	}
	if due["weekly"] != 13 || due["monthly"] != 2 || len(due) != 13+2+2 {
		t.Errorf("13 Sundays and 2 first days of a month: %v", due)
	}
	d.same(b)
	back, err := b.Restore(ctx, first.ID)
	d.no(err)
	if back.Text != first.Text || back.ID != first.ID || !back.Created.Equal(first.Created) {
		t.Errorf("restored %+v, was %+v", back, first)
	}
	d.same(b)
}
