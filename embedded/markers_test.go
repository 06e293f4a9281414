package embedded_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/cost"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/token"
)

// grow sends twenty requests, each of which holds all earlier ones, and returns what the provider has counted. marker
// is what the program sets at the end of each. With same, each request must leave in the bytes that the program sent.
func grow(t *testing.T, o embedded.Options, marker string, same bool) (u decant.Usage) {
	t.Helper()
	o.Engine.Timeouts, o.Engine.NoEarlyPours, o.Engine.Window = sandboxtest.Patient, true, 400_000
	up := sandbox.New(sandbox.Options{})
	api := httptest.NewServer(up)
	defer api.Close()
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), &o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ms []string
	for n := range 20 {
		words := strings.Repeat(fmt.Sprintf("the words of note %d. ", n), 200)
		last := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q%s}]}`, words, marker)
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[` +
			strings.Join(append(ms, last), ",") + `]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
		res, err := db.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		got := up.Log.Last()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("request %d: status %d, %v: %s", n+1, res.StatusCode, err, got.Error)
		}
		if same && string(got.Body) != body {
			t.Errorf("request %d left with other bytes", n+1)
		}
		u = u.Add(got.Usage)
		ms = append(ms, strings.ReplaceAll(last, marker+"}", "}"), `{"role":"assistant","content":"Noted."}`)
	}
	return u
}

// dollars returns what usage costs.
func dollars(t *testing.T, u decant.Usage) float64 {
	t.Helper()
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := catalog.Lookup("claude-sonnet-4-5")
	usd, _ := cost.Of(m, u, cost.Terms{At: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}).Total()
	return usd
}

// TestProgramsWithoutMarkersReadFromTheCache guards that a program that knows nothing of prompt caching pays about what
// one pays that marks each request, and less than half of what it would pay without Decant.
func TestProgramsWithoutMarkersReadFromTheCache(t *testing.T) {
	plain := dollars(t, grow(t, embedded.Options{NoMarkers: true}, "", true))
	added := dollars(t, grow(t, embedded.Options{}, "", false))
	own := dollars(t, grow(t, embedded.Options{}, `,"cache_control":{"type":"ephemeral"}`, true))
	t.Logf("$%.4f without markers, $%.4f with added ones, $%.4f with its own", plain, added, own)
	if added > plain/2 || added > 1.1*own {
		t.Errorf("with added markers it pays $%.4f, without $%.4f, with its own $%.4f", added, plain, own)
	}
}

// TestOptionsOfTheEngineAddNoMarkers guards that one option decides whether markers are added.
func TestOptionsOfTheEngineAddNoMarkers(t *testing.T) {
	grow(t, embedded.Options{NoMarkers: true, Engine: engine.Options{Adds: engine.Adds{Markers: true}}}, "", true)
}
