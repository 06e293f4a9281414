package summary

import (
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// A handle is something that an agent has started, made or left for later and that nothing has ended since. Who has lost
// its name starts a second one, or cannot get at it at all.
type handle struct {
	tool.Handle
	number int
	call   tool.Call // that has opened it
	title  string    // the call, in short
	said   string    // its line in an earlier record
	result decant.Handle
	ended  bool
}

// handles are those of a source, in order.
type handles struct {
	all  []*handle
	byID map[string]*handle // that are open
}

// open takes in what a call has opened. What has been opened already, and is named again, is the same.
func (h *handles) open(a *act, result decant.Handle) {
	for _, found := range a.Handles(a.raw, &a.outcome) {
		if old := h.byID[found.ID]; old != nil {
			continue
		}
		h.add(&handle{Handle: found, number: a.number, call: a.Call, title: clip(a.title(), titleBytes), result: result})
	}
	a.raw = ""
}

// retell takes in the line of a handle in an earlier record.
func (h *handles) retell(number int, said string) {
	id, what, _ := strings.Cut(said, " ")
	x := &handle{Handle: tool.Handle{ID: id}, number: number, said: said}
	switch {
	case strings.HasPrefix(what, "has the output"):
		x.Kind = tool.Output
	case strings.HasPrefix(what, "is open: "):
		x.Kind = tool.Created
		x.call.Name, _, _ = strings.Cut(strings.TrimPrefix(what, "is open: "), " ")
	case strings.HasPrefix(what, "still runs: "):
		_, x.Path, _ = strings.Cut(what, "; output in ")
	}
	h.add(x)
}

func (h *handles) add(x *handle) {
	if h.byID == nil {
		h.byID = map[string]*handle{}
	}
	h.all, h.byID[x.ID] = append(h.all, x), x
	for _, id := range x.Also {
		h.byID[id] = x
	}
}

// named returns the open handles that a call names in its arguments.
func (h *handles) named(a *act) (out []*handle) {
	if len(h.byID) == 0 {
		return nil
	}
	for _, v := range a.values {
		if x := h.byID[strings.TrimSpace(v.text)]; x != nil {
			out = append(out, x)
		}
	}
	for _, w := range strings.FieldsFunc(a.Command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&'\"", r) }) {
		if x := h.byID[w]; x != nil {
			out = append(out, x)
		}
	}
	return out
}

// follow takes in what a call that has ended came to for the handles that it names. What a poll says of a command in the
// background is that command's outcome.
func (h *handles) follow(a *act) {
	for _, x := range h.named(a) {
		ended := a.outcome.Status != tool.Started && (a.outcome.HasExit || a.outcome.Ended)
		if ended && x.call.Command != "" && a.Command == "" && a.Class == tool.Shell {
			name := a.Name
			a.Call, a.Name = x.call, name
			a.outcome = tool.OutcomeOf(a.Call, a.raw, a.failed)
			a.failed = a.outcome.Bad()
			h.end(x)
			continue
		}
		switch {
		case x.Kind == tool.Output:
		case a.Command != "" && x.call.Name != "":
			if !a.failed && kills(a.Command) {
				h.end(x)
			}
		case x.Kind == tool.Running && a.Class == tool.Shell && ended:
			h.end(x)
		case !a.failed && a.Ends(x.call.Name, a.states()):
			h.end(x)
		}
	}
}

// kills reports whether a command ends what it names.
func kills(command string) bool {
	for _, s := range [...]string{"kill ", " stop ", " rm ", " down", "delete ", "cancel "} {
		if strings.Contains(command, s) {
			return true
		}
	}
	return false
}

// states returns what the arguments and the result of a call say of the state of what it is about.
func (a *act) states() (out []string) {
	for _, v := range a.values {
		if n := strings.ToLower(v.name); n == "status" || n == "state" || n == "transition" || n == "stage" {
			out = append(out, v.text)
		}
	}
	for _, s := range a.outcome.Telling {
		if name, value, ok := strings.Cut(s, "="); ok && (name == "status" || name == "state") {
			out = append(out, value)
		}
	}
	return out
}

// endings are the words by which a client says that something has ended.
var endings = [...]string{"completed", "exited", "killed", "stopped", "failed", "finished", "ended", "terminated", "cancelled", "done"}

// hear takes in what a client says of open handles: that they have ended. It returns what came of their commands.
func (h *handles) hear(body string, index, number int) (came []*act) {
	if len(h.byID) == 0 || !hasAny(body, endings[:]) {
		return nil
	}
	last := 0
	for at, w := range identifiers(body) {
		x := h.byID[w]
		if x == nil || x.Kind == tool.Output {
			continue
		}
		from := max(last, at-120, strings.LastIndexByte(body[:at], '\n'))
		rest := body[at+len(w):]
		rest = rest[:min(len(rest), 400)]
		if next := strings.Index(rest, "task-id>"); next > 0 && strings.Contains(rest[next+8:], "task-id>") {
			rest = rest[:strings.LastIndex(rest, "<task-id>")]
		}
		said := rest
		if status := between(rest, "<status>", "</status>"); status != "" {
			rest = status
		} else if end := strings.Index(rest, "\n\n"); end >= 0 {
			rest = rest[:end]
		}
		if last = at + len(w); !hasAny(body[from:at], endings[:]) && !hasAny(rest, endings[:]) {
			continue
		}
		h.end(x)
		if _, status, ok := strings.Cut(said, "exit code"); ok && x.call.Command != "" {
			status = strings.TrimLeft(status, ": ")
			status = status[:len(status)-len(strings.TrimLeft(status, "0123456789"))]
			a := &act{Call: x.call, index: index, number: number, done: true}
			a.outcome = tool.OutcomeOf(x.call, "Exit code "+status, false)
			a.failed = a.outcome.Bad()
			came = append(came, a)
		}
	}
	return came
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func between(s, from, to string) string {
	_, rest, _ := strings.Cut(s, from)
	out, _, ok := strings.Cut(rest, to)
	if !ok {
		return ""
	}
	return out
}

// identifiers yields the words of a text that may be identifiers, and where they are.
func identifiers(s string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		start := -1
		for i := 0; i <= len(s); i++ {
			if i < len(s) && (s[i] == '_' || s[i] == '-' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(start, s[start:i]) {
				return
			}
			start = -1
		}
	}
}

// end closes a handle. The file that its output was written to is still there.
func (h *handles) end(x *handle) {
	x.ended = true
	for _, id := range append(x.Also, x.ID) {
		delete(h.byID, id)
	}
	if x.Path != "" {
		h.add(&handle{Handle: tool.Handle{Kind: tool.Output, ID: x.Path}, number: x.number, call: x.call, title: x.title, result: x.result})
	}
}

// Sizes of what is said of handles.
const (
	titleBytes  = 60  // of the call that has opened one
	handleShare = .22 // of a budget
)

// line says what a handle is.
func (x *handle) line() string {
	switch {
	case x.said != "":
		return x.said
	case x.Kind == tool.Output:
		return x.ID + " has the output of " + x.title
	case x.Kind == tool.Created:
		return x.ID + " is open: " + x.title
	case x.Path != "":
		return x.ID + " still runs: " + x.title + "; output in " + x.Path
	}
	return x.ID + " still runs: " + x.title
}

// takeHandles takes in what is still open: first what runs, then what was made, then where outputs are, each from
// the newest on. Where there is no room for all, the rest is counted.
func (b *book) takeHandles() {
	room := handleShare * b.budget
	for kind := tool.Running; kind <= tool.Output; kind++ {
		var left []*handle
		for i := len(b.src.handles.all) - 1; i >= 0; i-- {
			x := b.src.handles.all[i]
			if x.ended || x.Kind != kind {
				continue
			}
			text := x.line()
			if cost := estimate(text) + 4; cost <= room && len(left) == 0 {
				room -= cost
				b.handle(x.number, text)
				continue
			}
			left = append(left, x)
		}
		if n := len(left); n > 0 {
			text := "and " + itoa(n) + " more from m" + itoa(left[n-1].number) + " on; the newest: " + left[0].ID
			if left[0].result != "" {
				text += ", " + string(left[0].result)
			}
			room -= estimate(text) + 4
			b.handle(left[0].number, text)
		}
	}
}

func (b *book) handle(number int, text string) {
	b.add(entry{sec: secHandles, group: -1, number: number, text: text, line: -1, must: mustHandle})
}
