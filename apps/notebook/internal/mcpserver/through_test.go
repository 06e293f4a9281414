package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/apps/notebook/internal/mcpserver"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/lookup"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/token"
)

// named are the handles that a model is told: in a stub behind the name of the tool; a record begins with the messages that it is of.
var named = regexp.MustCompile(`(?:mcp__decant__expand |\[Decant record of )(d:[0-9a-f]+|m\d+-m\d+)`)

// A forgetful model works, and has back what the first stubs and each record stand for, once.
type forgetful struct {
	mu   sync.Mutex
	told map[string]bool
}

func (f *forgetful) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range p.Messages {
		for _, b := range p.Messages[i].Blocks {
			for _, m := range named.FindAllStringSubmatch(b.Text, -1) {
				if h := m[1]; !f.told[h] && (h[0] == 'm' || len(f.told) < 6) {
					f.told[h] = true
					return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "mcp__decant__expand", Input: []byte(`{"handle":"` + h + `"}`)}}}, nil
				}
			}
		}
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, Name: "Bash", Input: fmt.Appendf(nil, `{"command":"make step-%d"}`, p.Answers())}}}, nil
}

// Where the tools of a request hold Decant's expand, the stubs and records that the gateway pours name their handles; the model calls expand with
// one, the server of the same store gives the original back to the byte, and the ledger counts what was fetched again.
func TestAModelFetchesWhatWasPoured(t *testing.T) {
	const window = 12_000
	db, e, client := through(t, window)
	mine, theirs := sdk.NewInMemoryTransports()
	go mcpserver.New(mcpserver.Options{Scope: scope, Version: "1", Open: func(context.Context) (mcpserver.Store, string, error) { return db, "", nil }}).Run(t.Context(), theirs)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), mine, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	var originals []string   // what tools have returned
	back := map[string]int{} // how much came back, by the letter that its handle begins with
	expand := func(handle string) string {
		if err := e.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		texts, failed := ask(t, c, "expand", map[string]any{"handle": handle})
		if failed {
			t.Fatalf("expand %s: %q", handle, texts)
		}
		whole := func(o string) bool { // one text is that of a result; that of a record has many
			return texts[0] == o || handle[0] == 'm' && strings.Contains(texts[0], o)
		}
		if !slices.ContainsFunc(originals, whole) {
			t.Errorf("expand %s: no result is, or is in, %.200q", handle, texts[0])
		}
		back[handle[:1]]++
		originals = append(originals, strings.Join(texts, "\n"))
		return originals[len(originals)-1]
	}
	p := params()
	for n := range 40 {
		m, err := client.Messages.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.Messages = append(p.Messages, m.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, b := range m.Content {
			use, ok := b.AsAny().(anthropic.ToolUseBlock)
			switch {
			case !ok:
			case use.Name == "Bash":
				originals = append(originals, strings.Repeat(fmt.Sprintf("step %d of the build took %d ms\n", n, 37*n%101), 80))
				results = append(results, anthropic.NewToolResultBlock(use.ID, originals[len(originals)-1], false))
			default:
				results = append(results, anthropic.NewToolResultBlock(use.ID, expand(handle(t, use.Input)), false))
			}
		}
		p.Messages = append(p.Messages, anthropic.NewUserMessage(results...))
	}
	e.Close()
	if back["d"] == 0 || back["m"] == 0 {
		t.Errorf("came back: %d results by the handles of stubs, %d messages by those of records", back["d"], back["m"])
	}
	if again := fetchedAgain(t, db); again < back["d"]+back["m"]-1 { // what came last was not sent yet
		t.Errorf("the ledger counts %d that were fetched again, %v were", again, back)
	}
}

// through returns a gateway's store, its engine and the official client on it.
func through(t *testing.T, window int) (store.Store, *engine.Engine, anthropic.Client) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	e, err := engine.New(db, engine.Options{Window: window, Timeouts: sandboxtest.Patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	up := httptest.NewServer(sandbox.New(sandbox.Options{Window: window, Model: &forgetful{told: map[string]bool{}}}))
	t.Cleanup(up.Close)
	at, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	out, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: []*url.URL{at}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Engine: e, Outbound: out, Upstream: at})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(g)
	t.Cleanup(func() { web.Close(); out.CloseIdleConnections() })
	return db, e, anthropic.NewClient(option.WithBaseURL(web.URL), option.WithAPIKey("sk-ant-secret"), option.WithMaxRetries(0))
}

// params returns the first request of an agent that has Decant's expand.
func params() anthropic.MessageNewParams {
	tool := func(name, argument string) anthropic.ToolUnionParam {
		return anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: name, InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{argument: map[string]any{"type": "string"}}}}}
	}
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 2000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Build it, step by step."))},
		Tools: []anthropic.ToolUnionParam{tool("Bash", "command"), tool("mcp__decant__expand", "handle")},
	}
}

// fetchedAgain returns how many originals the ledger says were fetched again.
func fetchedAgain(t *testing.T, db store.Store) int {
	t.Helper()
	found, err := db.Conversations(t.Context(), store.Filter{})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d conversations, %v", len(found), err)
	}
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	l := lookup.NewLedger(db, lookup.LedgerOptions{Catalog: catalog})
	if err := l.Add(t.Context(), "", found); err != nil {
		t.Fatal(err)
	}
	return l.Report().ReadAgain
}

// handle returns the handle that a call of expand has.
func handle(t *testing.T, input []byte) string {
	t.Helper()
	var in struct{ Handle string }
	if err := json.Unmarshal(input, &in); err != nil {
		t.Fatal(err)
	}
	return in.Handle
}
