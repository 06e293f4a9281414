package reduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// Superseded proposes stubs for reads of files that the agent has read, edited or written again
// since: nearly half of everything that coding agents read back.
//
// A later read counts for the lines that it shows, a write or an edit for the whole file. Where
// the later touch is an edit only, the old read is the agent's last copy of the lines around it;
// it stays as long as the file is being worked on, which is when the newest touch of it lies in
// the protected rounds.
func Superseded(s *Subject) []decant.Decision {
	h := s.history()
	var out []decant.Decision
	for r := range s.each() {
		if !r.closed || r.block.Error || r.call.Effect != tool.Read || len(r.call.Files) == 0 {
			continue
		}
		how, at := h.stale(r)
		if how == "" || how == wasEdited && s.opts.Quote.on() { // then Stub keeps more of the last copy
			continue
		}
		reason := fmt.Sprintf("%s %s in %s", r.call.Path, how, s.ms[at].Name())
		if d, ok := s.replace(r, decant.Stub, s.staleLine(r, how), decant.ReductionSuperseded, reason); ok {
			out = append(out, d)
		}
	}
	return out
}

// touch is a later claim on a file: a view or a change of it.
type touch struct {
	tool.Touch
	at int // index of the message of the result, or of the call for a change
}

// A history is what happens to each file, oldest first. What failed does not count.
type history struct {
	subject *Subject
	files   map[string][]touch
}

// history returns what happens to the files of the view.
func (s *Subject) history() *history {
	out := map[string][]touch{}
	for r := range s.each() {
		if r.block.Error || !r.used {
			continue
		}
		for _, f := range r.call.Files {
			if f, ok := extent(r, f); ok {
				out[f.Key] = append(out[f.Key], touch{f, r.at})
			}
		}
	}
	return &history{s, out}
}

// cutMarks are what clients leave in a result that they cut themselves.
var cutMarks = [...]string{
	"tokens truncated", "characters truncated", "[truncated", "output truncated", "result (first ",
}

// extent limits a read to what its result really holds. It reports false when that cannot be told,
// because something was cut out of the middle. A change is what it is.
func extent(r *result, f tool.Touch) (tool.Touch, bool) {
	if f.Class != tool.Read {
		return f, true
	}
	if !r.verbatim() && (r.shrunk == nil || r.shrunk.Reduction != decant.ReductionTerminal) {
		return f, false // the text there now is not the file
	}
	text := r.read()
	for _, mark := range cutMarks {
		if strings.Contains(text, mark) {
			return f, false
		}
	}
	tail := text[max(0, len(text)-300):]
	if strings.Contains(tail, "more lines not shown") || strings.Contains(tail, "more lines below") ||
		strings.Contains(tail, "more lines in file") {
		f.First = max(f.First, 1)
		f.Last = f.First + strings.Count(text, "\n") - 3
	}
	return f, true
}

// stale says how every file that r shows went out of date and which message did the last of it;
// empty when a part of what it shows has no newer copy.
func (h *history) stale(r *result) (how string, at int) {
	for _, f := range r.call.Files {
		if f.Class != tool.Read {
			return "", 0
		}
		what, a := h.staleFile(f, r.at)
		if what == "" {
			return "", 0
		}
		how, at = what, max(a, at)
	}
	return how, at
}

// maxParts bounds how many later reads are pieced together, so that a file that is read a thousand
// times costs no more than its reads.
const maxParts = 16

// staleFile says how the read f in message at went out of date.
func (h *history) staleFile(f tool.Touch, at int) (string, int) {
	edited, newest := -1, at
	var parts []tool.Touch
	for _, t := range h.files[f.Key] {
		if t.at <= at || t.Class == tool.Delete { // what was deleted or moved has no newer copy
			continue
		}
		newest = t.at
		if t.Class == tool.Edit {
			edited = t.at
			continue
		}
		if len(parts) < maxParts {
			parts = append(parts, t.Touch)
		}
		if t.Covers(f) || covered(f, parts) {
			return "was " + past(t.Class) + " again", t.at
		}
	}
	if edited < 0 || h.subject.active(newest) {
		return "", 0
	}
	return wasEdited, edited
}

// wasEdited is how a read went out of date that has no newer copy in view.
const wasEdited = "was edited"

// active reports whether the message at is in the rounds that stay as they are.
func (s *Subject) active(at int) bool {
	keep := max(s.opts.KeepRounds, 1)
	if len(s.rounds) <= keep || s.opts.Before > 0 && s.ms[at].Number >= s.opts.Before {
		return true
	}
	return at >= s.rounds[len(s.rounds)-keep].Start
}

func past(c tool.Class) string {
	if c == tool.Read {
		return "read"
	}
	return "written"
}

// covered reports whether the parts together show every line that f showed.
func covered(f tool.Touch, parts []tool.Touch) bool {
	if f.First < 0 {
		return false
	}
	next := max(f.First, 1) // the first line not yet seen again
	for range parts {
		next = reach(next, parts)
	}
	return next == toTheEnd || f.Last > 0 && next > f.Last
}

// toTheEnd is the line after the last one of any file.
const toTheEnd = math.MaxInt

// reach returns the line up to which the parts that hold the line next go on, exclusive.
func reach(next int, parts []tool.Touch) int {
	for _, p := range parts {
		switch {
		case p.First < 0 || p.First > next:
		case p.Last == 0:
			return toTheEnd
		default:
			next = max(next, p.Last+1)
		}
	}
	return next
}

// staleLine is the stub of a superseded read. A file that was only edited leaves its names behind,
// because no newer copy of them is in view.
func (s *Subject) staleLine(r *result, how string) string {
	line := r.heading() + ": the file " + how + " later"
	if how != wasEdited { // a newer copy is in view
		return line + ", see there]"
	}
	return finish(line+s.namesClause(r, line, s.opts.Counter.Count(r.shown()), maxNames), r, s.expand)
}
