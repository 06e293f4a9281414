package sqlite_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
)

// report makes a conversation with one long text, which is stored compressed and over several pages.
func report(t *testing.T, db *sqlite.Database, id, text string) {
	t.Helper()
	h := decant.HashText(text)
	_, err := db.Commit(t.Context(), &store.Batch{
		Key: store.Key{ID: id}, Create: &store.Creation{Session: "session of " + id}, Blobs: [][]byte{[]byte(text)},
		Entries: []store.Entry{{Chain: decant.HashText(id), Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: 1}}},
	})
	must(t, err)
}

// listing is a text of many lines, some of which no other seed gives.
func listing(seed uint64) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 2000 {
		fmt.Fprintf(&b, "line %d of the listing says that build%016xok has ended well\n", i, r.Uint64())
	}
	return b.String()
}

func forgetting(t *testing.T, db *sqlite.Database, id string) *store.Proof {
	t.Helper()
	c, err := db.Forget(t.Context(), store.Forgetting{Conversations: []string{id}})
	must(t, err)
	return c.Proof
}

// What was removed and could still be read in the files is found: rows in free pages, compressed as they stood there,
// and words in the index.
func TestTheProofFindsWhatWasNotCleaned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	report(t, db, "stays", listing(1))
	report(t, db, "goes", listing(2))
	_, err := db.Index(t.Context(), 0)
	must(t, err)
	p, err := db.ForgetUncleaned(t.Context(), "goes")
	must(t, err)
	if p.Pieces < 10 || p.Left < p.Pieces/2 || !slices.Contains(p.Where, path) && !slices.Contains(p.Where, path+"-wal") {
		t.Errorf("nothing was cleaned, and the proof says %+v", p)
	}
}

func TestTheProofOfWhatIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decant.db")
	db := open(t, path)
	common := listing(1)
	report(t, db, "stays", common+"this is how the one ends")
	report(t, db, "goes", common+listing(2))
	_, err := db.Index(t.Context(), 0)
	must(t, err)
	p := forgetting(t, db, "goes")
	fi, err := os.Stat(path)
	must(t, err)
	if p.Left != 0 || p.Pieces < 10 || p.Bytes < fi.Size() {
		t.Errorf("the proof says %+v of a file of %d bytes", p, fi.Size())
	}
}

// A piece that is planted by hand where cleaning does not reach makes the proof fail.
func TestTheProofFindsWhatIsPlanted(t *testing.T) {
	text := listing(3)
	for name, plant := range map[string]func(*testing.T, *sqlite.Database){
		"InTheAuditLog": func(t *testing.T, db *sqlite.Database) {
			must(t, db.Audit(t.Context(), store.Act{Action: "planted", Detail: text}))
		},
		"InATable": func(t *testing.T, db *sqlite.Database) {
			must(t, db.Exec(t.Context(), "CREATE TABLE planted AS SELECT data FROM packs"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "decant.db")
			db := open(t, path)
			report(t, db, "goes", text)
			plant(t, db)
			if p := forgetting(t, db, "goes"); p.Left == 0 || len(p.Where) == 0 {
				t.Errorf("the proof says %+v", p)
			}
		})
	}
}

// What is also in what stays is no sign of what went.
func TestTheProofKnowsWhatStays(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "decant.db"))
	text := listing(4)
	report(t, db, "stays", "x"+strings.ToUpper(text)+text)
	report(t, db, "goes", text)
	if p := forgetting(t, db, "goes"); p.Left != 0 {
		t.Errorf("the proof says %+v", p)
	}
}

func TestFind(t *testing.T) {
	data := make([]byte, 3<<20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	var list []string
	for _, at := range []int{0, 1<<20 - 16, 1<<20 - 8, 1<<20 - 1, 1 << 20, 2<<20 - 20, len(data) - 16} {
		list = append(list, string(data[at:at+16]), string(data[at:at+8]))
	}
	for name, src := range map[string]io.Reader{"Whole": bytes.NewReader(data), "Halves": iotest.HalfReader(bytes.NewReader(data))} {
		found, n, err := sqlite.Find(src, append(list, "not to be found!", "nor this")...)
		if err != nil || n != int64(len(data)) || !slices.Equal(found, list) {
			t.Errorf("%s: found %d of %d in %d bytes, %v", name, len(found), len(list), n, err)
		}
	}
}
