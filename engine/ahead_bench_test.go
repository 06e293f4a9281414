package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// BenchmarkPourPrepared is a request that is poured, in conversations of about so many tokens: with a plan that was made
// behind the request before, with one whose record has lines of a segment that a model wrote, and planned at once. Request is
// the same request where no pour is due, see BenchmarkPrepare: a pour that was prepared takes less than 5 ms more.
func BenchmarkPourPrepared(b *testing.B) {
	ahead, err := preset.Load("default")
	if err != nil {
		b.Fatal(err)
	}
	never := *ahead
	never.Summary.Ahead = -1
	for _, size := range []struct {
		name           string
		rounds, window int
	}{{"60K", 21, 80_000}, {"170K", 57, 200_000}} {
		for _, c := range []struct {
			name string
			form *preset.Preset
			pour bool
		}{{"Prepared", ahead, true}, {"PreparedByModel", ahead, true}, {"AtOnce", &never, true}, {"Request", &never, false}} {
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				o := engine.Options{Window: size.window, NoEarlyPours: true, Preset: c.form, ArchiveDelay: -1, Timeouts: sandboxtest.Patient, Logger: testkit.StrictLog(b)}
				if c.name == "PreparedByModel" {
					o.Models.Summarizer = &writer{write: good}
				}
				if !c.pour {
					o.Window = 1_000_000
				}
				benchmarkPour(b, o, size.rounds, c.pour, c.form == ahead)
			})
		}
	}
}

// benchmarkPour measures a request of so many rounds. The one before is stored by one engine, so that the other may prepare
// behind the next.
func benchmarkPour(b *testing.B, o engine.Options, rounds int, pours, prepared bool) {
	db := emptyStore(b)
	const per = 9 << 10
	var bodies [3][]byte
	for i := range bodies {
		n := rounds + i - 2
		bodies[i] = longRequest(n, n*per)
	}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		req := engine.Request{Session: fmt.Sprint("s", n)}
		var (
			e   *engine.Engine
			err error
		)
		for _, body := range bodies[:2] {
			if e, err = engine.New(db, o); err != nil {
				b.Fatal(err)
			}
			req.Body = body
			p, err := e.Prepare(b.Context(), &req)
			if err != nil || p.Report.Reason != "" {
				b.Fatal(err, p.Report.Reason)
			}
			e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: p.Report.After, Output: 50}})
			e.Close()
		}
		req.Body = bodies[2]
		b.StartTimer()
		p, err := e.Prepare(b.Context(), &req)
		b.StopTimer()
		if err != nil || p.Fault != nil || (p.Report.Reason != "") != pours {
			b.Fatal(err, p.Fault, p.Report.Reason, p.Report.Before)
		}
		notes := ""
		if p.Report.Plan != nil {
			notes = strings.Join(p.Report.Plan.Notes, "\n")
		}
		if strings.Contains(notes, "before it was due") != prepared || strings.Contains(notes, "before the pour was due") != (o.Models.Summarizer != nil) {
			b.Fatalf("prepared %v, notes %q", prepared, notes)
		}
		b.StartTimer()
	}
}
