package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store/sqlite"
)

// BenchmarkDue is the question whether a pour is due for a request of half a megabyte, alone: with a
// text that could go and must be measured, and after a pour that brought nothing. It is inside the package because
// nothing outside can tell it from the rest of a request's way.
func BenchmarkDue(b *testing.B) {
	for _, futile := range []bool{false, true} {
		b.Run(fmt.Sprintf("Futile=%t", futile), func(b *testing.B) {
			p := &pouring{dr: halfMegabyte(b).dr}
			if futile {
				p.noteFutile()
			}
			b.ReportAllocs()
			for b.Loop() {
				if s := p.situation(); s.Economy.Early == futile {
					b.Fatalf("early is %t", s.Economy.Early)
				}
			}
		})
	}
}

// halfMegabyte returns the ticket of a request that continues a conversation.
func halfMegabyte(tb testing.TB) *ticket {
	db, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	pre, err := preset.Load("default")
	if err != nil {
		tb.Fatal(err)
	}
	thin := *pre
	thin.Tools.Exclude = []string{"*"}
	e, err := New(db, Options{Window: 1_000_000, Preset: &thin})
	if err != nil {
		tb.Fatal(err)
	}
	var p *Prepared
	for n := 50; n <= 51; n++ {
		if p, err = e.Prepare(tb.Context(), &Request{Session: "s", Body: rounds(n)}); err != nil {
			tb.Fatal(err)
		}
		e.Finish(p, Response{Status: 200, Usage: decant.Usage{CacheRead: n * 2500, Output: 50}})
		e.Close()
	}
	p.ticket.dr.meter.Futile = policy.Backoff{}
	return p.ticket
}

// rounds returns a request of n rounds of ten KB.
func rounds(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-6","max_tokens":32000,"system":[{"type":"text","text":"Work.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Do the work."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./pkg%d"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat(fmt.Sprintf("line of step %d, alpha, beta\\n", i), 350))
	}
	b.WriteString("]}")
	return []byte(b.String())
}
