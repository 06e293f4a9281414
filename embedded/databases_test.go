package embedded_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/enginetest"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/seal"
)

// databases holds what earlier versions have written, see its README.
const databases = "../testdata/databases/"

// databaseWindow is a larger window than the databases were made with, so that no pour is due: what is sent follows from
// what was decided then.
const databaseWindow = 20_000

// TestGoesOnWithDatabasesOfAllForms opens what each form of the database was when it was new: it is brought up to date,
// nothing is wrong with it, its pours are known, and the next request of each conversation leaves as that version has
// sent it.
func TestGoesOnWithDatabasesOfAllForms(t *testing.T) {
	files, err := filepath.Glob(databases + "form*.db.gz")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d databases, %v", len(files), err)
	}
	requests := readBodies(t, "requests.json.gz")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".db.gz")
		t.Run(name, func(t *testing.T) {
			w := newWitness(t, name)
			w.sound(t)
			for conversation, request := range requests.Bodies {
				got, want := w.send(t, conversation, request), w.sent.Bodies[conversation]
				if n := common(got, want); n < len(got) || n < len(want) {
					t.Errorf("%s: sent %d bytes, that version %d; from byte %d on:\n%.300s\nthat version:\n%.300s", conversation, len(got), len(want), n, got[n:], want[n:])
				}
			}
		})
	}
}

// TestEveryFormHasADatabase guards that a change of the form brings a database with it.
func TestEveryFormHasADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	d, err := embedded.Open(t.Context(), path, &embedded.Options{Engine: engine.Options{Timeouts: enginetest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var form int
	if err := db.QueryRowContext(t.Context(), "SELECT max(version_id) FROM goose_db_version").Scan(&form); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("%sform%d.db.gz", databases, form)); err != nil {
		t.Errorf("the database has form %d: testdata/databases/README.md says how one of it is made: %v", form, err)
	}
}

// A witness is a copy of a database, opened by a program at the time when its next requests were sent, with a provider
// behind it that remembers what it gets.
type witness struct {
	decant *embedded.DB
	sent   bodies // by the version that wrote it
	api    *httptest.Server
	came   []byte // the newest request at the provider
}

// bodies are requests, by conversation.
type bodies struct {
	Time   time.Time
	Bodies map[string]string
}

func newWitness(t *testing.T, name string) *witness {
	w := &witness{sent: readBodies(t, name+".json.gz")}
	path := filepath.Join(t.TempDir(), "decant.db")
	if err := os.WriteFile(path, unpacked(t, name+".db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := embedded.Options{Engine: engine.Options{
		Window: databaseWindow, NoEarlyPours: true, Now: func() time.Time { return w.sent.Time }, Timeouts: enginetest.Patient,
	}}
	var err error
	if strings.HasSuffix(name, "-encrypted") {
		if o.Store.Key, err = seal.ParseKey(strings.Repeat("01", seal.KeySize)); err != nil {
			t.Fatal(err)
		}
	}
	if w.decant, err = embedded.Open(t.Context(), path, &o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.decant.Close() })
	provider := sandbox.New(sandbox.Options{Window: databaseWindow})
	w.api = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.came, _ = io.ReadAll(r.Body) // what is missing the sandbox refuses
		r.Body = io.NopCloser(bytes.NewReader(w.came))
		provider.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.api.Close)
	return w
}

// sound checks the database, and that each of its conversations has pours.
func (w *witness) sound(t *testing.T) {
	t.Helper()
	if problems, err := w.decant.Store().Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %q, %v", problems, err)
	}
	cs, err := w.decant.Store().Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 4 {
		t.Fatalf("%d conversations, %v", len(cs), err)
	}
	for i := range cs {
		s, err := w.decant.Store().Load(t.Context(), cs[i].Key, store.Newest)
		if err != nil {
			t.Fatal(err)
		}
		pours := map[string]bool{}
		for _, d := range s.Decisions {
			if pours[d.Pour] = true; d.Pour != "" && !strings.HasPrefix(d.ID, d.Pour+".") {
				t.Errorf("decision %s is said to be part of pour %s", d.ID, d.Pour)
			}
		}
		if delete(pours, ""); len(pours) == 0 {
			t.Errorf("no decision of %s is part of a pour", s.Session)
		}
	}
}

// send sends the request of a conversation and returns what the provider got. A fork has the session of what it left.
func (w *witness) send(t *testing.T, conversation, body string) string {
	t.Helper()
	session := conversation
	if conversation == "forked" {
		session = "poured"
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.api.URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "X-Api-Key": "none", "X-Decant-Session": session,
	} {
		r.Header.Set(name, value)
	}
	res, err := w.decant.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", res.StatusCode, err, answer)
	}
	return string(w.came)
}

// readBodies reads requests from a file of databases.
func readBodies(t *testing.T, name string) (b bodies) {
	t.Helper()
	if err := json.Unmarshal(unpacked(t, name), &b); err != nil || len(b.Bodies) != 4 {
		t.Fatalf("%s: %d requests, %v", name, len(b.Bodies), err)
	}
	return b
}

// unpacked returns the content of a file of databases.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(databases + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// common returns how many bytes two texts have in common at their beginning.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
