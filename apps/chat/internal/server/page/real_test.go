package page_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat/internal/server"
	"github.com/decantdev/decant/apps/chat/internal/server/page"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// A model asks for a call where it hears "approve", and says what it heard otherwise.
type model struct{}

func (model) Answer(_ context.Context, p *sandbox.Prompt) (sandbox.Answer, error) {
	var heard []string
	called := false
	for _, b := range p.Messages[len(p.Messages)-1].Blocks {
		heard = append(heard, b.Text)
		called = called || b.Kind == decant.KindResult
	}
	last := strings.Join(heard, " ")
	if strings.Contains(last, "approve") && !called {
		return sandbox.Answer{Blocks: []sandbox.Block{
			{Kind: decant.KindText, Text: "I want to write."},
			{Kind: decant.KindUse, ID: fmt.Sprint("toolu_", len(p.Messages)), Name: "write", Input: []byte(`{"path":"a.txt"}`)},
		}}, nil
	}
	if strings.HasPrefix(last, "look") {
		return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindUse, ID: fmt.Sprint("toolu_", len(p.Messages)), Name: "search", Input: []byte(`{}`)}}}, nil
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: "I heard: " + last[:min(len(last), 60)]}}}, nil
}

// writes is a tool that somebody must allow.
var writes = agent.Tool{
	Name: "write", Description: "Writes a file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`), Ask: true,
	Preview: func(context.Context, *agent.Call) (string, error) { return "-old\n+new", nil },
	Run: func(_ context.Context, c *agent.Call) (agent.Result, error) {
		return agent.Result{Text: "written: " + string(c.Arguments)}, nil
	},
}

// searches is a tool that returns much.
var searches = agent.Tool{Name: "search", ReadOnly: true, Run: func(context.Context, *agent.Call) (agent.Result, error) {
	return agent.Result{Text: strings.Repeat("mail about contract 7000\n", 1200)}, nil
}}

// begin begins the service on a file and returns what answers its requests, and what ends it.
func begin(t *testing.T, file string, m sandbox.Model) (http.Handler, func()) {
	t.Helper()
	server := sandbox.New(sandbox.Options{Model: m, Chunk: 8})
	client := sandboxtest.Client(t, server)
	db, err := embedded.Open(t.Context(), file, &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		t.Fatal(err)
	}
	service, err := chatserver.New(chatserver.Options{
		Store: db.Store(), Engine: db.Engine(), Client: client, Page: page.Handler(),
		Default: chatserver.Agent{Name: "default", Model: "claude-sonnet-4-5", Tools: []string{"write", "search", "save_memory", "recall", "forget"}, Preset: "coding-session", Config: jsontext.Value(`{"context_window":60000}`)},
		Tools:   func(string) ([]agent.Tool, error) { return []agent.Tool{writes, searches}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := errors.Join(service.Close(ctx), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// The page and the service that it is made for, with a real engine on a real file: what was said, allowed and poured is there after a restart.
func TestThePageBeforeTheRealService(t *testing.T) {
	inBrowser(t, func(b *browser) {
		file := filepath.Join(t.TempDir(), "chat.db")
		service, end := begin(t, file, model{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { service.ServeHTTP(w, r) }))
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
			end()
		})
		p := b.tab(t, srv.URL, 1280, "light")
		p.quiet = []string{"ERR_", "Failed to load resource"} // while the service is away
		p.until("document.querySelector('.welcome')")
		p.say("please approve")
		p.until("document.querySelector('.approval .diff .add')")
		p.press("Allow")
		p.shows(`written: {"path":"a.txt"}`)
		p.idle()
		p.press("Regenerate")
		p.until("document.querySelector('.approval')")
		p.press("Deny…")
		p.press("Deny")
		p.until("document.querySelector('.call.bad .state')?.textContent === 'denied'")
		p.idle()
		for i := 0; i < 20 && !eval[bool](p, "document.querySelector('#talk .pour') !== null"); i++ {
			p.say(fmt.Sprint("look ", i))
			p.until(fmt.Sprintf("document.querySelectorAll('article.user').length === %d", i+2))
			p.idle()
		}
		p.until("document.querySelector('#talk .pour .record')")
		p.click("#gauge")
		p.until("document.getElementById('panel').innerText.includes('Pour 1')")
		p.picture("poured")

		srv.CloseClientConnections()
		end()
		service, end = begin(t, file, model{})
		p.do(chromedp.Reload())
		p.shows("I heard: mail about contract")
		p.until("document.querySelector('#talk .pour')")
		p.press("Undo")
		p.until("!document.querySelector('#talk .pour')")
		p.say("and after the restart")
		p.shows("I heard: and after the restart")
		p.idle()
		p.press("Why?")
		p.until("document.querySelector('.why li')")
		eval[any](p, "document.querySelector('.why summary').click()")
		p.shows(", you; sent word for word")
		p.picture("why")
	})
}
