package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// TestOnlyTheRightKeyOpens opens databases with keys that do not fit: the error says what is wrong, and nothing is
// written.
func TestOnlyTheRightKeyOpens(t *testing.T) {
	one, other := key(t, "01"), key(t, "02")
	for _, tt := range []struct {
		name      string
		has, with *seal.Key
		want      error
		say       string
	}{
		{"NoKey", one, nil, store.ErrSealed, one.ID()},
		{"AnotherKey", one, other, store.ErrWrongKey, one.ID()},
		{"KeyForAClearOne", nil, one, store.ErrUnsealed, "not encrypted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "decant.db")
			db := openAs(t, path, sqlite.Options{Key: secret(tt.has)})
			must(t, (&line{Key: store.Key{ID: "conv"}, size: 300}).commit(t.Context(), db))
			must(t, db.Close())
			before, err := os.ReadFile(path)
			must(t, err)
			if _, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Key: secret(tt.with)}); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("open: %v, want %v with %q", err, tt.want, tt.say)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v", err)
			}
			must(t, (&line{Key: store.Key{ID: "another"}, size: 300}).commit(t.Context(), openAs(t, path, sqlite.Options{Key: secret(tt.has)})))
		})
	}
}

// TestOneDecidesWhetherItIsEncrypted has many open a new database at once, with different keys and none: all who get
// it agree.
func TestOneDecidesWhetherItIsEncrypted(t *testing.T) {
	for range testkit.Depth(5, 200) {
		oneDecides(t, filepath.Join(t.TempDir(), "decant.db"))
	}
}

func oneDecides(t *testing.T, path string) {
	t.Helper()
	var mu sync.Mutex
	opened := map[int]bool{}
	var all sync.WaitGroup
	for i := range 6 {
		var k *seal.Key
		if i%3 > 0 {
			k = key(t, []string{"", "01", "02"}[i%3])
		}
		all.Go(func() {
			db, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Key: secret(k)})
			if errors.Is(err, store.ErrSealed) || errors.Is(err, store.ErrWrongKey) || errors.Is(err, store.ErrUnsealed) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			opened[i%3] = true
			mu.Unlock()
			db.Close()
		})
	}
	all.Wait()
	if len(opened) != 1 {
		t.Errorf("it was opened with the keys %v, want one of them", opened)
	}
}

