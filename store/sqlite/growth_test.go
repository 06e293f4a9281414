package sqlite_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// grown are the tables that get longer with what is kept, by the names that statements give them.
var grown = map[string]string{}

func init() {
	for table, names := range map[string]string{
		"conversations": "c v e f p", "segments": "e s", "chains": "e", "blobs": "b", "packs": "p", "holds": "h", "decisions": "d", "checkpoints": "c p",
		"memories": "m", "confirmations": "c",
		"requests": "r", "spends": "s", "spent": "s", "fixed": "", "search_docs": "d", "search_queue": "", "claims": "",
	} {
		grown[table] = table
		for _, n := range strings.Fields(names) {
			grown[n] = table
		}
	}
}

var (
	scans  = regexp.MustCompile(`^SCAN (\w+)`)
	tenant = regexp.MustCompile(`^SEARCH (\w+) USING .*\(tenant=\?\)$`)
)

// wholes are the statements that read all of something, by how they begin, and why they may: none is on the way of
// a request, and what they do is done once for each command.
var wholes = map[string]string{
	"SELECT tenant, id, session, updated, pinned FROM conversations":  "gc looks at each conversation, once",
	"SELECT (SELECT COALESCE(sum(length(data)), 0) FROM packs":        "gc measures the database, once",
	"SELECT id, conversation, hashes FROM holds NOT INDEXED":          "gc reads who shares what, once, and then what is new",
	"DELETE FROM spends WHERE time":                                   "gc looks at each booking, once",
	"SELECT id, tenant, hashes FROM search_queue ORDER BY id LIMIT 1": "the first one",
	"SELECT 1 FROM search_queue LIMIT 1":                              "the first one",
	"SELECT COALESCE(max(id), 0) + 1 FROM packs":                      "the last one",
}

// TestReadsDoNotGrowWithTheStore looks at how SQLite carries out every statement that a request or a command causes.
// Without statistics it prefers a primary key, even one of which only the tenant is known: then each of many
// conversations reads what all of them have.
func TestReadsDoNotGrowWithTheStore(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	everyday(t, db)
	statements := db.Statements()
	if len(statements) < 50 {
		t.Fatalf("%d statements were run, that cannot be all", len(statements))
	}
	for _, s := range statements {
		if !readable(s) {
			continue
		}
		for _, step := range db.Explain(t, s) {
			if whole(step) && !allowed(s) {
				t.Errorf("%q reads a whole table or tenant: %s", s, step)
			}
		}
	}
}

// readable reports whether a statement reads tables.
func readable(statement string) bool {
	verb, _, _ := strings.Cut(statement, " ")
	switch verb {
	case "SELECT", "WITH", "DELETE", "UPDATE", "INSERT":
		return !strings.Contains(statement, "search_text (")
	}
	return false
}

// whole reports whether a step reads all rows that a table, or a tenant, has.
func whole(step string) bool {
	for _, r := range []*regexp.Regexp{scans, tenant} {
		if m := r.FindStringSubmatch(step); m != nil && grown[m[1]] != "" {
			return true
		}
	}
	return false
}

func allowed(statement string) bool {
	for begin := range wholes {
		if strings.HasPrefix(statement, begin) {
			return true
		}
	}
	return false
}

// everyday does with a database what requests and the commands that look at all of it do.
func everyday(t *testing.T, db *sqlite.Database) {
	t.Helper()
	ctx := t.Context()
	must(t, history(ctx, db))
	must(t, pouredHistory(ctx, db))
	l := &line{Key: store.Key{ID: "everyday"}, size: 300}
	var chain []decant.Hash
	for range 3 {
		must(t, l.commit(ctx, db))
		chain = append(chain, l.chain)
	}
	now := time.Unix(1_800_000_000, 0)
	it, err := memory.New("m:1", memory.KindMemory, memory.Scope{Level: memory.User}, "prefers short answers", memory.Source{Conversation: l.ID}, now)
	must(t, err)
	must(t, db.Revise(ctx, "", it.Scope, memory.Save(it)))
	must(t, db.Revise(ctx, "", it.Scope, memory.Update(it.ID, func(it memory.Item) (memory.Item, error) { return memory.Archive(it, now) })))
	must(t, db.Record(ctx, l.Key, &store.Events{
		Blobs:    [][]byte{[]byte("answer")},
		Requests: []store.Request{{ID: "r1", Time: now, Length: 3, Status: 200, Answer: decant.HashText("answer")}},
		Spends:   []store.Spend{{ID: "r1", Time: now, Model: "m", Cost: 7}},
		Anchor:   &store.Anchor{Version: 3, Length: 3, Time: now},
	}))
	found, err := db.Match(ctx, "", l.ID, chain)
	must(t, err)
	if found.Known != 3 {
		t.Fatalf("match: %+v", found)
	}
	queries(t, db, l, now)
	_, err = db.Index(ctx, 0)
	must(t, err)
	_, err = db.GC(ctx, store.Policy{Now: now.Add(time.Hour), MaxAge: time.Minute, Spends: time.Minute})
	must(t, err)
}

// queries reads in every way that requests and commands do.
func queries(t *testing.T, db *sqlite.Database, l *line, now time.Time) {
	t.Helper()
	ctx := t.Context()
	for name, read := range map[string]func() error{
		"Decided": func() error {
			_, err := db.Decided(ctx, "", l.ID, []decant.Hash{decant.HashText(l.text(1))}, 8)
			return err
		},
		"Version":  func() error { _, err := db.Version(ctx, l.Key); return err },
		"Load":     func() error { _, err := db.Load(ctx, l.Key, store.Newest); return err },
		"Branch":   func() error { _, err := db.Branch(ctx, l.Key, l.version, 1, 2); return err },
		"Requests": func() error { _, err := db.Requests(ctx, l.Key); return err },
		"Standing": func() error { _, err := db.Standing(ctx, l.Key, 4); return err },
		"Blobs":    func() error { _, err := db.Blobs(ctx, "", decant.HashText(l.text(1))); return err },
		"Resolve": func() error {
			_, err := db.Resolve(ctx, l.Key, decant.HandleOf(decant.HashText(l.text(1))))
			return err
		},
		"Findings": func() error { _, err := db.Findings(ctx, "u", "o"); return err },
		"Find": func() error {
			return db.Find(ctx, store.Finding{Upstream: "u", Organization: "o", Topic: "t", Time: now})
		},
		"Memories": func() error {
			_, err := db.Memories(ctx, store.MemoryQuery{Name: "m:", Conversation: l.ID})
			return err
		},
		"Memories of": func() error {
			_, err := db.Memories(ctx, store.MemoryQuery{Scopes: []memory.Scope{{Level: memory.User}}, Archived: true})
			return err
		},
		"Tenants":       func() error { _, err := db.Tenants(ctx); return err },
		"Spent":         func() error { _, err := db.Spent(ctx, store.SpendQuery{Since: now}); return err },
		"Spent there":   func() error { _, err := db.Spent(ctx, store.SpendQuery{Conversation: l.ID}); return err },
		"Spending":      func() error { _, err := db.Spending(ctx, store.SpendQuery{Since: now}); return err },
		"Spending of":   func() error { _, err := db.Spending(ctx, store.SpendQuery{Conversation: l.ID}); return err },
		"Conversations": func() error { _, err := db.Conversations(ctx, store.Filter{Limit: 1}); return err },
	} {
		if err := read(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}
