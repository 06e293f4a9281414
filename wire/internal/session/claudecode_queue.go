package session

import (
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/wire/internal/source"
)

// queueOperation is the type of the lines that tell what happens to the queue.
const queueOperation = `"queue-operation"`

// A claudeQueue is what the user typed while the agent worked. It waits in the client's queue. From there the client
// gives it to the model beside the next results, sends it as an ordinary message, or the user takes it back.
//
// Newer clients log what they give to the model as an attachment. Of others only the lines of the queue tell.
type claudeQueue struct {
	attached map[string]int // words on attachments, by how often they stand there
	waiting  []claudeWords
	given    []claudeWords // to the model, behind the results that come next
	leaving  bool          // one of those waiting is sent as an ordinary message
	off      bool          // the newest message is on a branch that the user left
	lines    []int         // records of the queue that tell of what was given
}

// claudeWords is a message in the queue.
type claudeWords struct {
	claudeLine
	text  string
	given time.Time // when the model got it
}

// attachment makes the line of an attachment that holds the user's words a line of a message.
func (p *claudeParser) attachment(l *claudeLine) bool {
	if l.attachment.IsZero() || !p.Is(l.kind, `"attachment"`) {
		return false
	}
	m := p.Members(l.attachment, "type", "prompt", "commandMode", "origin", "isMeta")
	mode := p.Decoded(m[2])
	if !p.Is(m[0], `"queued_command"`) || mode != "" && mode != "prompt" || !p.person(m[3]) || p.Is(m[4], "true") {
		return false
	}
	text := p.prompt(m[1])
	if text != "" && !person(text) {
		return false
	}
	l.content = m[1]
	p.queue.attached[text]++
	return true
}

// prompt returns the text of a prompt, a string or a list of parts.
func (p *claudeParser) prompt(v jsonspan.Span) string {
	if v.IsZero() || p.Src[v.Start] == '"' {
		return strings.TrimSpace(p.Decoded(v))
	}
	var texts []string
	for _, part := range p.List(v) {
		if t := p.Find(part, "text"); !t.IsZero() {
			texts = append(texts, p.Decoded(t))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// queued takes in a line of the queue.
func (p *claudeParser) queued(l *claudeLine) {
	q := &p.queue
	text := strings.TrimSpace(p.Decoded(l.words))
	switch p.Decoded(l.operation) {
	case "enqueue":
		again := p.seen(p.Records[l.record].At) // in a log that holds its lines twice
		if !again && (l.words.IsZero() || person(text)) {
			q.waiting = append(q.waiting, claudeWords{claudeLine: *l, text: text})
		}
	case "dequeue":
		if len(q.waiting) > 0 && strings.HasPrefix(q.waiting[0].text, "/") {
			q.waiting = q.waiting[1:] // a command: the log shows what it does
			return
		}
		q.leaving = true
	case "remove":
		if text != "" && !person(text) {
			return
		}
		reason := p.Decoded(l.reason)
		if w, ok := q.take(text); ok && (reason == "" || reason == "absorbed_mid_turn") {
			w.given = p.Time(l.time)
			p.give(w, l)
		}
	case "popAll", "popOne":
		q.take(text)
	}
}

// person reports whether a person typed a text in the queue, where notes about tasks stand, too.
func person(text string) bool {
	return text != "" && !strings.HasPrefix(text, `{"task_id":`) && source.AuthorOf(typed.ClaudeCode, text) == decant.AuthorUser
}

// take takes a text from those waiting, the oldest where the log does not say which.
func (q *claudeQueue) take(text string) (w claudeWords, ok bool) {
	i := 0
	if text != "" {
		i = max(0, slices.IndexFunc(q.waiting, func(w claudeWords) bool { return w.text == text }))
	}
	if i >= len(q.waiting) {
		return w, false
	}
	w = q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return w, true
}

// give notes words that the model got, as line l says.
func (p *claudeParser) give(w claudeWords, l *claudeLine) {
	q := &p.queue
	switch {
	case w.text == "": // an image, which the log does not hold
		return
	case q.off:
		p.gone.Add(l.record)
	case q.attached[w.text] > 0:
		q.attached[w.text]--
	default:
		w.content, w.time = w.words, l.time
		q.given = append(q.given, w)
	}
	q.lines = append(q.lines, w.record, l.record)
}

// settle makes messages of what was given before line l, a message or a boundary, where it stands there: behind the
// results, which may be written after it, and before what the model says next or the user types.
func (p *claudeParser) settle(l *claudeLine) {
	q := &p.queue
	if q.off = false; len(q.given) == 0 && !q.leaving {
		return
	}
	switch {
	case p.Is(l.kind, `"assistant"`):
		_, more := p.answers[p.Decoded(l.id)]
		at := p.Time(l.time)
		for !more && len(q.given) > 0 && (at.IsZero() || !at.Before(q.given[0].given)) {
			p.say(1)
		}
	case p.Is(l.kind, `"user"`):
		if text, ok := p.saidOn(l); ok {
			q.sent(text)
			p.say(len(q.given))
		}
	default:
		p.say(len(q.given))
	}
}

// say makes messages of the first n texts that were given.
func (p *claudeParser) say(n int) {
	q := &p.queue
	for _, w := range q.given[:n] {
		p.groups = append(p.groups, claudeGroup{role: decant.RoleUser, lines: []claudeLine{w.claudeLine}})
	}
	q.given = q.given[n:]
}

// sent notes an ordinary message of the user: it may be one that waited, or several in one.
func (q *claudeQueue) sent(text string) {
	if !q.leaving || len(q.waiting) == 0 {
		return
	}
	q.leaving = false
	n := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(w claudeWords) bool { return strings.Contains(text, w.text) })
	if len(q.waiting) == n {
		q.waiting = q.waiting[1:] // in other words, as the client completes them
	}
}

// unqueue makes messages that stand only in lines of the queue ordinary new ones: a client that goes on from a new file
// does not read its queue.
func (c *claudeWriter) unqueue(lines []int) {
	queued := map[int]bool{} // by number, whether the message stays
	for _, rec := range lines {
		for _, i := range c.held[rec] {
			queued[c.Items[i].Owner], c.keep[i] = c.keep[i], false
		}
		c.held[rec], c.left[rec] = nil, false
	}
	var before []*decant.Message
	for i := range c.View.Messages {
		m := &c.View.Messages[i]
		if m.Number == 0 {
			continue
		}
		before = append(before, c.fresh[m.Number]...)
		delete(c.fresh, m.Number)
		stays, is := queued[m.Number]
		switch {
		case stays:
			before = append(before, m)
		case !is && len(before) > 0:
			c.fresh[m.Number], before = before, nil
		}
	}
	if before = append(before, c.fresh[0]...); len(before) > 0 {
		c.fresh[0] = before
	}
}
