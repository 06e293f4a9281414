package scan

import (
	"strings"
	"time"
	"unicode"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/typed"
)

// A sentence is one sentence that the person typed.
type sentence struct {
	ID      string    // see identity
	Message int       // number of the message
	Time    time.Time // zero when unknown
	Text    string
	First   bool // it begins a message that answers the model
}

// Limits, in bytes, of what counts as typed. People paste reviews, logs and plans into their messages; what
// they type is shorter.
const (
	maxTyped     = 1500 // of a message; in a longer one only the first and last paragraph count
	maxParagraph = 600
	maxEdge      = 280 // of the first and last paragraph of a long message

	manyParagraphs = 4 // so many make a message of more than maxParagraph long

	minQuote = 32 // from this length a sentence that others wrote before is a quotation
)

// said returns the sentences that the person typed in a conversation, each once. What programs typed in the person's
// place is not said.
func said(c *decant.Conversation) (out []sentence) {
	seen := map[string]bool{}
	answered := false
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == decant.RoleAssistant {
			answered = true
		}
		first := answered
		for j := range m.Blocks {
			b := &m.Blocks[j]
			if b.Kind != decant.KindText || b.Author != decant.AuthorUser || m.Compaction || m.Scripted {
				continue
			}
			for _, text := range sentences(typedIn(typed.Words(c.Agent, b.Text()))) {
				if key := strings.ToLower(text); !seen[key] {
					seen[key] = true
					out = append(out, sentence{identity(m), m.Number, m.Time, text, first})
				}
				first = false
			}
		}
	}
	return unquoted(c.Messages, out)
}

// unquoted leaves out sentences that others wrote earlier in the conversation. It only looks up possible orders.
func unquoted(ms []decant.Message, all []sentence) []sentence {
	var before others
	out := all[:0]
	for _, s := range all {
		if len(s.Text) < minQuote || !heard(s.Text) || !before.have(ms, &s) {
			out = append(out, s)
		}
	}
	return out
}

// others is what others than the person wrote before a message.
type others struct {
	texts []string
	next  int // index of the message that is read next
}

// have reports whether others wrote s before.
func (o *others) have(ms []decant.Message, s *sentence) bool {
	for ; o.next < len(ms) && ms[o.next].Number < s.Message; o.next++ {
		for j := range ms[o.next].Blocks {
			if b := &ms[o.next].Blocks[j]; b.Author != decant.AuthorUser && b.Content != nil {
				o.texts = append(o.texts, b.Text())
			}
		}
	}
	for _, t := range o.texts {
		if strings.Contains(t, s.Text) {
			return true
		}
	}
	return false
}

var (
	fence    = lazyregexp.New("(?s)```.*?(```|$)")
	element  = lazyregexp.New(`(?s)<([a-z][a-z0-9_-]{2,})(?:\s[^<>\n]*)?>.*?</([a-z][a-z0-9_-]+)>`)
	unclosed = lazyregexp.New(`(?s)<(?:system-reminder|[a-z]+-hook|[a-z]+(?:-[a-z]+)*-(?:context|reminder|stdout|stderr|output))\b.*$`)
	logLine  = lazyregexp.New(`^\W*(\d{4}-\d\d-\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d\d:\d\d:\d\d|(ERROR|WARN|INFO|DEBUG|FAIL|PASS|Error|error|fatal|hint|warning|note|panic|Traceback|goroutine)\b[ :]|[\w./-]+:\d+(:\d+)?:|---|===|\+\+\+|@@|at )`)
	place    = lazyregexp.New(`(?m)^\S+\.\w+:\d+(-\d+)?$`)
	label    = lazyregexp.New(`^[A-Za-z-]{3,30}: <?[A-Za-z]`)
)

// typedIn returns what the person typed of a message: without code, elements, quotations, logs, documents and
// long passages.
func typedIn(text string) string {
	for _, plan := range [...]string{"Implement the following plan:", "Operation stopped by hook:", "Stop hook feedback:", "[Request interrupted"} {
		text, _, _ = strings.Cut(text, plan)
	}
	text = fence.ReplaceAllString(text, "\n")
	text = element.ReplaceAllString(text, "\n")
	text = unclosed.ReplaceAllString(text, "")
	if place.MatchString(text) { // a review of a line of a file
		return ""
	}
	var out []string
	paragraphs := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	for i, p := range paragraphs {
		edge := i == 0 || i == len(paragraphs)-1
		if long := len(text) > maxTyped || len(paragraphs) >= manyParagraphs && len(text) > maxParagraph; long && (!edge || len(p) > maxEdge) || len(p) > maxParagraph && len(paragraphs) > 1 {
			continue
		}
		lines, document := own(p)
		if document {
			break
		}
		if len(lines) > 0 {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

// own returns the person's prose in a paragraph. A heading begins a pasted document.
func own(paragraph string) (lines []string, document bool) {
	for line := range strings.Lines(paragraph) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "# ") || strings.HasPrefix(trimmed, "## ") || strings.HasPrefix(trimmed, "### "):
			return lines, true
		case strings.HasSuffix(strings.ToLower(trimmed), "feedback:") || strings.HasSuffix(trimmed, "this is the console:"):
			return lines, true
		case trimmed != "" && !pasted(line, trimmed):
			lines = append(lines, trimmed)
		}
	}
	return lines, false
}

// marks begin printed or quoted lines.
const marks = ">│❯⏺⎿➜|{}[]$%✓✗●┌└├╭╰\"'#@"

// pasted reports whether a line was printed by a program or quoted.
func pasted(line, trimmed string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || logLine.MatchString(trimmed) || label.MatchString(trimmed) {
		return true
	}
	if strings.ContainsRune(marks, []rune(trimmed)[0]) || strings.Count(trimmed, "=") > 2 || strings.Contains(trimmed, "\x1b") {
		return true
	}
	letters, n := 0, 0
	for _, r := range trimmed {
		n++
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return letters*10 < n*6
}

// ends puts each sentence of prose on a line of its own.
var ends = strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ", "?\n", "。", "。\n", "！", "！\n", "？", "？\n", "; ", "\n")

// sentences splits prose.
func sentences(text string) (out []string) {
	for s := range strings.Lines(ends.Replace(text)) {
		s = strings.TrimLeft(strings.TrimSpace(s), "-*• ")
		if n := len([]rune(s)); n >= 3 && len(s) <= 400 {
			out = append(out, s)
		}
	}
	return out
}
