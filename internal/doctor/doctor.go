// Package doctor examines everything between an agent and the API: upstream, clock, collector of traces, store, keys, and
// the environment in which clients start. What it finds are values, for whoever shows them.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
)

// A Verdict is how serious a finding is, in the word for people.
type Verdict string

const (
	fine   Verdict = "ok"
	note   Verdict = "note" // worth to know
	worry  Verdict = "warn" // it works, and deserves attention
	broken Verdict = "FAIL"
)

// A Finding is what was found out about one thing, and what to do about it.
type Finding struct {
	Verdict Verdict
	About   string // upstream, clock, traces, store, keys, tls, or a kind of client
	Text    string
}

// Broken reports whether something does not work until it is repaired.
func (f *Finding) Broken() bool { return f.Verdict == broken }

// A Setup is what is examined.
type Setup struct {
	Config   *config.Config
	File     string // with the settings; empty if there is none
	Outbound *gateway.Outbound
	CA       [][]byte            // that are trusted besides the system's
	Env      func(string) string // of the clients
	Now      func() time.Time
	Database Database
}

// Examine returns what is found out about a setup.
func Examine(ctx context.Context, s *Setup) []Finding {
	x := &examination{Setup: s}
	x.upstream(ctx)
	x.collector(ctx)
	x.store(ctx)
	x.keys()
	x.clients(ctx)
	x.costs()
	return x.findings
}

// An examination collects findings.
type examination struct {
	*Setup
	stored   int // keys in the database that are in force
	findings []Finding
}

func (x *examination) say(v Verdict, about, format string, args ...any) {
	x.findings = append(x.findings, Finding{v, about, fmt.Sprintf(format, args...)})
}
