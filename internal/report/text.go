package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/humanize"
)

// Thousands writes n with a comma between groups of three digits: 85,200.
func Thousands(n int) string { return humanize.Thousands(n) }

// Count writes n and what it counts, with an s unless n is 1: "3 calls".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}

// percent writes the share part of whole in percent, "12%", or "-" when there is no whole.
func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(whole))
}

// portion returns a number between 0 and 1 as a percentage, rounded down: 100% means all, and nothing less does.
func portion(part float64) string { return fmt.Sprintf("%d%%", int(100*part+1e-9)) }

// WriteText writes in for people, at most width columns wide.
func (in *Inspection) WriteText(w io.Writer, width int) error {
	p := &printer{Writer: w, width: width}
	in.head(p)
	in.tables(p)
	in.timeline(p)
	in.money(p)
	in.Writes.text(p)
	for _, warning := range in.Warnings {
		p.line("note: %s", warning)
	}
	return p.err
}

// printer writes lines and keeps the first error.
type printer struct {
	io.Writer
	width int
	err   error
}

func (p *printer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.onScreen() {
		text = Visible(text)
	}
	p.styled(text)
}

// styled writes a text with colours. What in it is not ours must be visible already.
func (p *printer) styled(text string) {
	if p.err != nil {
		return
	}
	text = folded(text, p.columns()) + "\n"
	if s, ok := p.Writer.(*Screen); ok {
		p.err = s.Control(text)
		return
	}
	_, p.err = io.WriteString(p.Writer, text)
}

func (in *Inspection) head(p *printer) {
	agent := in.Agent
	if agent == "" {
		agent = in.Format
	}
	p.line("%s: %s", in.Name, strings.Join(append([]string{agent}, in.Models...), ", "))
	p.line("  %s, %s, %s%s", Count(in.Messages, "message"), Count(in.Rounds, "round"), Count(in.Turns, "turn"), in.span())
	window := Thousands(in.Window) + " tokens"
	if in.Assumed {
		window += " (assumed)"
	}
	about := ""
	if !in.Measured {
		about = "~"
	}
	p.line("  %s in the transcript, %s%s in the context now, window %s", Count(in.Tokens, "token"), about, Thousands(in.Live), window)
	in.context(p)
}

// context says what makes up the context, where that is not the transcript.
func (in *Inspection) context(p *printer) {
	if n := in.Live - in.Estimated; in.Measured && n >= in.Live/50 {
		p.line("  ~%s of these are not in the file: system prompt, tools and the like", Thousands(n))
	}
	if n := len(in.Compactions); n > 0 && in.Since < in.Messages {
		p.line("  %s since the compaction at %s", Count(in.Since, "message"), in.Compactions[n-1].Message)
	}
}

func (in *Inspection) span() string {
	if in.Start.IsZero() {
		return ""
	}
	at := ", " + in.Start.Format("2006-01-02 15:04")
	if d := in.End.Sub(in.Start).Round(time.Minute); d > 0 {
		at += ", " + strings.TrimSuffix(d.String(), "0s")
	}
	return at
}

func (in *Inspection) tables(p *printer) {
	var rows []string
	for _, c := range in.Categories {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t", Thousands(c.Tokens), percent(c.Tokens, in.Tokens), c.Name))
	}
	p.left("where the tokens went", rows)
	rows = nil
	for _, t := range in.Tools {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s (%s), %s, %s, arguments %s\t",
			Thousands(t.Results), percent(t.Results, in.Results), t.Name, t.Class, Count(t.Calls, "call"), Count(t.Errors, "error"), Thousands(t.Arguments)))
	}
	p.left("by tool (results)", rows)
	rows = nil
	for _, f := range in.Files {
		rows = append(rows, fmt.Sprintf("%s\t\t%s, %s, %s\t", Thousands(f.Tokens), shorten(f.Path, p.width-36), Count(f.Reads, "read"), Count(f.Changes, "change")))
	}
	p.left("by file", rows)
	rows = nil
	for _, r := range in.Largest {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s %s\t", Thousands(r.Tokens), r.Message, r.Tool, shorten(r.About, p.width-32)))
	}
	p.left("largest results", rows)
	in.findings(p)
}

// findings says what of the results nobody needs, and where the client compacted.
func (in *Inspection) findings(p *printer) {
	if in.Results > 0 {
		p.line("\nof the tool results, %.0f%% are reads that a later read or change made stale, %.0f%% are exact duplicates",
			100*in.Superseded, 100*in.Duplicate)
	}
	for _, b := range in.Compactions {
		if b.Before == 0 {
			p.line("the client compacted at %s: what was before is not in the file, summary %s", b.Message, Thousands(b.Summary))
			continue
		}
		p.line("the client compacted at %s: %s before, %s after, summary %s", b.Message, Count(b.Before, "token"), Thousands(b.After), Thousands(b.Summary))
	}
}

// left writes a table whose last cell is left-aligned: numbers first, then words.
func (p *printer) left(title string, rows []string) {
	var widths [2]int
	for _, r := range rows {
		for i, cell := range strings.Split(r, "\t")[:2] {
			widths[i] = max(widths[i], len(cell))
		}
	}
	if len(rows) > 0 {
		p.line("\n%s", title)
	}
	for _, r := range rows {
		c := strings.Split(r, "\t")
		p.line("  %*s  %*s  %s", widths[0], c[0], widths[1], c[1], c[2])
	}
}

// shorten keeps the end of a path that is longer than n characters: the end tells files apart.
func shorten(s string, n int) string {
	r := []rune(s)
	if n < 8 || len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

func (in *Inspection) money(p *printer) {
	if in.Requests == 0 {
		return
	}
	u := in.Usage
	p.line("\n%s with recorded usage: %s prompt tokens, %.1f%% from the cache, %s written to it, %s output",
		Count(in.Requests, "request"), Thousands(u.Prompt()), 100*u.CacheHit, Thousands(u.CacheWrite), Thousands(u.Output))
	if u.Priced {
		p.line("cost: $%.2f at the prices of the days of the answers; an answer counts by its text where less was recorded", u.CostUSD)
	} else {
		p.line("cost: unknown, the catalogue has no prices for %s", strings.Join(in.Models, ", "))
	}
}
