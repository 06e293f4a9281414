package summary

import (
	"path"
	"strings"

	"github.com/decantdev/decant"
)

// A concluder takes in what the model said: its conclusions, not its narration.
type concluder struct {
	book  *book
	tasks []*task         // of the plan
	gone  map[string]bool // files that are gone in the end, see undone
}

// takeConclusions takes in what the model said.
func (b *book) takeConclusions(tasks []*task, files []*file) {
	c := concluder{book: b, tasks: tasks, gone: undone(files)}
	for i, t := range b.src.texts {
		switch t.author {
		case byModel:
			if b.talk {
				c.chat(t)
				continue
			}
			c.work(t, c.correction(i))
		case byEarlier:
			c.earlier(t)
		}
	}
	c.newestList()
	c.approvals()
}

// approved is how Claude Code begins the result of a plan that the user approved.
const approved = "User has approved your plan."

// approvals takes in the plans that the user approved: they are decisions, although no text calls them so.
func (c *concluder) approvals() {
	for _, a := range c.book.src.acts {
		if a.Name != "ExitPlanMode" || a.failed || !strings.HasPrefix(a.result, approved) {
			continue
		}
		for _, ln := range lines(a.named("plan")) {
			if title := strings.TrimLeft(ln, "# "); title != "" {
				c.book.add(entry{sec: secDecided, group: c.book.heading("", a.index), number: a.number, line: -1, must: mustPlan,
					text: c.book.say("plan approved by the user: ", "用户批准的计划：") + title})
				break
			}
		}
	}
}

// askVoice is how much the words of a question count that the model asks in a chat: it is there to keep the
// talk going.
const askVoice = .2

// chat takes in what the model said in a talk sentence by sentence.
func (c *concluder) chat(t *text) {
	g, seen := c.book.message(t), map[int32]bool{}
	for p := range pieces(t.body) {
		for _, s := range apart(p) {
			n := c.book.lex.line(s, true)
			if seen[n] { // said again
				continue
			}
			seen[n] = true
			c.book.lex.see(n, t.index, decant.AuthorModel)
			e := entry{sec: secTalk, group: g, text: s, line: n, value: lineValue, voice: plainVoice, number: t.number}
			if empty(s) {
				continue
			}
			if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
				e.voice = askVoice
			}
			c.book.add(e)
		}
	}
}

// work takes in the lines of a text of the model's that say what it found out, did or decided.
func (c *concluder) work(t *text, corrected map[int32]bool) {
	g := c.book.message(t)
	for s, kind := range marked(t.body) {
		n := c.book.lex.line(s, true)
		c.book.lex.see(n, t.index, decant.AuthorModel)
		if narrates(s) && !t.closing || empty(s) && len(c.book.lex.of(n)) == 0 ||
			overlaps(c.book.lex.of(n), corrected) || c.obsolete(n) {
			continue
		}
		e := entry{
			sec: secSaid, group: g, text: s, line: n, value: findingValue, voice: plainVoice, number: t.number,
			warm: cold(t.index, c.book.present),
		}
		if t.closing {
			e.value, e.voice = closingValue, closingVoice
		}
		e.value *= float32(c.fresh(t.index))
		c.settle(&e, t, kind)
		c.book.add(e)
	}
}

// settle moves a decision or an open item to its section. What the model meant to do while it worked is no
// open item: it did it at once.
func (c *concluder) settle(e *entry, t *text, kind decant.FactKind) {
	switch {
	case kind == decant.FactDecision:
		e.sec, e.must = secDecided, mustPlan
	case kind != decant.FactOpen || c.settledLater(e.text, e.line, t.index):
	case t.author == byEarlier && c.book.src.messages-t.index <= staleAfter:
		e.sec, e.must = secOpen, mustPlan
		e.text = c.book.say("by the client's summary, open then: ", "据客户端摘要，当时未完成：") + strings.TrimLeft(e.text, "-*• ")
	case t.closing && t.author == byModel:
		e.sec, e.must = secOpen, mustPlan
	}
}

// staleAfter is after how many messages of work a summary's list of open items is only what was open then.
const staleAfter = 40

// fresh returns 1 for the last message and less for older ones: half for one a hundred messages back.
func (c *concluder) fresh(index int) float64 {
	return 100 / (100 + float64(max(c.book.src.messages-index, 0)))
}

// narrations are the beginnings of lines that say what the model is about to do or how it feels: what the
// calls behind them show better.
var narrations = []string{
	"let me ", "let's ", "now let me ", "now let's ", "now i'll ", "now i ", "i'll ", "i will ",
	"i'm going to ", "i need to ", "i should ", "first, let me ", "next, i", "next, let", "good", "great",
	"perfect", "excellent", "ok", "okay", "alright", "sure", "right", "understood", "you're right",
	"you are right",
	"now ", "all good", "looking at", "checking", "running", "reading", "searching", "done", "yes", "here's ",
	"here is ", "time to ", "next ", "then i", "also ", "and now",
	"让我", "现在", "好的", "我来", "我将", "接下来",
}

// narrates reports whether a line is narration: short, and beginning like it.
func narrates(s string) bool {
	if len(s) > 160 {
		return false
	}
	low := strings.ToLower(strings.TrimLeft(s, "#*-> "))
	for _, p := range narrations {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "...")
}

// corrections are the beginnings of texts in which the model takes back what it said before.
var corrections = []string{
	"wait", "actually", "no,", "hmm", "that's not", "that is not", "i was wrong", "my mistake", "never mind",
	"on second thought", "scratch that", "oh,", "不对", "等等",
}

// empty reports whether a line is too short to say something by itself.
func empty(s string) bool { return len(strings.Fields(s)) < fewWords && s[0] < 0xe0 }

// correction returns the facts of the first lines of the model's next text, if that takes back what text i
// says, or of the user's next one, if that does.
func (c *concluder) correction(i int) map[int32]bool {
	if i+1 >= len(c.book.src.texts) {
		return nil
	}
	next := c.book.src.texts[i+1]
	low := strings.ToLower(next.body[:min(len(next.body), 40)])
	for _, mark := range corrections {
		if strings.HasPrefix(low, mark) {
			return c.factsOf(next.body)
		}
	}
	return nil
}

// factsOf returns the facts in the first lines of a text.
func (c *concluder) factsOf(body string) map[int32]bool {
	out := map[int32]bool{}
	rest := 3
	for s := range pieces(body) {
		if rest--; rest < 0 {
			break
		}
		for _, id := range c.book.lex.of(c.book.lex.line(s, true)) {
			out[id] = true
		}
	}
	return out
}

func overlaps(ids []int32, set map[int32]bool) bool {
	for _, id := range ids {
		if set[id] {
			return true
		}
	}
	return false
}

// undone returns the files that are gone in the end or were put back as they were, by their names with and
// without folders.
func undone(files []*file) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		if f.undone() {
			out[f.path] = true
			out[path.Base(f.path)] = true
		}
	}
	return out
}

// obsolete reports whether a line is about files that are gone, and about no other.
func (c *concluder) obsolete(n int32) bool {
	about := false
	for _, id := range c.book.lex.of(n) {
		switch f := &c.book.lex.facts[id]; {
		case c.gone[f.text]:
			about = true
		case f.kind == decant.FactPath && !f.Inner:
			return false
		}
	}
	return about
}
