package notebook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/memory"
)

const day = "2006-01-02"

// heading returns the blocks of a heading and the paragraphs below it.
func heading(title string, text ...string) []block {
	out := []block{{key: title, lines: []string{"", title}}}
	for _, t := range text {
		out = append(out, block{key: t, lines: []string{"", t}})
	}
	return out
}

// mark returns the comment with the id of a record.
func mark(r *Record) string { return " <!-- " + r.ID + " -->" }

// gap returns an empty line before the first of several blocks.
func gap(n int) []string {
	if n == 0 {
		return []string{""}
	}
	return nil
}

// pick returns the wanted records in an order.
func (v *view) pick(want func(*Record) bool, order func(a, b *Record) int) (out []*Record) {
	for _, r := range v.Records {
		if r.Removed.IsZero() && want(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *Record) int { return cmp.Or(order(a, b), cmp.Compare(a.ID, b.ID)) })
	return out
}

func (v *view) date(t time.Time) string { return t.In(v.Zone).Format(day) }

func oldest(a, b *Record) int { return a.Created.Compare(b.Created) }

func is(k memory.Kind, s memory.State) func(*Record) bool {
	return func(r *Record) bool { return r.Kind == k && r.State() == s && r.Type == "" }
}

const introObservations = `Seen in this repository and not yet a rule. ` +
	`To add one, write a line that begins with "- "; to archive one, delete its line.`

func observations(v *view) []block {
	out := heading("# Observations", introObservations)
	for n, r := range v.pick(is(memory.KindObservation, memory.Active), oldest) {
		lines := append(gap(n), "- "+r.Text+mark(r))
		lines = append(lines, "  | Confirmations: "+v.times(r)+" | Last: "+v.date(r.Confirmed)+v.doubt(r)+" |")
		out = append(out, block{key: r.ID, lines: lines, fields: fields{"text": r.Text}})
	}
	return out
}

// times returns the number of confirmations and of their sessions.
func (v *view) times(r *Record) string {
	if n := r.Sessions(); n > 0 {
		return fmt.Sprintf("%d (%s)", r.Times, count(n, "session"))
	}
	return fmt.Sprint(r.Times)
}

// doubt returns when a record was contradicted.
func (v *view) doubt(r *Record) string {
	if r.Suspended.IsZero() {
		return ""
	}
	return " | Contradicted: " + v.date(r.Suspended)
}

const introRules = `What a session is told when it begins. To add one, write "## Rule: TEXT"; to archive one, delete it.`

func rules(v *view) []block {
	out := heading("# Active Rules", introRules)
	byNumber := func(a, b *Record) int { return cmp.Compare(a.Number, b.Number) }
	for _, r := range v.pick(is(memory.KindRule, memory.Active), byNumber) {
		lines := []string{"", fmt.Sprintf("## Rule #%d: %s%s", r.Number, r.Text, mark(r))}
		if r.Why != "" {
			lines = append(lines, "**Why:** "+r.Why)
		}
		known := "**Confirmations:** " + v.times(r) + " | **Last:** " + v.date(r.Confirmed)
		if r.From != "" {
			known += " | **From:** " + r.From
		}
		lines = append(lines, known)
		if !r.Suspended.IsZero() {
			lines = append(lines, "**Suspended:** "+v.date(r.Suspended)+", contradicted: "+r.Against)
		}
		if n := v.Unloaded[r.ID]; n > 0 {
			const unloaded = "**Not told:** the rules before it fill what a session is told (rank %d)"
			lines = append(lines, fmt.Sprintf(unloaded, n))
		}
		out = append(out, block{key: r.ID, lines: lines, fields: fields{"text": r.Text, "why": r.Why}})
	}
	return out
}

func observationArchive(v *view) []block {
	out := heading("# Observation Archive", `Sessions are not told of these. "decant notebook set ID active" restores a record.`)
	last := func(a, b *Record) int { return b.Escalated.Compare(a.Escalated) }
	out = append(out, heading("## Escalated → ACTIVE_RULES")...)
	for n, r := range v.pick(is(memory.KindObservation, memory.Escalated), last) {
		out = append(out, v.escalated(r, n))
	}
	gone := func(r *Record) bool {
		ofKind := r.Kind == memory.KindObservation || r.Kind == memory.KindRule
		return ofKind && r.Type == "" && r.State() == memory.Archived
	}
	out = append(out, heading("## Legacy Observations (archived, not escalated)")...)
	for n, r := range v.pick(gone, func(a, b *Record) int { return b.Archived.Compare(a.Archived) }) {
		label := "Observation: "
		if r.Kind == memory.KindRule {
			label = "Rule: "
		}
		reason := cmp.Or(r.Reason, "archived")
		row := fmt.Sprintf("  | Confirmations: %d | Archived: %s | Reason: %s |", r.Times, v.date(r.Archived), reason)
		lines := append(gap(n), "- "+label+r.Text+mark(r), row)
		out = append(out, block{key: r.ID, lines: lines, fields: fields{"text": r.Text}})
	}
	return out
}

