package main

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/recorded"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/transport"
)

// filling is how a database is filled: what of which session is played, and for whom.
type filling struct {
	file                                  string
	window, from, most                    int
	session, project, model, tenant, mode string
	early, stubs                          bool
}

// fill is a command for scripts: it plays a recorded session through Decant against the sandbox, so
// that a database has something in it. A new database that is filled as another one was is a copy of that.
//
//	fill [-window N] [-from N] [-requests N] [-session ID] [-project NAME] [-tenant NAME] [-model ID] [-mode MODE] [-early] [-stubs] DB FILE
func (h *here) fill(flags *flag.FlagSet, args []string, file func(string) string, messages io.Writer) error {
	var f filling
	flags.IntVar(&f.window, "window", 40_000, "tokens")
	flags.IntVar(&f.from, "from", 0, "requests to leave out at the beginning")
	flags.IntVar(&f.most, "requests", 1000, "the last one to make, counted from 1")
	flags.StringVar(&f.session, "session", "", "id")
	flags.StringVar(&f.project, "project", "", "name")
	flags.StringVar(&f.model, "model", "claude-sonnet-4-5", "id")
	flags.StringVar(&f.tenant, "tenant", "", "name")
	flags.StringVar(&f.mode, "mode", "manage", "of the engine")
	flags.BoolVar(&f.early, "early", false, "early pours")
	flags.BoolVar(&f.stubs, "stubs", false, "old results become stubs, whether or not a checkpoint would do")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db := file(flags.Arg(0))
	f.file = file(flags.Arg(1))
	if _, err := os.Stat(db); err == nil {
		return h.play(&f, db, messages)
	}
	h.mu.Lock()
	data := h.filled[f]
	h.mu.Unlock()
	if data != nil {
		return os.WriteFile(db, data, 0o600)
	}
	if err := h.play(&f, db, messages); err != nil {
		return err
	}
	data, err := os.ReadFile(db)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.filled == nil {
		h.filled = map[filling][]byte{}
	}
	h.filled[f] = data
	return err
}

// parse returns a recorded session, of which the fields may be changed.
func (h *here) parse(file string) (*decant.Conversation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.parsed[file] == nil {
		doc, err := recorded.Read(file)
		if err != nil {
			return nil, err
		}
		if h.parsed == nil {
			h.parsed = map[string]*decant.Conversation{}
		}
		h.parsed[file] = doc.Conversation
	}
	c := *h.parsed[file]
	return &c, nil
}

// play fills a database.
func (h *here) play(f *filling, db string, messages io.Writer) error {
	conv, err := h.parse(f.file)
	if err != nil {
		return err
	}
	conv.Model = f.model
	policy, err := preset.Load("default")
	if err != nil {
		return err
	}
	if f.stubs {
		policy.Reduce.Always = []decant.Reduction{decant.ReductionTerminal, decant.ReductionSuperseded, decant.ReductionDuplicate, decant.ReductionStub}
	}
	if conv, err = withTools(conv); err != nil {
		return err
	}
	script := sandbox.NewScript(conv)
	script.Seek(f.from)
	api := httptest.NewServer(sandbox.New(sandbox.Options{Window: f.window, Model: script}))
	defer api.Close()
	d, err := embedded.Open(context.Background(), db, &embedded.Options{
		Engine: engine.Options{
			NoEarlyPours: !f.early, Mode: engine.Mode(f.mode), Preset: policy,
			Window: f.window, Timeouts: sandboxtest.Patient,
			Logger: slog.New(slog.NewTextHandler(messages, nil)),
		},
		Transport: transport.Options{Project: f.project, Tenant: func(*http.Request) (string, error) { return f.tenant, nil }},
	})
	if err != nil {
		return err
	}
	p := &player{client: d.Client(), url: api.URL, session: f.session, conv: conv}
	for i, n := range p.requests() {
		if i < f.from || i >= f.most {
			continue
		}
		if err := p.send(context.Background(), n); err != nil {
			return err
		}
		if err := d.Engine().Close(); err != nil { // the next request is metered by this answer, however fast it comes
			return err
		}
	}
	return d.Close()
}
