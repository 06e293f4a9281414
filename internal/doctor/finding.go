package doctor

import "fmt"

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
	About   string // upstream, clock, traces, summary, store, keys, tls, or a kind of client
	Text    string
}

// Broken reports whether something does not work until it is repaired.
func (f *Finding) Broken() bool { return f.Verdict == broken }

// An examination collects findings.
type examination struct {
	*Setup
	stored   int // keys in the database that are in force
	findings []Finding
}

func (x *examination) say(v Verdict, about, format string, args ...any) {
	x.findings = append(x.findings, Finding{v, about, fmt.Sprintf(format, args...)})
}
