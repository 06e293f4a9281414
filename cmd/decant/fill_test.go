package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/enginetest"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/provider/sandbox"
	"github.com/decantdev/decant/transport"
	"github.com/decantdev/decant/wire"
)

// fill is a command for scripts: it plays a recorded session through Decant against the sandbox, so
// that a database has something in it.
//
//	fill [-window N] [-from N] [-requests N] [-session ID] [-project NAME] [-tenant NAME] [-model ID] [-mode MODE] [-early] DB FILE
func fill() {
	if err := runFill(); err != nil {
		fmt.Fprintln(os.Stderr, "fill:", err)
		os.Exit(1)
	}
}

func runFill() error {
	window := flag.Int("window", 40_000, "tokens")
	from := flag.Int("from", 0, "requests to leave out at the beginning")
	most := flag.Int("requests", 1000, "the last one to make, counted from 1")
	session := flag.String("session", "", "id")
	project := flag.String("project", "", "name")
	model := flag.String("model", "claude-sonnet-4-5", "id")
	tenant := flag.String("tenant", "", "name")
	mode := flag.String("mode", "manage", "of the engine")
	early := flag.Bool("early", false, "early pours")
	stubs := flag.Bool("stubs", false, "old results become stubs, whether or not a checkpoint would do")
	flag.Parse()
	src, err := os.Open(flag.Arg(1))
	if err != nil {
		return err
	}
	defer src.Close()
	data, err := wire.Read(src)
	if err != nil {
		return err
	}
	doc, err := wire.Parse(data)
	if err != nil {
		return err
	}
	doc.Conversation.Model = *model
	policy, err := preset.Load("default")
	if err != nil {
		return err
	}
	if *stubs {
		policy.Reduce.Always = []decant.Reduction{decant.ReductionTerminal, decant.ReductionSuperseded, decant.ReductionDuplicate, decant.ReductionStub}
	}
	script := sandbox.NewScript(doc.Conversation)
	script.Seek(*from)
	api := httptest.NewServer(sandbox.New(sandbox.Options{Window: *window, Model: script}))
	defer api.Close()
	d, err := embedded.Open(context.Background(), flag.Arg(0), &embedded.Options{
		Engine: engine.Options{
			NoEarlyPours: !*early, Mode: engine.Mode(*mode), Preset: policy,
			Window: *window, Timeouts: enginetest.Patient,
			Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		},
		Transport: transport.Options{Project: *project, Tenant: func(*http.Request) (string, error) { return *tenant, nil }},
	})
	if err != nil {
		return err
	}
	p := &player{client: d.Client(), url: api.URL, session: *session, conv: doc.Conversation}
	for i, n := range p.requests() {
		if i < *from || i >= *most {
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
