package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/token"
)

// setup returns a setup whose upstream answers, on a database that does not exist yet.
func setup(t *testing.T, env, flags map[string]string) *Setup {
	t.Helper()
	api := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(api.Close)
	all := map[string]string{"anthropic_upstream": api.URL}
	for k, v := range flags {
		all[k] = v
	}
	cfg, err := config.Load(config.Sources{Flags: all})
	if err != nil {
		t.Fatal(err)
	}
	out, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: cfg.Destinations()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdleConnections)
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "decant.db")
	return &Setup{
		Catalog: catalog,
		Config:  cfg, Outbound: out, Env: func(name string) string { return env[name] }, Now: time.Now,
		Database: Database{
			Path: path, Open: func(ctx context.Context) (Store, error) { return sqlite.Open(ctx, path, sqlite.Options{}) },
			Tenants: func(ctx context.Context, db store.Directory) ([]string, error) { return db.Tenants(ctx) },
		},
	}
}

// about returns the first finding about something.
func about(t *testing.T, fs []Finding, what string) Finding {
	t.Helper()
	for _, f := range fs {
		if f.About == what {
			return f
		}
	}
	t.Fatalf("nothing is said about %s: %v", what, fs)
	return Finding{}
}

func TestExamine(t *testing.T) {
	for _, c := range []struct {
		name       string
		env, flags map[string]string
		change     func(*Setup)
		about      string
		verdict    Verdict
		text       string
	}{
		{"Upstream", nil, nil, nil, "upstream", "ok", "answers after"},
		{"NoUpstream", nil, map[string]string{"anthropic_upstream": "http://127.0.0.1:1"}, nil, "upstream", "FAIL", "HTTPS_PROXY"},
		{"NoDatabaseYet", nil, nil, nil, "store", "ok", "can be made"},
		{"NoPath", nil, nil, func(s *Setup) { s.Database.Err = errors.New("no home") }, "store", "FAIL", "no home"},
		{"NoKeys", nil, nil, nil, "keys", "ok", "only loopback"},
		{"OpenToAll", nil, map[string]string{"listen": "0.0.0.0:4141"}, nil, "keys", "FAIL", "no keys are configured"},
		{"NoVariable", nil, nil, nil, "clients", "note", "ANTHROPIC_BASE_URL is not set"},
		{"WrongPath", map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:4141/v1"}, nil, nil, "clients", "FAIL", "append /v1 themselves"},
		{"Elsewhere", map[string]string{"ANTHROPIC_BASE_URL": "https://elsewhere.example"}, nil, nil, "clients", "warn", "is not this gateway"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := setup(t, c.env, c.flags)
			if c.change != nil {
				c.change(s)
			}
			if f := about(t, Examine(t.Context(), s), c.about); f.Verdict != c.verdict || !strings.Contains(f.Text, c.text) {
				t.Errorf("%+v; want %s with %q", f, c.verdict, c.text)
			}
		})
	}
}

// A database that is there is counted, if it is clear whose conversations are meant.
func TestExamineDatabase(t *testing.T) {
	s := setup(t, nil, nil)
	db, err := s.Database.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	if f := about(t, Examine(t.Context(), s), "store"); f.Verdict != "ok" || !strings.Contains(f.Text, "can be read and written") {
		t.Errorf("%+v", f)
	}
	s.Database.Tenants = func(context.Context, store.Directory) ([]string, error) {
		return nil, Choice{Err: errors.New("say whose")}
	}
	if f := about(t, Examine(t.Context(), s), "store"); f.Verdict != "note" || f.Text != "say whose" {
		t.Errorf("%+v; want a note", f)
	}
}

// A model that clients have used lately and that retires soon is warned of, once.
func TestModelsThatRetire(t *testing.T) {
	s := setup(t, nil, nil)
	s.Now = func() time.Time { return time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC) }
	db, err := sqlite.Open(t.Context(), s.Database.Path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, model := range map[string]string{"a": "claude-sonnet-4-5", "b": "claude-sonnet-4-5-20250929", "c": "claude-opus-5-5"} {
		h := decant.HashText(id)
		if _, err := db.Commit(t.Context(), &store.Batch{Key: store.Key{ID: id}, Create: &store.Creation{}, Head: &store.Head{Model: model}, Time: s.Now(), Blobs: [][]byte{[]byte(id)},
			Hashes: []decant.Hash{h}, Entries: []store.Entry{{Chain: h, Raw: h, Text: h, Role: decant.RoleUser, Kind: decant.KindText, Ref: decant.Ref{Message: 1}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range Examine(t.Context(), s) {
		if f.About == "model" && f.Verdict == "warn" && strings.Contains(f.Text, "claude-sonnet-4-5 retires on 2026-11-30") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d warnings of one model", found)
	}
	s.Now = func() time.Time { return time.Date(2027, 9, 26, 0, 0, 0, 0, time.UTC) }
	if !slices.ContainsFunc(Examine(t.Context(), s), func(f Finding) bool {
		return f.About == "model" && strings.HasPrefix(f.Text, "the prices of claude-opus-5-5 were last verified on 2026-11-26")
	}) {
		t.Error("nothing is said of old prices")
	}
}

// The model that writes records is examined where one is configured; that it cannot be asked breaks nothing.
func TestTheModelThatWritesRecords(t *testing.T) {
	local := map[string]string{"summary_provider": "openai", "summary_model": "m", "summary_base_url": "http://127.0.0.1:1/v1"}
	for _, tt := range []struct {
		flags         map[string]string
		err           error
		verdict, text string
	}{
		{local, nil, "ok", "m at http://127.0.0.1:1/v1 writes records"},
		{local, errors.New("no such model"), "warn", "no such model; until it can be asked, records are extractive"},
		{map[string]string{"use_client_credential": "true"}, nil, "note", "in memory only"},
	} {
		s := setup(t, nil, tt.flags)
		s.Summary = func(context.Context) (string, error) { return "m", tt.err }
		if f := about(t, Examine(t.Context(), s), "summary"); string(f.Verdict) != tt.verdict || !strings.Contains(f.Text, tt.text) {
			t.Errorf("%+v", f)
		}
	}
	for _, f := range Examine(t.Context(), setup(t, nil, nil)) {
		if f.About == "summary" {
			t.Errorf("without a model: %+v", f)
		}
	}
}
