package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/logtest"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store/sqlite"
)

// BenchmarkPourPrepared is a request that is poured: with a segment that was written ahead, with which the record is composed,
// and without one. Request is the same request where no pour is due, see BenchmarkPrepare.
func BenchmarkPourPrepared(b *testing.B) {
	ahead, err := preset.Load("default")
	if err != nil {
		b.Fatal(err)
	}
	never := *ahead
	never.Summary.Ahead = -1
	for _, c := range []struct {
		name   string
		form   *preset.Preset
		window int
	}{{"Prepared", ahead, 80_000}, {"Extractive", &never, 80_000}, {"Request", &never, 0}} {
		b.Run(c.name, func(b *testing.B) {
			o := engine.Options{Window: c.window, NoEarlyPours: true, Preset: c.form, ArchiveDelay: -1, Timeouts: engine.Timeouts{Optional: time.Minute, Required: time.Minute}, Logger: logtest.Strict(b)}
			if c.name == "Prepared" {
				o.Models.Summarizer = &writer{write: good}
			}
			benchmarkPour(b, o)
		})
	}
}

func benchmarkPour(b *testing.B, o engine.Options) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	const per = 9 << 10
	bodies := [...][]byte{longRequest(20, 20*per), longRequest(21, 21*per), longRequest(30, 30*per)}
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		req := engine.Request{Session: fmt.Sprint("s", n)}
		var e *engine.Engine
		for _, body := range bodies[:2] { // the first is stored by one engine, so that the other may prepare behind the second
			if e, err = engine.New(db, o); err != nil {
				b.Fatal(err)
			}
			req.Body = body
			p, err := e.Prepare(b.Context(), &req)
			if err != nil || p.Report.Reason != "" {
				b.Fatal(err, p.Report.Reason)
			}
			e.Finish(p, engine.Response{Status: 200, Usage: decant.Usage{Input: len(p.Body) / 4, Output: 50}})
			e.Close()
		}
		req.Body = bodies[2]
		b.StartTimer()
		p, err := e.Prepare(b.Context(), &req)
		b.StopTimer()
		if err != nil || p.Fault != nil || (p.Report.Reason != "") != (o.Window > 0) {
			b.Fatal(err, p.Fault, p.Report.Reason)
		}
		notes := ""
		if p.Report.Plan != nil {
			notes = strings.Join(p.Report.Plan.Notes, "\n")
		}
		if ahead := o.Models.Summarizer != nil; strings.Contains(notes, "before the pour was due") != ahead {
			b.Fatalf("prepared %v, notes %q", ahead, notes)
		}
		b.StartTimer()
	}
}
