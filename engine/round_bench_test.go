package engine_test

import (
	"fmt"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// BenchmarkRound is a conversation that grows by one round with each request: what the client waits
// for, and the archive behind it.
func BenchmarkRound(b *testing.B) {
	for _, kb := range []int{13, 106} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			db := emptyStore(b)
			e, err := engine.New(db, engine.Options{Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(b)})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			var bodies [][]byte
			for n := 5; n <= 13; n++ {
				bodies = append(bodies, longRequest(n, kb<<10*n/13))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				session := fmt.Sprint(i / len(bodies))
				p, err := e.Prepare(b.Context(), &engine.Request{Session: session, Body: bodies[i%len(bodies)]})
				if err != nil || p.Fault != nil {
					b.Fatal(err, p.Fault)
				}
				e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{CacheRead: len(p.Body) / 4, Output: 50}})
				i++
			}
		})
	}
}
