package deliver

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/decantdev/decant/apps/triage/internal/investigate"
	"github.com/decantdev/decant/internal/humanize"
)

// WriteMarkdown writes the report as GitHub shows it.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Triage of %s\n\n%s\n\n", day(r.Until), r.Headline())
	for _, n := range r.Notices {
		fmt.Fprintf(&b, "> %s\n", plain(n))
	}
	if len(r.Notices) > 0 {
		b.WriteByte('\n')
	}
	var left []*ReportedError
	for i := range r.Errors {
		e := &r.Errors[i]
		if e.Finding == nil {
			left = append(left, e)
			continue
		}
		e.markdown(&b)
		if t := e.Trial; t != nil {
			fmt.Fprintf(&b, "The patch. %s\n\n", plain(t.Why))
			if t.Printed != "" {
				b.WriteString(fence(t.Printed))
			}
		}
	}
	if len(left) > 0 {
		b.WriteString("## Not investigated\n\n")
		for _, e := range left {
			fmt.Fprintf(&b, "- %s, %s%s\n", plain(e.Title()), happened(e), plain(because(e.Left)))
		}
		b.WriteByte('\n')
	}
	r.used(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// because returns a reason behind a sentence.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func happened(e *ReportedError) string { return count(e.Count, "time") }

// markdown writes an error that was investigated.
func (e *ReportedError) markdown(b *strings.Builder) {
	f := e.Finding
	fmt.Fprintf(b, "## %d. %s\n\n%s%s\n\n", e.Number, plain(e.Title()), happened(e), lastSeen(e))
	if e.Message != "" {
		b.WriteString(fence(e.Message))
	}
	fmt.Fprintf(b, "**%s.** %s\n\n", verdict(f), plain(cmp.Or(f.Cause, f.Error)))
	for i, v := range f.Evidence {
		name := fmt.Sprintf("%s:%d", v.Path, v.Line)
		place := inline(name)
		if i < len(e.Links) && e.Links[i] != "" {
			place = fmt.Sprintf("[%s](<%s>)", inline(name), e.Links[i])
		}
		fmt.Fprintf(b, "%s%s\n%s", place, plain(because(v.Says)), fence(v.Text))
	}
	for _, l := range []struct{ name, text string }{
		{"Fix", f.Fix}, {"Brought by", suspect(f.Suspect)}, {"Next", strings.Join(f.Next, "; ")}, {"Owner", e.Owner}, {"Same cause as", related(f.Related)},
	} {
		if l.text != "" {
			fmt.Fprintf(b, "- %s: %s\n", l.name, plain(l.text))
		}
	}
	for _, s := range f.Struck {
		fmt.Fprintf(b, "- Struck, since nothing had shown it: %s (%s)\n", plain(s.Said()), plain(s.Why))
	}
	fmt.Fprintf(b, "- Used: %s\n\n", plain(used(f)))
}

// lastSeen says when an error happened last.
func lastSeen(e *ReportedError) string {
	text := ""
	if !e.Last.IsZero() {
		text = ", last " + day(e.Last)
	}
	if e.Release != "" {
		text += ", release " + plain(e.Release)
	}
	return text
}

// verdict says what came of an investigation.
func verdict(f *investigate.Finding) string {
	switch {
	case f.Error != "" && f.Cause == "":
		return "No answer"
	case f.State != investigate.RootCause:
		return "Inconclusive; the strongest lead"
	case f.Said != "":
		return fmt.Sprintf("Cause, %s confidence (the agent said %s)", f.Confidence, f.Said)
	}
	return fmt.Sprintf("Cause, %s confidence", f.Confidence)
}

func suspect(s *investigate.Suspect) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("commit %s%s", s.SHA[:min(12, len(s.SHA))], because(s.Why))
}

func related(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("error %d", n)
}

// used says what an investigation has used.
func used(f *investigate.Finding) string {
	text := fmt.Sprintf("%s tokens, $%.4f, %d of %d answers, %s", humanize.Thousands(f.Tokens()), f.USD, f.Iterations, f.Limit, count(f.Calls, "call"))
	if f.Forced {
		what := "tokens"
		if f.Iterations >= f.Limit {
			what = "answers"
		}
		text += "; the limit of " + what + " was reached, and the answer had to be given"
	}
	return text
}

// used writes what the run has used.
func (r *Report) used(b *strings.Builder) {
	t := &r.Totals
	fmt.Fprintf(b, "---\n\n%s", r.Spent())
	if reads := t.Code.Hits + t.Code.Misses; reads > 0 {
		fmt.Fprintf(b, " Code was read %s, %d%% of that from the cache.", count(int(reads), "time"), 100*t.Code.Hits/reads)
	}
	if t := r.Track.String(); t != "" {
		b.WriteString(" " + t)
	}
	fmt.Fprintf(b, " Run %s.\n", inline(r.Run))
	for i, l := range r.Layers() {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "- %s\n", plain(l))
	}
	r.billed(b)
}

// billed writes what the layers have saved.
func (r *Report) billed(b *strings.Builder) {
	l := billOf(r)
	if l == nil {
		return
	}
	num := humanize.Thousands
	fmt.Fprintf(b, "\n%s\n\n| layer | without it | with only it |\n|---|---:|---:|\n", plain(billText))
	for _, s := range l.Shares {
		fmt.Fprintf(b, "| %s | %s | %s |\n", s.Layer, num(s.Without), num(s.Only))
	}
	fmt.Fprintf(b, "| remainder | | %s |\n\nAs it was %s; without these layers %s. The remainder is what they save together and not one by one.\n", num(l.Remainder), num(l.On), num(l.Off))
}

// plain returns a text that is no markup, on one line.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_[]<>#|~!@&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// inline returns a text as code within a line.
func inline(text string) string {
	marks := strings.Repeat("`", longest(text)+1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return marks + pad + strings.Join(strings.Fields(text), " ") + pad + marks
}

// fence returns lines of code.
func fence(text string) string {
	marks := strings.Repeat("`", max(3, longest(text)+1))
	return marks + "\n" + strings.TrimRight(text, "\n") + "\n" + marks + "\n\n"
}

// longest returns how many marks of code stand behind each other in a text.
func longest(text string) (most int) {
	n := 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}
