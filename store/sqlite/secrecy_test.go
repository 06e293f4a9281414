package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// A teller fills values with texts that occur nowhere else and that nothing compresses, and remembers them.
type teller struct {
	seed string
	said map[string]string // by what they are
}

// say returns such a text.
func (x *teller) say(what string) string {
	sum := sha256.Sum256([]byte(x.seed + what))
	s := "w" + hex.EncodeToString(sum[:12])
	x.said[what] = s
	return s
}

// fill sets all strings and bytes in v that are empty.
func (x *teller) fill(v reflect.Value, what string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			x.fill(v.Elem(), what)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && v.Type() != reflect.TypeFor[time.Time]() {
				x.fill(v.Field(i), what+"."+f.Name)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]byte]() && v.IsNil() {
			v.SetBytes([]byte(x.say(what)))
		}
		for i := range v.Len() {
			x.fill(v.Index(i), fmt.Sprintf("%s[%d]", what, i))
		}
	case reflect.String:
		if v.String() == "" {
			v.SetString(x.say(what))
		}
	}
}

// inTheClear are the fields that docs/SECURITY.md says are not encrypted. They are filled so that fill leaves them.
const inTheClear = "clear"

// batch returns a commit with everything that a commit can have, filled.
func (x *teller) batch() *store.Batch {
	now := time.Unix(1_800_000_000, 0)
	texts := []string{x.say("block"), x.say("another block"), x.say("answer"), x.say("frame"), x.say("plan")}
	hash := decant.HashText
	b := &store.Batch{
		Key: store.Key{Tenant: inTheClear, ID: "conv-" + x.seed}, Time: now,
		Create: &store.Creation{},
		Fixed:  &store.Fixed{Version: hash(x.seed + "fixed")},
		Head:   &store.Head{Model: inTheClear, Fixed: hash(x.seed + "fixed")},
		Events: store.Events{
			Requests: []store.Request{{ID: "r", Time: now, API: inTheClear, Model: inTheClear, AnswerID: inTheClear, Fixed: hash(x.seed + "fixed"), Frame: hash(texts[3]),
				Answer: hash(texts[2]), View: hash(x.seed + "view"), Planned: &store.Planned{Decisions: hash(texts[4])}}},
			Spends: []store.Spend{{ID: "s-" + x.seed, Time: now, Model: inTheClear, Purpose: inTheClear}},
			Anchor: &store.Anchor{Time: now},
		},
		Decisions: []decant.Decision{
			{ID: "d1", Pour: inTheClear, Kind: decant.Stub, Revokes: inTheClear, Target: decant.Target{Hash: hash(texts[0])}, Risk: make([]decant.Fact, 2)},
			{ID: "d2", Pour: inTheClear, Kind: decant.Cover, Revokes: inTheClear, Checkpoint: &decant.Checkpoint{Number: 1, Facts: make([]decant.Fact, 2)}},
		},
	}
	for i, text := range texts[:2] {
		b.Entries = append(b.Entries, store.Entry{Chain: hash(x.seed + fmt.Sprint("chain", i)), Raw: hash(text), Text: hash(text), Ref: decant.Ref{Message: i + 1}})
	}
	for _, text := range texts {
		b.Blobs = append(b.Blobs, []byte(text))
	}
	x.fill(reflect.ValueOf(b), "batch")
	return b
}

// tell stores something in every place that a store has. It returns what was said, with the hashes of it.
func tell(ctx context.Context, db *sqlite.Database, seed string) (map[string][]byte, error) {
	x := &teller{seed: seed, said: map[string]string{}}
	b := x.batch()
	now := time.Unix(1_800_000_000, 0)
	finding := store.Finding{Upstream: inTheClear, Organization: inTheClear, Topic: "t-" + seed}
	key := store.TenantKey{ID: "k-" + seed, Tenant: inTheClear, Hash: sha256.Sum256([]byte(seed))}
	act := store.Act{Actor: inTheClear, Action: inTheClear, Tenant: inTheClear, Target: inTheClear, Time: now}
	item := memory.Item{
		ID: "m:" + seed, Kind: inTheClear, Scope: memory.Scope{Level: memory.Project}, Source: memory.Source{Conversation: b.ID}, Created: now, Confirmed: now,
		Times: 1, Confirmations: []memory.Confirmation{{Source: memory.Source{Conversation: b.ID}, Time: now}}, Became: inTheClear, From: inTheClear,
	}
	added := store.Addition{Key: store.Key{Tenant: inTheClear, ID: "j-" + seed}, Kind: inTheClear, Conversation: b.ID, Time: now, Steps: make([][]byte, 2)}
	for what, v := range map[string]any{"journal": &added, "memory": &item, "finding": &finding, "key": &key, "act": &act} {
		x.fill(reflect.ValueOf(v), what)
	}
	for _, do := range []func() error{
		func() error { _, err := db.Commit(ctx, b); return err },
		func() error { return db.Find(ctx, finding) },
		func() error { return db.AddKey(ctx, key, act) },
		func() error { return db.Audit(ctx, act) },
		func() error {
			return db.Revise(ctx, inTheClear, item.Scope, func(have []memory.Item) ([]memory.Item, error) { return append(have, item), nil })
		},
		func() error { return db.AddSteps(ctx, &added) },
		func() error { _, err := db.Index(ctx, 1); return err },
		func() error {
			_, err := db.Search(ctx, store.Query{Tenant: inTheClear, Text: x.said["block"]})
			return err
		},
	} {
		if err := do(); err != nil {
			return nil, err
		}
	}
	return x.evidence(b), nil
}

