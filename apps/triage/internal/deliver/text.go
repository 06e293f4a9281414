package deliver

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// How long texts may be, in characters. GitHub refuses bodies of more than 65,536, and titles of more than 256; Slack cuts messages behind
// 4,000 in some places.
const (
	mostTitle = 180
	mostBody  = 60_000
	mostPatch = 20_000
	mostSaid  = 3_800
	mostLine  = 300
)

// cut returns at most n characters of a text.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// end returns at most the last n characters of a text.
func end(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return text
}

// quiet returns Markdown as report writes it without mentions of people and links to other issues: a comment between the sign and the name
// makes them text.
func quiet(text string) string {
	return strings.NewReplacer(`\@`, "@<!-- -->", `\#`, "#<!-- -->").Replace(text)
}

// titleOf returns the title of an issue.
func titleOf(e *ReportedError) string {
	text := e.Name()
	if line := strings.TrimSpace(strings.SplitN(e.Message, "\n", 2)[0]); line != "" {
		text += ": " + line
	}
	return cut(strings.Join(strings.Fields(text), " "), mostTitle)
}

// issueText returns the body of an issue, without its mark.
func issueText(rep *Report, e *ReportedError, proof string) string {
	text := quiet(e.Body())
	if e.Finding.Patch != "" {
		text += "\n\nA patch that was suggested. " + cmp.Or(proof, "Nobody has tried it.") + "\n\n" + Fence(cut(e.Finding.Patch, mostPatch))
	}
	text = cut(text, mostBody)
	return text + fmt.Sprintf("\n\n---\nFound by decant triage, run %s. Close it as completed if that was the cause, as not planned if it was not: later runs learn from it.", rep.Run) + simulated(rep)
}

func simulated(rep *Report) string {
	if rep.Simulated {
		return " The model is a stand-in: what it finds says nothing about what a real one would."
	}
	return ""
}

// again returns the comment on the issue of an error that has happened again.
func again(rep *Report, e *ReportedError, o *ours) string {
	text := fmt.Sprintf("It happened again: %s, last %s.", e.Happened(), e.Last.UTC().Format("2006-01-02 15:04 MST"))
	if !o.open {
		text = fmt.Sprintf("**This error is back.** The issue was closed on %s; since then it has happened: %s, last %s.", o.closed.UTC().Format("2006-01-02"), e.Happened(), e.Last.UTC().Format("2006-01-02 15:04 MST"))
		text += " Reopen the issue if it is not another cause."
	}
	if e.Release != "" {
		text += " Release " + quiet(Plain(e.Release)) + "."
	}
	if f := e.Finding; f != nil && f.Cause != "" {
		text += "\n\nThis run has found (" + strings.ToLower(e.Verdict()) + "): " + quiet(Plain(f.Cause))
	}
	return cut(text, mostBody) + fmt.Sprintf("\n\n(decant triage, run %s)", rep.Run)
}

// said returns text in which nothing is markup of Slack: no mention, no link.
func said(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'", "*", "∗", "~", "∼").Replace(cut(text, mostLine))
}

// links are the addresses of issues by the numbers of errors, and of the pull request.
type links struct {
	issues map[int]string
	pull   string
	number int // of the error that the pull request is about
}

// of returns what is linked of an error.
func (l *links) of(number int) (text string) {
	if u := l.issues[number]; u != "" {
		text += fmt.Sprintf(" <%s|issue>", u)
	}
	if l.pull != "" && l.number == number {
		text += fmt.Sprintf(" <%s|draft of a fix>", l.pull)
	}
	return text
}

// runText returns the message about a run, in Slack's markup.
func runText(rep *Report, l *links, threads bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*Triage of %s*\n%s\n", rep.Until.UTC().Format("2006-01-02 15:04 MST"), said(rep.Headline()))
	left := 0
	for i := range rep.Errors {
		e := &rep.Errors[i]
		line := fmt.Sprintf("• *%d.* %s (%s): %s%s\n", e.Number, said(e.Title()), e.Happened(), said(e.Verdict()), l.of(e.Number))
		if e.Finding == nil || utf8.RuneCountInString(b.String()+line) > mostSaid-600 {
			left++
			continue
		}
		b.WriteString(line)
		if f := e.Finding; !threads && f.Cause != "" {
			fmt.Fprintf(&b, "   %s\n", said(f.Cause))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "%d more, among them what is known and goes on as before.\n", left)
	}
	for _, n := range rep.Notices[:min(len(rep.Notices), 3)] {
		fmt.Fprintf(&b, "_%s_\n", said(n))
	}
	fmt.Fprintf(&b, "%s Run %s.", said(rep.Spent()), rep.Run)
	return cut(b.String(), mostSaid)
}

// errorText returns the reply about an error, in Slack's markup.
func errorText(e *ReportedError, l *links) string {
	f := e.Finding
	var b strings.Builder
	fmt.Fprintf(&b, "*%d. %s*\n", e.Number, said(e.Title()))
	if e.Message != "" {
		fmt.Fprintf(&b, "> %s\n", said(strings.SplitN(e.Message, "\n", 2)[0]))
	}
	fmt.Fprintf(&b, "*%s.* %s\n", said(e.Verdict()), said(cmp.Or(f.Cause, f.Error)))
	for i, v := range f.Evidence[:min(len(f.Evidence), 5)] {
		place := fmt.Sprintf("%s:%d", said(v.Path), v.Line)
		if i < len(e.Links) && e.Links[i] != "" {
			place = fmt.Sprintf("<%s|%s>", e.Links[i], place)
		}
		fmt.Fprintf(&b, "• %s `%s`\n", place, cut(said(v.Text), 120))
	}
	if s := f.Suspect; s != nil {
		fmt.Fprintf(&b, "Brought by commit %.12s: %s\n", s.SHA, said(s.Why))
	}
	if f.Fix != "" {
		fmt.Fprintf(&b, "Fix: %s\n", said(f.Fix))
	}
	if e.Owner != "" {
		fmt.Fprintf(&b, "Owner: %s\n", said(strings.ReplaceAll(e.Owner, "@", "@\u200b")))
	}
	if at := l.of(e.Number); at != "" {
		b.WriteString(strings.TrimSpace(at) + "\n")
	}
	return cut(b.String(), mostSaid)
}

// pullText returns the body of a pull request, without its mark.
func pullText(rep *Report, e *ReportedError, issue string) string {
	text := quiet(Plain(e.Finding.Cause)) + "\n\n"
	if issue != "" {
		text += "For " + issue + "\n\n"
	}
	text += "A model has written this; a person has to read it. Checked by decant: it applies to the commit that ran, the repository builds, its tests pass, and the new test fails without the fix."
	return text + fmt.Sprintf("\n\nFound by decant triage, run %s.", rep.Run) + simulated(rep)
}