// escalated returns the block of an observation that became a rule.
func (v *view) escalated(r *Record, n int) block {
	what := "Added as Rule"
	if i := slices.IndexFunc(v.Records, func(o *Record) bool { return o.ID == r.Became }); i >= 0 {
		what = fmt.Sprintf("Added as Rule #%d", v.Records[i].Number)
	}
	head := fmt.Sprintf("- Pattern: %s (%s)%s", r.Text, count(r.Times, "confirmation"), mark(r))
	lines := append(gap(n), head, "  → "+what+" ("+r.Became+") on "+v.date(r.Escalated))
	return block{key: r.ID, lines: lines, fields: fields{"text": r.Text}}
}

func decisions(v *view) []block {
	const intro = `To add one, write a line that begins with "- ", and below it "  - Why: TEXT" and "  - Revisit: DATE".`
	out := heading("# Decisions", intro)
	for n, r := range v.pick(isDecision, oldest) {
		lines := append(gap(n), "- "+v.date(r.Created)+": "+r.Text+mark(r))
		lines = detail(lines, "Why", r.Why)
		lines = detail(lines, "Revisit", r.Revisit)
		if r.Became != "" {
			lines = append(lines, "  → superseded by "+r.Became)
		}
		edited := fields{"text": r.Text, "why": r.Why, "revisit": r.Revisit}
		out = append(out, block{key: r.ID, lines: lines, fields: edited})
	}
	return out
}

// isDecision selects active decisions.
func isDecision(r *Record) bool { return r.Type == DecisionType && r.State() == memory.Active }

// detail adds the line of a detail, unless it is empty.
func detail(lines []string, name, value string) []string {
	if value == "" {
		return lines
	}
	return append(lines, "  - "+name+": "+value)
}

func contexts(v *view) []block {
	const intro = "Index of compressed sessions with generation date and summary."
	out := heading("# Context Archive - Session Transcripts", intro)
	live := func(r *Record) bool { return r.Type == contextType && r.Context != nil }
	for _, r := range v.pick(live, func(a, b *Record) int { return b.Context.Time.Compare(a.Context.Time) }) {
		c := r.Context
		about := "**Duration:** " + hours(c.Seconds)
		if v.Metrics {
			about += " | **Tokens:** " + kilo(c.Input) + " input, " + kilo(c.Output) + " output"
		}
		about += " | **Tasks:** " + fmt.Sprint(c.Tasks) + " completed"
		at := c.Time.In(v.Zone).Format("2006-01-02 15:04")
		lines := []string{"", "## Session [" + at + "]" + mark(r), about, "", "<summary>"}
		lines = append(lines, strings.Split(c.Summary, "\n")...)
		lines = append(lines, "</summary>")
		if c.Original != "" {
			lines = append(lines, "", "**Original transcript:** "+c.Original)
		}
		out = append(out, block{key: r.ID, lines: lines, fields: fields{"summary": c.Summary}})
	}
	return out
}

func index(v *view) []block {
	const intro = `Index of this notebook. "decant notebook list" prints it, and "decant notebook show ID" where a record comes from.`
	out := heading("# Memory", intro)
	archived := func(r *Record) bool { return r.Kind == memory.KindObservation && r.State() != memory.Active }
	n := func(want func(*Record) bool) int { return len(v.pick(want, oldest)) }
	rows := []struct {
		file string
		n    int
		what string
	}{
		{rulesFile, n(is(memory.KindRule, memory.Active)), "rule"},
		{observationsFile, n(is(memory.KindObservation, memory.Active)), "observation"},
		{doneFile, n(finished(memory.Active)), "completed task"},
		{decisionsFile, n(isDecision), "decision"},
		{observationArchiveFile, n(archived), "archived observation"},
		{taskArchiveFile, n(finished(memory.Archived)), "archived task"},
		{contextsFile, n(func(r *Record) bool { return r.Type == contextType }), "session"},
	}
	for i, row := range rows {
		line := fmt.Sprintf("- [%s](%[1]s): %s", row.file, count(row.n, row.what))
		out = append(out, block{key: row.file, lines: append(gap(i), line)})
	}
	out = append(out, heading("## Open tasks")...)
	for i, r := range v.pick(func(r *Record) bool {
		return r.Task != nil && r.Task.Done.IsZero() && r.State() == memory.Active
	}, byRef) {
		out = append(out, v.short(r, i))
	}
	return out
}