// evidence returns what a thief must not find: what was said, and the hashes that would confirm a guess of it.
func (x *teller) evidence(b *store.Batch) map[string][]byte {
	out := map[string][]byte{}
	for what, s := range x.said {
		h := decant.HashText(s)
		out[what], out["hash of "+what] = []byte(s), h[:]
	}
	for i, h := range []decant.Hash{b.Fixed.Version, b.Entries[0].Chain, b.Entries[1].Chain, b.Events.Requests[0].View} {
		out[fmt.Sprint("hash ", i)] = h[:]
	}
	return out
}

// found returns what of the evidence stands in the files of a database.
func found(t *testing.T, path string, evidence map[string][]byte) (out []string) {
	t.Helper()
	var all []byte
	for _, end := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + end)
		if err != nil && (end == "" || !os.IsNotExist(err)) {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for what, b := range evidence {
		if bytes.Contains(all, b) || bytes.Contains(all, []byte(hex.EncodeToString(b))) || bytes.Contains(all, []byte(base64.StdEncoding.EncodeToString(b))) {
			out = append(out, what)
		}
	}
	slices.Sort(out)
	return out
}

// TestNothingSaidIsInTheFiles stores a text of its own in every place and looks for it in all files of the database,
// while it is open, and in a backup. A field that is added to what a store keeps is filled, too.
func TestNothingSaidIsInTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := openAs(t, path, sqlite.Options{Key: key(t, "01").Secret})
	evidence, err := tell(t.Context(), db, "one")
	must(t, err)
	if got := found(t, path, evidence); len(got) > 0 {
		t.Errorf("in the files of an encrypted database: %q", got)
	}
	backup := path + ".backup"
	must(t, db.Backup(t.Context(), backup))
	if got := found(t, backup, evidence); len(got) > 0 {
		t.Errorf("in a backup of it: %q", got)
	}
	must(t, db.Close())
	if got := found(t, path, evidence); len(got) > 0 {
		t.Errorf("in the file when it is closed: %q", got)
	}
}

// TestWhatIsSaidIsInAClearFile guards the test above: the same search finds nearly everything in a database that is
// not encrypted, where only hashes of what is no content are missing.
func TestWhatIsSaidIsInAClearFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	evidence, err := tell(t.Context(), open(t, path), "one")
	must(t, err)
	got := found(t, path, evidence)
	for what := range evidence {
		if !slices.Contains(got, what) && !strings.HasPrefix(what, "hash of") {
			t.Errorf("%s is not in a database that is not encrypted", what)
		}
	}
	if !slices.Contains(got, "hash of block") {
		t.Error("not even the hash of a block is in it")
	}
}

// TestEveryColumnIsDecided guards that nobody adds a column without a word on how it is kept when the database is
// encrypted, and that docs/SECURITY.md names those that stay in clear.
func TestEveryColumnIsDecided(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	rest, clear := sqlite.Tables()
	all := db.Row(t, `SELECT group_concat(t.name || '.' || c.name, ' ') FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT LIKE 'search\_text%' ESCAPE '\'`, 1)
	for _, c := range strings.Fields(all) {
		if !rest[c] {
			t.Errorf("columns.go does not say how %s is kept in an encrypted database", c)
		}
		delete(rest, c)
	}
	for c := range rest {
		t.Errorf("columns.go names %s, which there is not", c)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "SECURITY.md"))
	must(t, err)
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z0-9_, ]+) \\|").FindAllStringSubmatch(string(page), -1) {
		for c := range strings.SplitSeq(m[2], ", ") {
			documented = append(documented, m[1]+"."+c)
		}
	}
	slices.Sort(documented)
	for _, c := range clear {
		if !slices.Contains(documented, c) {
			t.Errorf("docs/SECURITY.md does not name %s, which is kept in clear", c)
		}
	}
	for _, c := range documented {
		if !slices.Contains(clear, c) {
			t.Errorf("docs/SECURITY.md names %s as in clear, which it is not", c)
		}
	}
}

// TestTheIndexOfWordsIsEmpty guards that no word of an encrypted database is indexed in the file.
func TestTheIndexOfWordsIsEmpty(t *testing.T) {
	db := openAs(t, filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{Key: key(t, "01").Secret})
	_, err := tell(t.Context(), db, "one")
	must(t, err)
	if got := db.Row(t, "SELECT count(*) || ' ' || (SELECT count(*) FROM search_docs) FROM search_text_docsize", 1); got != "0 2" {
		t.Errorf("texts with words in the index, and texts that are listed: %s, want 0 2", got)
	}
}
