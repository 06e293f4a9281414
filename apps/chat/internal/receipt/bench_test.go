package receipt

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// chapter is a model that answers with twenty sentences.
type chapter struct{}

func (chapter) Answer(context.Context, *sandbox.Prompt) (sandbox.Answer, error) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "The ship number %d carries grain and leaves the harbour at berth %d. ", 7000+i*31, i)
	}
	return sandbox.Answer{Blocks: []sandbox.Block{{Kind: decant.KindText, Text: b.String()}}}, nil
}

// BenchmarkWhy makes the receipt of an answer with twenty sentences in a session of 150,000 tokens: the request is made once more, held
// against its hash, and looked through.
func BenchmarkWhy(b *testing.B) {
	client := sandboxtest.Client(b, sandbox.New(sandbox.Options{Model: chapter{}}))
	db, err := embedded.Open(b.Context(), filepath.Join(b.TempDir(), "why.db"), &embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient}})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	a, err := agent.New(client, agent.Options{Model: "claude-sonnet-4-5", System: "You know ships.", Engine: db.Engine(), Journals: db.Store()})
	if err != nil {
		b.Fatal(err)
	}
	var all []stdjson.RawMessage
	for i := range 100 {
		var log strings.Builder
		for k := range 80 {
			fmt.Fprintf(&log, "ship number %d: berth %d, cargo of kind %d, master signed\\n", 7000+i*80+k, k%40, k*i)
		}
		all = append(all, stdjson.RawMessage(`{"role":"user","content":"`+log.String()+`"}`), stdjson.RawMessage(`{"role":"assistant","content":"Noted."}`))
	}
	s, err := a.Load("", all)
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	for e, err := range s.Run(b.Context(), "Tell me of the ships.") {
		if err != nil {
			b.Fatal(err)
		}
		size = max(size, e.Size)
	}
	if size < 120_000 {
		b.Fatalf("the request has %d tokens", size)
	}
	n := len(s.Messages()) - 1
	b.ReportAllocs()
	for b.Loop() {
		m, err := s.Moment(b.Context(), db.Store(), n)
		if err != nil {
			b.Fatal(err)
		}
		if r := Of(m); len(r.Sentences) != 20 || len(r.Sentences[3].Sources) == 0 {
			b.Fatalf("%+v", r.Sentences[3])
		}
	}
	b.ReportMetric(float64(size), "tokens")
}
