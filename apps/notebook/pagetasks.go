package notebook

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/decantdev/decant/memory"
)

// finished selects completed tasks.
func finished(s memory.State) func(*Record) bool {
	return func(r *Record) bool { return r.Task != nil && !r.Task.Done.IsZero() && r.State() == s }
}

func byRef(a, b *Record) int {
	return cmp.Or(oldest(a, b), byName(a.Task.Ref, b.Task.Ref))
}

// newestTask orders completed tasks, the newest first.
func newestTask(a, b *Record) int {
	return cmp.Or(b.Task.Done.Compare(a.Task.Done), b.Created.Compare(a.Created),
		byName(b.Task.Ref, a.Task.Ref), cmp.Compare(a.ID, b.ID))
}

// byName orders names of tasks by their numbers: TASK-9 comes before TASK-32.
func byName(a, b string) int {
	const digits = "0123456789"
	x, y := strings.TrimRight(a, digits), strings.TrimRight(b, digits)
	m, n := strings.TrimLeft(a[len(x):], "0"), strings.TrimLeft(b[len(y):], "0")
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(a, b))
}

const earlier = "## Earlier, until the month is archived"

func done(v *view) []block {
	const intro = `The last completed tasks. To add one, write "- TEXT"; a line like "  - Outcome: TEXT" below says more.`
	out := heading("# Done", intro)
	all := v.pick(finished(memory.Active), newestTask)
	for n, r := range all {
		if n == v.Keep {
			out = append(out, heading(earlier)...)
		}
		if n >= v.Keep {
			out = append(out, v.short(r, n-v.Keep))
			continue
		}
		out = append(out, v.long(r, n))
	}
	return out
}

// short returns a task on one line.
func (v *view) short(r *Record, n int) block {
	line := "- " + r.Task.Ref + ": " + r.Text + mark(r)
	return block{key: r.ID, lines: append(gap(n), line), fields: fields{"text": r.Text, "ref": r.Task.Ref}}
}

// long returns a task with all its details.
func (v *view) long(r *Record, n int) block {
	f := v.taskFields(r)
	lines := append(gap(n), "- "+r.Task.Ref+": "+r.Text+mark(r))
	for _, name := range details {
		lines = detail(lines, name, f[strings.ToLower(name)])
	}
	return block{key: r.ID, lines: lines, fields: f}
}

// details are the names of the lines below a task.
var details = []string{"Completed", "Outcome", "Files", "Tests", "Tokens", "Duration", "Commits", "Issues", "Pattern"}

// taskFields returns the editable fields of a task.
func (v *view) taskFields(r *Record) fields {
	t := r.Task
	f := fields{
		"text": r.Text, "ref": t.Ref, "completed": v.date(t.Done), "outcome": t.Outcome, "files": filesOf(t.Files, t.Which),
		"tests": t.Tests, "commits": strings.Join(t.Commits, ", "), "issues": t.Issues, "pattern": t.Pattern,
		"duration": "", "tokens": "",
	}
	if t.Seconds > 0 {
		f["duration"] = hours(t.Seconds)
	}
	if v.Metrics {
		f["tokens"] = tokensOf(t.Estimate, t.Tokens)
	}
	return f
}

// filesOf returns the files that a task changed: "3 (handler, stack, tests)".
func filesOf(n int, which string) string {
	switch {
	case n == 0:
		return which
	case which == "":
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%s)", n, which)
}

// tokensOf returns the tokens of a task: "3.5K estimated, 2.8K actual".
func tokensOf(estimate, actual int) string {
	var parts []string
	if estimate > 0 {
		parts = append(parts, kilo(estimate)+" estimated")
	}
	if actual > 0 {
		parts = append(parts, kilo(actual)+" actual")
	}
	return strings.Join(parts, ", ")
}

var (
	tableHead = "| Task | Date | Outcome | Files | Tokens | Pattern |"
	tableRule = "|------|------|---------|-------|--------|---------|"
)

func taskArchive(v *view) []block {
	out := heading("# Task Archive - Completed Items", "The newest tasks are in DONE.md in full, older ones here.")
	month := ""
	for _, r := range v.pick(finished(memory.Archived), newestTask) {
		if m := r.Task.Done.In(v.Zone).Format("January 2006"); m != month {
			month = m
			out = append(out, block{key: "## " + m, lines: []string{"", "## " + m, "", tableHead, tableRule}})
		}
		t := r.Task
		tokens := ""
		if n := cmp.Or(t.Tokens, t.Estimate); n > 0 && v.Metrics {
			tokens = kilo(n)
		}
		what, pattern := cell(outcome(r)), cell(t.Pattern)
		row := []string{cell(t.Ref) + mark(r), v.date(t.Done), what, number(t.Files), tokens, pattern}
		line := "| " + strings.Join(row, " | ") + " |"
		out = append(out, block{key: r.ID, lines: []string{line}, fields: fields{"row": what, "pattern": pattern}})
	}
	return out
}

// outcome returns the text and the outcome of a task for one cell.
func outcome(r *Record) string {
	if o := r.Task.Outcome; o != "" && o != "✓" {
		return r.Text + ": " + o
	}
	return r.Text + " ✓"
}

// cell returns a text as a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// kilo returns a number of tokens: 850, 2.8K, 95K.
func kilo(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "K"
}

// hours returns a duration: 1.5 hours, 12 minutes.
func hours(seconds int) string {
	if seconds < 3600 {
		return count((seconds+30)/60, "minute")
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(seconds)/3600), ".0") + " hours"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