// TestWhatWasTamperedWithIsDamaged changes, moves and takes away what is encrypted. Whoever reads it is told, and
// Check says so.
func TestWhatWasTamperedWithIsDamaged(t *testing.T) {
	load := func(db *sqlite.Database) error {
		_, err := db.Load(t.Context(), store.Key{ID: "conv"}, store.Newest)
		return err
	}
	requests := func(db *sqlite.Database) error {
		_, err := db.Requests(t.Context(), store.Key{ID: "conv"})
		return err
	}
	memories := func(db *sqlite.Database) error {
		_, err := db.Memories(t.Context(), store.MemoryQuery{})
		return err
	}
	text := (&line{Key: store.Key{ID: "conv"}, size: 300}).text(2)
	blob := func(db *sqlite.Database) error {
		_, err := db.Blobs(t.Context(), "", decant.HashText(text))
		return err
	}
	for name, tt := range map[string]struct {
		sql  string
		read func(*sqlite.Database) error
	}{
		"content":            {"UPDATE packs SET data = CAST(substr(data, 1, 60) || substr(data, 62) || x'00' AS BLOB)", blob},
		"cut content":        {"UPDATE packs SET data = substr(data, 1, 30)", blob},
		"names":              {"UPDATE packs SET names = (SELECT names FROM packs WHERE id = 1) WHERE id = 2", blob},
		"moved content":      {"UPDATE packs SET data = (SELECT data FROM packs WHERE id = 1) WHERE id = 2", blob},
		"another pack":       {"UPDATE blobs SET pack = (SELECT max(pack) + min(pack) FROM blobs) - pack", blob},
		"entries":            {"UPDATE segments SET data = zeroblob(200)", load},
		"moved entries":      {"UPDATE segments SET data = (SELECT data FROM segments WHERE version = 1) WHERE version = 2", load},
		"moved in the chain": {"UPDATE segments SET position = 1 WHERE version = 3", load},
		"a stub":             {"UPDATE decisions SET text = (SELECT text FROM decisions WHERE seq = 1) WHERE seq = 2", load},
		"no stub":            {"UPDATE decisions SET text = x''", load},
		"the record":         {"UPDATE decisions SET record = text", load},
		"agent":              {"UPDATE conversations SET agent = project", load},
		"session":            {"UPDATE conversations SET session = substr(session, 1, 20) || substr(session, 22)", load},
		"a request":          {"UPDATE requests SET stop = planned", requests},
		"anchor":             {"UPDATE conversations SET anchor = ''", load},
		"a memory":           {"UPDATE memories SET text = name", memories},
		"a scope":            {"UPDATE memories SET name = x''", memories},
		"evidence":           {"UPDATE confirmations SET evidence = (SELECT text FROM memories)", memories},
	} {
		t.Run(name, func(t *testing.T) {
			db := openAs(t, filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{Key: key(t, "01").Secret})
			l := &line{Key: store.Key{ID: "conv"}, size: 300}
			for range 4 {
				must(t, l.commit(t.Context(), db))
			}
			must(t, db.Record(t.Context(), l.Key, &store.Events{Requests: []store.Request{{ID: "r", Stop: "end_turn"}}}))
			it, err := memory.New("m:1", memory.KindMemory, memory.Scope{Level: memory.Project, Name: "p"}, "prefers tabs", memory.Source{}, time.Unix(1_800_000_000, 0))
			must(t, err)
			must(t, db.Revise(t.Context(), "", it.Scope, memory.Save(it, it)))
			must(t, tt.read(db))
			must(t, db.Exec(t.Context(), tt.sql))
			if err := tt.read(db); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("read: %v, want %v", err, store.ErrCorrupt)
			}
			if problems, err := db.Check(t.Context()); err != nil || len(problems) == 0 {
				t.Errorf("check finds %q, %v", problems, err)
			}
		})
	}
}

// TestRotate changes the outside key while another handle has the database open, which goes on.
func TestRotate(t *testing.T) {
	path, old, next := filepath.Join(t.TempDir(), "decant.db"), key(t, "01"), key(t, "02")
	other := openAs(t, path, sqlite.Options{Key: old.Secret})
	l := &line{Key: store.Key{ID: "conv"}, size: 300}
	must(t, l.commit(t.Context(), other))
	must(t, sqlite.Rotate(t.Context(), path, old.Secret, next.Secret))
	must(t, l.commit(t.Context(), other))
	if _, err := sqlite.OpenDatabase(t.Context(), path, sqlite.Options{Key: old.Secret}); !errors.Is(err, store.ErrWrongKey) {
		t.Errorf("open with the old key: %v", err)
	}
	if _, err := openAs(t, path, sqlite.Options{Key: next.Secret}).Load(t.Context(), l.Key, store.Newest); err != nil {
		t.Error(err)
	}
	clear := filepath.Join(t.TempDir(), "decant.db")
	must(t, open(t, clear).Close())
	if err := sqlite.Rotate(t.Context(), clear, nil, next.Secret); !errors.Is(err, store.ErrUnsealed) {
		t.Errorf("rotate one that is not encrypted: %v", err)
	}
}

// TestConvert encrypts a database, encrypts it anew and decrypts it: what the store returns is the same all the way,
// what was said is in the files only where they are not encrypted.
func TestConvert(t *testing.T) {
	one, two := key(t, "01"), key(t, "02")
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	evidence, err := tell(t.Context(), db, "one")
	must(t, err)
	must(t, db.Close())
	want := picture(t, path, nil)
	for _, step := range []struct{ from, to *seal.Key }{{nil, one}, {one, two}, {two, two}, {two, nil}} {
		must(t, os.WriteFile(path+".converting", []byte("of an attempt that was killed"), 0o600))
		must(t, sqlite.Convert(t.Context(), path, secret(step.from), secret(step.to)))
		if got := found(t, path, evidence); (len(got) > 0) != (step.to == nil) {
			t.Errorf("found in the file: %q", got)
		}
		unchanged(t, want, picture(t, path, step.to))
		if left, _ := filepath.Glob(path + ".converting*"); left != nil {
			t.Errorf("left over: %q", left)
		}
	}
}

