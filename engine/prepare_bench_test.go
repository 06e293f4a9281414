package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// longRequest returns a request of so many rounds, about size bytes in all, with the cache marker at
// its end.
func longRequest(rounds, size int) []byte {
	line := "step %d line %d: value_%d = compute(alpha, beta) // \\\"quoted\\\" and a tab\\tin it\\n"
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-6","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Do the work."}]}`)
	per := size / max(rounds, 1)
	for i := range rounds {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"Step %d."},{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./pkg%d"}}]}`, i, i, i)
		var out strings.Builder
		for k := 0; out.Len() < per-400; k++ {
			fmt.Fprintf(&out, line, i, k, k)
		}
		marker := ""
		if i == rounds-1 {
			marker = `,"cache_control":{"type":"ephemeral"}`
		}
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"%s}]}`, i, out.String(), marker)
	}
	b.WriteString(`],"stream":true}`)
	return []byte(b.String())
}

// BenchmarkPrepareFloor is one validation of the same body, which everything that reads JSON pays at
// least.
func BenchmarkPrepareFloor(b *testing.B) {
	for _, kb := range []int{500, 1000} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			src := longRequest(kb/10, kb<<10)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := jsonspan.Validate(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPrepare is one request of a conversation that has grown by one round, with nothing to
// decide, early pours included: at most 2.5 times BenchmarkPrepareFloor. Doubling the history may only add reading, scanning
// and copying. In a conversation that was poured before, the decisions are replayed.
func BenchmarkPrepare(b *testing.B) {
	for _, c := range []struct {
		name       string
		kb, window int
	}{{"500KB", 500, 0}, {"1000KB", 1000, 0}, {"500KBPoured", 500, 80_000}} {
		b.Run(c.name, func(b *testing.B) { benchmarkPrepare(b, c.kb, c.window) })
	}
}

func benchmarkPrepare(b *testing.B, kb, window int) {
	db := emptyStore(b)
	e, err := engine.New(db, engine.Options{Timeouts: sandboxtest.Patient, Window: window, NoEarlyPours: true, Logger: testkit.StrictLog(b)})
	if err != nil {
		b.Fatal(err)
	}
	n := kb / 10
	before, src := longRequest(n-1, (kb<<10)/n*(n-1)), longRequest(n, kb<<10)
	p, err := e.Prepare(b.Context(), &engine.Request{Session: "s", Body: before})
	if err != nil || p.Fault != nil || (p.Report.Reason != "") != (window > 0) {
		b.Fatal(err, p.Fault, p.Report.Reason)
	}
	e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{CacheRead: len(p.Body) / 4, Output: 50}})
	e.Close()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := e.Prepare(b.Context(), &engine.Request{Session: "s", Body: src})
		if err != nil || p.Fault != nil || p.Report.Relation != "continues" || p.Report.Reason != "" {
			b.Fatal(err, p.Fault, p.Report)
		}
	}
}
