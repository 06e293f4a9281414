package main

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/token"
)

// A modelLog is a way to a provider that notes which models are asked, and refuses.
type modelLog struct {
	mu       sync.Mutex
	asked    []string
	accepted func(k store.Key, upstream string, h http.Header) // is told of requests, nil: nobody is
}

func (l *modelLog) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		var named struct {
			Model string `json:"model"`
		}
		_ = json.Unmarshal(body, &named)
		l.mu.Lock()
		l.asked = append(l.asked, named.Model)
		l.mu.Unlock()
	}
	return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`)), Request: r}, nil
}

// first returns the model that was asked first, "none" for none.
func (l *modelLog) first() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.asked, []string{"none"})[0]
}

// writers are the places where it is decided who writes records. Each returns an engine whose calls go over a log.
var writers = map[string]func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine{
	"chat": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return chatting(t, db, l, e, "claude-opus-4-5", "ANTHROPIC_API_KEY=key")
	},
	"chat over Chat Completions": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return chatting(t, db, l, e, "gpt-5", "OPENAI_API_KEY=key")
	},
	"chat at another address": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return chatting(t, db, l, e, "qwen3:32b", "OPENAI_API_KEY=key", "OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	},
	"gateway": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return serving(t, db, l, e, config.Summary{Provider: "anthropic", KeyEnv: "KEY", Key: "key"})
	},
	"gateway with a model of its own": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return serving(t, db, l, e, config.Summary{Provider: "anthropic", KeyEnv: "KEY", Key: "key", Model: "claude-sonnet-4-5"})
	},
	"gateway with the client's credential": func(t *testing.T, db store.Store, l *modelLog, e engine.Options) *engine.Engine {
		return serving(t, db, l, e, config.Summary{Provider: "anthropic", Client: true})
	},
}

// chatting returns the engine of a chat with a model, in an environment.
func chatting(t *testing.T, db store.Store, l *modelLog, e engine.Options, model string, environ ...string) *engine.Engine {
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	o := &chat.Options{Catalog: catalog, Project: &project.Project{Settings: project.Settings{Model: model}}}
	if err := chatcmd.TalkTo(&process.Process{Environ: environ}, o, l); err != nil {
		t.Fatal(err)
	}
	d, err := embedded.New(db, &embedded.Options{Account: o.Account, Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	return d.Engine()
}

// serving returns the engine of a gateway that has heard of the conversation's client.
func serving(t *testing.T, db store.Store, l *modelLog, e engine.Options, s config.Summary) *engine.Engine {
	own, err := setup.NewOwnCalls(&config.Config{Summary: s}, l, e.Preset, slog.New(slog.DiscardHandler))
	if err == nil {
		err = own.Into(&e, db)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.accepted = own.Accepted()
	d, err := engine.New(db, e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The model that a preset or an agent names writes the records, wherever they are written, but for a gateway that has a model
// of its own. Where none is named it is the cheapest of the provider, or the only one of a server that may have no other.
func TestTheModelThatIsNamedWritesTheRecord(t *testing.T) {
	for place, want := range map[string]map[string]string{
		"chat":                                 {"claude-haiku-4-5-20251001": "claude-haiku-4-5-20251001", "sonnet": "sonnet", "": "haiku", "off": "none"},
		"chat over Chat Completions":           {"gpt-5-nano": "gpt-5-nano", "": "gpt-6-luna", "claude-haiku-4-5": "gpt-6-luna", "off": "none"},
		"chat at another address":              {"qwen3:8b": "qwen3:8b", "": "qwen3:32b", "claude-haiku-4-5": "qwen3:32b", "off": "none"},
		"gateway":                              {"claude-haiku-4-5-20251001": "claude-haiku-4-5-20251001", "": "haiku", "off": "none"},
		"gateway with a model of its own":      {"claude-haiku-4-5-20251001": "claude-sonnet-4-5", "": "claude-sonnet-4-5", "off": "none"},
		"gateway with the client's credential": {"claude-haiku-4-5-20251001": "claude-haiku-4-5-20251001", "": "haiku", "off": "none"},
	} {
		for named, want := range want {
			t.Run(place+"/"+named, func(t *testing.T) {
				l := &modelLog{}
				if got := askedForARecord(t, place, named, l); !strings.Contains(got, want) {
					t.Errorf("%q was asked, want %q", got, want)
				}
			})
		}
	}
}

// askedForARecord returns the model that is asked when a conversation is poured, "none" for none.
func askedForARecord(t *testing.T, place, named string, l *modelLog) string {
	p, err := preset.Parse("test", fmt.Appendf(nil, "name: test\nbase: default\nsummary: {model: %q, ahead: off}\n", named))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "d.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := writers[place](t, db, l, engine.Options{Preset: p, Window: 10_000, NoEarlyPours: true, Timeouts: sandboxtest.Patient})
	defer e.Close()
	model := "claude-opus-4-5"
	if strings.HasPrefix(place, "chat ") {
		model = "qwen3:32b"
		if place == "chat over Chat Completions" {
			model = "gpt-5"
		}
	}
	var ms []string
	for n := range 60 {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Question %d: what is in part_%d of the plan? %s"}`, n, n, strings.Repeat("Say how it goes on from there. ", 100)))
		body := fmt.Appendf(nil, `{"model":%q,"max_tokens":100,"messages":[%s]}`, model, strings.Join(ms, ","))
		prepared, err := e.Prepare(t.Context(), &engine.Request{Session: "s", Body: body, Upstream: "https://api.anthropic.com"})
		if err != nil || prepared.Fault != nil {
			t.Fatal(err, prepared.Fault)
		}
		if prepared.Report.Reason != "" {
			break
		}
		if l.accepted != nil {
			l.accepted(store.Key{ID: prepared.Conversation}, "https://api.anthropic.com", http.Header{"X-Api-Key": {"key"}})
		}
		e.Finish(prepared, engine.Response{Status: 200, Usage: decant.Usage{Input: len(body) / 4, Output: 20}})
		ms = append(ms, fmt.Sprintf(`{"role":"assistant","content":"Part %d is as it was agreed, see part_%d.md."}`, n, n))
	}
	return l.first()
}

// Every place that makes a summariser, or an account that one asks, is one of those above.
func TestWhereRecordsAreWritten(t *testing.T) {
	known := []string{"summarize.New internal/setup/owncalls.go", "summarize.New embedded/models.go",
		"provider.Account{ apps/chat/chatcmd/model.go", "provider.Account{ cmd/decant/standin.go", "provider.Account{ internal/setup/owncalls.go", "provider.Account{ cmd/decant/triagesandbox.go"}
	var found []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(rel, "internal/summarize") || strings.HasPrefix(rel, "internal/owncalls") || strings.HasPrefix(rel, "scripts") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, what := range []string{"summarize.New", "provider.Account{"} {
			if strings.Contains(string(text), what) {
				found = append(found, what+" "+filepath.ToSlash(rel))
			}
		}
		return err
	})
	slices.Sort(found)
	slices.Sort(known)
	if err != nil || !slices.Equal(found, known) {
		t.Errorf("%v: records are written in\n%s\nwant\n%s", err, strings.Join(found, "\n"), strings.Join(known, "\n"))
	}
}