// picture returns what a store returns of all that it holds.
func picture(t *testing.T, path string, k *seal.Key) map[string]any {
	t.Helper()
	db := openAs(t, path, sqlite.Options{Key: secret(k)})
	defer db.Close()
	return pictureIn(t, db)
}

// pictureIn is picture of a database that is open.
func pictureIn(t *testing.T, db *sqlite.Database) map[string]any {
	t.Helper()
	out := map[string]any{}
	note := func(what string, v any, err error) {
		t.Helper()
		must(t, err)
		out[what] = v
	}
	tenants, err := db.Tenants(t.Context())
	must(t, err)
	for _, tenant := range tenants {
		list, err := db.Conversations(t.Context(), store.Filter{Tenant: tenant})
		note(tenant+" conversations", list, err)
		days, err := db.Spending(t.Context(), store.SpendQuery{Tenant: tenant})
		note(tenant+" spending", days, err)
		sum, err := db.Spent(t.Context(), store.SpendQuery{Tenant: tenant})
		note(tenant+" spent", sum, err)
		items, err := db.Memories(t.Context(), store.MemoryQuery{Tenant: tenant, Archived: true})
		note(tenant+" memories", items, err)
		for _, c := range list {
			pictureOf(t, db, &c.Conversation, note)
		}
	}
	keys, err := db.TenantKeys(t.Context())
	note("keys", keys, err)
	acts, err := db.Acts(t.Context(), store.ActQuery{})
	note("acts", acts, err)
	findings, err := db.Findings(t.Context(), inTheClear, inTheClear)
	note("findings", findings, err)
	problems, err := db.Check(t.Context())
	note("problems", problems, err)
	return out
}

// unchanged compares two pictures.
func unchanged(t *testing.T, want, got map[string]any) {
	t.Helper()
	if reflect.DeepEqual(want, got) { // which takes a hundredth of the time
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("what the store returns has changed:\n%s", diff)
	}
}

// pictureOf notes what a store returns of one conversation.
func pictureOf(t *testing.T, db *sqlite.Database, c *store.Conversation, note func(string, any, error)) {
	t.Helper()
	s, err := db.Load(t.Context(), c.Key, store.Newest)
	note(c.ID, s, err)
	requests, err := db.Requests(t.Context(), c.Key)
	note(c.ID+" requests", requests, err)
	var chain, hashes []decant.Hash
	for _, e := range s.Chain {
		chain, hashes = append(chain, e.Chain), append(hashes, e.Raw, e.Text)
	}
	m, err := db.Match(t.Context(), c.Tenant, c.Session, chain)
	note(c.ID+" match", m, err)
	decided, err := db.Decided(t.Context(), c.Tenant, c.Session, hashes, 10)
	note(c.ID+" decided", decided, err)
	named, err := db.Conversations(t.Context(), store.Filter{Tenant: c.Tenant, Name: c.Session})
	note(c.ID+" by name", named, err)
	blobs, err := db.Blobs(t.Context(), c.Tenant, slices.DeleteFunc(hashes, decant.Hash.IsZero)...)
	note(c.ID+" blobs", blobs, err)
	for _, b := range blobs {
		hits, err := db.Search(t.Context(), store.Query{Tenant: c.Tenant, Text: string(b[:min(25, len(b))])})
		note(c.ID+" search "+string(b[:min(25, len(b))]), len(hits) > 0, err)
	}
	for _, d := range s.Decisions {
		if d.Handle = decant.HandleOf(d.Target.Hash); !d.Target.Hash.IsZero() {
			o, err := db.Resolve(t.Context(), c.Key, d.Handle)
			note(c.ID+" "+string(d.Handle), o, err)
		}
	}
}

