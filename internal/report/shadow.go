package report

import (
	"fmt"

	"github.com/decantdev/decant/internal/replay"
)

// shadows says, for each policy that was asked for it, what watching the agent before its pours was worth.
func (r *Replay) shadows(p *printer) {
	for i, s := range replay.SumShadows(r.Sessions) {
		if s.Checkpoints+s.Unwatched+s.Early.Checkpoints == 0 {
			continue
		}
		p.line("")
		p.line("%s", wrap(fmt.Sprintf(
			"watched, %s: %s, and %d more for which no request could be watched. %s changed by what the agent used before the pour, %d of them without use; %d covered another range.",
			r.Total[i].Policy, Count(s.Checkpoints, "checkpoint"), s.Unwatched, Count(s.Changed, "record"), s.Idle, s.Refused), p.across()))
		p.table(lacking(&s.Held), "lRRRRRR")
		r.ready(p, &s.Ready)
		early(p, &s.Early)
	}
}

// early says the same of checkpoints that paid for themselves.
func early(p *printer, h *replay.Held) {
	if h.Checkpoints == 0 {
		return
	}
	p.line("")
	p.line("%s", wrap(fmt.Sprintf("early pours, for which no plan waits: %s, each held against one for the same size that nobody has watched the agent for.",
		Count(h.Checkpoints, "checkpoint")), p.across()))
	p.table(lacking(h), "lRRRRRR")
}

// ready says what has become of the plans that were made ahead of pours.
func (r *Replay) ready(p *printer, d *replay.Ready) {
	if d.Pours == 0 {
		return
	}
	p.line("")
	p.line("%s", wrap(fmt.Sprintf(
		"planned ahead, as a gateway does: %s with a plan that waited, made %.1f times each; %d planned at once because more or less had come than was expected, %d because the plan lacked what had been used since (%d of them for nothing). With the plans that were taken the view says of %s of the %s what it is, planned at once of %s. %d plans lacked some of it when they were made first; %s of these pours have some of what they lacked.",
		Count(d.Pours, "pour"), float64(d.Plans)/float64(d.Pours), d.Surprised, d.Lacking, d.False,
		share(d.Swapped, d.Strings), Count(d.Strings, "string"), share(d.Once, d.Strings), d.First.Checkpoints, share(d.First.Repaired, d.First.Checkpoints)), p.across()))
}

// lacking returns what candidates lacked as a table.
func lacking(h *replay.Held) [][]string {
	return [][]string{
		{"of what the next 5 answers used", "lacked by", "repaired", "wholly", "strings", "repaired", "lost instead"},
		lacks("in no line of the view", &h.Absent), lacks("in none that says what it is", &h.Ungrounded), lacks("the same, all places counted", &h.Anywhere),
	}
}

// lacks returns a row.
func lacks(what string, l *replay.Lack) []string {
	return []string{
		what, Thousands(l.Checkpoints), share(l.Repaired, l.Checkpoints), share(l.Whole, l.Checkpoints), Thousands(l.Strings), share(l.Kept, l.Strings), Thousands(l.Lost),
	}
}
