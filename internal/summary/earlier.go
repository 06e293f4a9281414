package summary

import (
	"slices"
	"strconv"
	"strings"

	"github.com/decantdev/decant/internal/tool"
)

// fold takes in an earlier record of Decant's: each statement becomes again what it was made from, with the
// number of its message, to be said again or left out like any other. It returns false if the text is not a
// record.
func (r *reader) fold(i int, body string) bool {
	at := strings.Index(body, mark)
	if at < 0 || at > 0 && body[at-1] != '\n' {
		return false
	}
	f := folder{in: r, index: i}
	for line := range strings.Lines(body[at:]) {
		f.line(strings.TrimRight(line, "\n"))
		if f.sec == sections { // the rest is not part of the record
			break
		}
	}
	f.end()
	return true
}

// A folder reads an earlier record line by line.
type folder struct {
	in     *reader
	index  int
	sec    section
	number int
	open   []string // lines of the text that is being read
}

func (f *folder) line(s string) {
	switch {
	case strings.HasPrefix(s, mark):
		f.covers(s[len(mark):])
	case strings.HasPrefix(s, "# "):
		f.end()
		f.sec, f.number = sectionNamed(s[2:]), 0
		f.in.model = f.in.model || f.sec != secMeeting // which needs no other section
		f.in.worked = f.in.worked || f.sec == secSaid || f.sec == secFiles
	case strings.HasPrefix(s, indent) && f.sec != secQuotes:
		f.open = append(f.open, s[len(indent):])
	case f.sec == secFiles:
		if path, past, ok := strings.Cut(s, ": "); ok {
			f.in.history = append(f.in.history, [2]string{path, past})
		}
	case f.sec == secQuotes:
		f.quote(s)
	case f.sec == secPlan:
		f.task(s)
	case isMarker(s):
	default:
		f.statement(s)
	}
}

// isMarker reports whether s is a line that a preset puts around a summary: "[END OF SUMMARY]".
func isMarker(s string) bool {
	return strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") && s == strings.ToUpper(s)
}

// covers reads which messages the earlier record was made from.
func (f *folder) covers(s string) {
	from, rest := messageNumber(strings.Replace(s, "-", " ", 1))
	to, _ := messageNumber(strings.Replace(strings.Replace(rest, ",", " ", 1), "，", " ", 1))
	if from > 0 && (f.in.from == 0 || from < f.in.from) {
		f.in.from = from
	}
	f.in.to = max(f.in.to, to)
}

// statement takes in a line of prose. One that begins with a number begins another text.
func (f *folder) statement(s string) {
	if n, rest := messageNumber(s); n > 0 {
		f.end()
		f.number, s = n, rest
	}
	f.open = append(f.open, s)
}

// end takes in the text that was read.
func (f *folder) end() {
	if len(f.open) == 0 {
		return
	}
	body := strings.Join(f.open, "\n")
	f.open = nil
	t := text{index: f.index, number: f.number, body: body, retold: true}
	switch f.sec {
	case secUser, secRules:
		if t.standing = f.sec == secRules; t.standing && f.said(body) {
			return
		}
		t.author = byUser
	case secAnswers:
		q, a, ok := strings.Cut(body, "\n")
		if !ok {
			return
		}
		t.author, t.question, t.body = byAnswer, afterColon(q), afterColon(a)
	case secHandles:
		f.in.handles.retell(f.number, body)
		return
	case secState, secLast:
		f.outcome(body)
		return
	case secDone:
		t.author = byOutcome
	case secMeeting:
		t.author = byUser
	case secTalk, secSaid, secEarlier, secDecided, secOpen:
		t.author, t.closing = byModel, true
	default:
		return
	}
	f.in.texts = append(f.in.texts, &t)
}

// said reports whether the user's words in the record have a rule already.
func (f *folder) said(rule string) bool {
	return slices.ContainsFunc(f.in.texts, func(t *text) bool {
		return t.author == byUser && strings.Contains(t.body, rule)
	})
}

func afterColon(s string) string {
	if _, rest, ok := strings.Cut(s, ": "); ok {
		return rest
	}
	_, rest, _ := strings.Cut(s, "：")
	return rest
}

// outcome takes in the outcome of a command as the record has it.
func (f *folder) outcome(body string) {
	first, _, _ := strings.Cut(body, "\n")
	title, how, ok := cutLast(first, " → ")
	if !ok {
		return
	}
	a := &act{
		index: f.index, number: f.number, done: true, said: body,
		failed: strings.Contains(how, "failed") || strings.Contains(how, "exit"),
	}
	a.Command, _ = strings.CutPrefix(title, "$ ")
	a.Class, a.Effect = tool.Shell, tool.Shell
	f.in.acts = append(f.in.acts, a)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// task takes in a line of the plan.
func (f *folder) task(s string) {
	n, rest := messageNumber(s)
	if n > 0 {
		f.in.planned.number = n
		done, _ := strconv.Atoi(rest[:max(0, strings.IndexByte(rest, ' '))])
		f.in.planned.tasks = nil
		for range done {
			f.in.planned.tasks = append(f.in.planned.tasks, &task{state: "done"})
		}
		return
	}
	s, ok := strings.CutPrefix(s, "- ")
	t := &task{}
	if id, rest, has := strings.Cut(s, " ["); has && strings.HasPrefix(id, "#") {
		t.id, s = id[1:], "["+rest
	}
	state, text, closed := strings.Cut(strings.TrimPrefix(s, "["), "] ")
	if ok && closed {
		t.state, t.text = state, text
		f.in.planned.tasks = append(f.in.planned.tasks, t)
	}
}

// quote takes in a heading or a line of the quotes.
func (f *folder) quote(s string) {
	line, ok := strings.CutPrefix(s, indent)
	switch k := len(f.in.quotes); {
	case !ok:
		f.in.quotes = append(f.in.quotes, &quoted{head: s, index: f.index})
	case k > 0:
		f.in.quotes[k-1].lines = append(f.in.quotes[k-1].lines, line)
	}
}