// TestConvertIsAlone guards that a database which is open elsewhere is left as it is.
func TestConvertIsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	l := &line{Key: store.Key{ID: "conv"}, size: 300}
	must(t, l.commit(t.Context(), db))
	if err := sqlite.Convert(t.Context(), path, nil, key(t, "01").Secret); !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "stop the gateway") {
		t.Errorf("convert while it is open: %v", err)
	}
	must(t, l.commit(t.Context(), db))
	must(t, db.Close())
	must(t, l.commit(t.Context(), open(t, path)))
}

// TestConvertRefuses guards that what cannot be converted stays as it is.
func TestConvertRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := openAs(t, path, sqlite.Options{Key: key(t, "01").Secret})
	l := &line{Key: store.Key{ID: "conv"}, size: 300}
	must(t, l.commit(t.Context(), db))
	must(t, db.Exec(t.Context(), "UPDATE packs SET data = zeroblob(100)"))
	must(t, db.Close())
	for _, tt := range []struct {
		from, to *seal.Key
		want     error
	}{
		{nil, key(t, "02"), store.ErrSealed}, {key(t, "02"), nil, store.ErrWrongKey}, {key(t, "01"), nil, store.ErrCorrupt},
	} {
		before, err := os.ReadFile(path)
		must(t, err)
		if err := sqlite.Convert(t.Context(), path, secret(tt.from), secret(tt.to)); !errors.Is(err, tt.want) {
			t.Errorf("convert: %v, want %v", err, tt.want)
		}
		if left, _ := filepath.Glob(path + ".converting*"); left != nil {
			t.Errorf("left over: %q", left)
		}
		must(t, openAs(t, path, sqlite.Options{Key: key(t, "01").Secret}).Close())
		if after, err := os.ReadFile(path); err != nil || len(after) != len(before) {
			t.Errorf("the file has changed: %d bytes, then %d, %v", len(before), len(after), err)
		}
	}
}

// TestConvertKeepsFaults guards that a fault which reading survives does not keep anybody from encrypting.
func TestConvertKeepsFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	must(t, (&line{Key: store.Key{ID: "conv"}, size: 300}).commit(t.Context(), db))
	must(t, db.Exec(t.Context(), "UPDATE conversations SET spent_cost = 5"))
	before, err := db.Check(t.Context())
	must(t, err)
	must(t, db.Close())
	must(t, sqlite.Convert(t.Context(), path, nil, key(t, "01").Secret))
	after, err := openAs(t, path, sqlite.Options{Key: key(t, "01").Secret}).Check(t.Context())
	if diff := cmp.Diff(before, after); err != nil || diff != "" || len(before) != 1 {
		t.Errorf("%v, %v:\n%s", before, err, diff)
	}
}

// TestSearchInMemory guards that an index in memory that is full is asked and emptied: what was read before is found,
// the better match first.
func TestSearchInMemory(t *testing.T) {
	db := openAs(t, filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{Key: key(t, "01").Secret})
	l := &store.Batch{Key: store.Key{ID: "conv"}, Create: &store.Creation{}, Time: time.Unix(1, 0)}
	texts := []string{"needle needle", strings.Repeat(strings.Repeat("h", 60)+" ", 340_000) + "needle", "hay", "needle in " + strings.Repeat("hay ", 100)}
	for i, text := range texts {
		h := decant.HashText(text)
		l.Blobs = append(l.Blobs, []byte(text))
		l.Entries = append(l.Entries, store.Entry{Chain: decant.HashText(string(rune('a' + i))), Raw: h, Text: h, Ref: decant.Ref{Message: i + 1}})
	}
	_, err := db.Commit(t.Context(), l)
	must(t, err)
	hits, err := db.Search(t.Context(), store.Query{Text: "needle"})
	must(t, err)
	var got []int
	for _, h := range hits {
		got = append(got, h.Entry.Message)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]int{1, 2, 4}, got); diff != "" {
		t.Errorf("found:\n%s", diff)
	}
}
