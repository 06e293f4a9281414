package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
)

// trailAll is the size of a record, as a share of its source, from which on it names the files that were
// read only, too.
const trailAll = .2

// A file is the history of one file: the numbers of the messages that read or changed it.
type file struct {
	path    string // as the model wrote it, whole if it ever did
	from    string // that it was moved or copied from
	past    string // its history in an earlier record
	read    int    // newest
	made    int
	changed []int
	deleted int
	put     bool              // back as it was, by the newest change
	failed  int               // the newest change that failed
	open    int               // the newest change without an answer
	change  map[string]string // by name: "+" added, "-" removed
	order   []string          // of the names
	first   string            // the first line that the newest change added, where it named nothing
	newest  int
}

// takeTrail takes in the history of every file: read, made, changed, moved, deleted, with how the newest call
// ended and what changed. It is taken from the calls and their outcomes alone, so it is exact as far as these
// tell; a command that the shell expands, or a program that writes files by itself, does not. It returns the
// files.
func (b *book) takeTrail() []*file {
	files := map[string]*file{}
	var order []*file
	for _, h := range b.src.history {
		f := &file{path: h[0], past: h[1], change: map[string]string{}}
		files[h[0]] = f
		order = append(order, f)
	}
	for _, a := range b.src.acts {
		for _, t := range a.Files {
			f := files[t.Key]
			if f == nil {
				f = &file{path: t.Path, change: map[string]string{}}
				files[t.Key] = f
				order = append(order, f)
			}
			f.touch(a, t)
		}
	}
	slices.SortFunc(order, func(f, g *file) int { return cmp.Or(f.newest-g.newest, strings.Compare(f.path, g.path)) })
	since := b.src.numberFrom(b.present)
	for i, f := range order {
		when := mustFile
		if f.altered() {
			when = mustChange
		} else if f.read == 0 || b.budget < trailAll*float64(b.src.size)*perChar {
			continue // it was never shown, or there is no room
		}
		g := b.heading("", i)
		b.add(entry{sec: secFiles, group: g, number: f.newest, text: f.line(f.newest < since), line: -1, must: when})
		b.lex.see(b.lex.line(f.path, false), max(0, b.src.messages-(b.src.to-f.newest)-1), decant.AuthorModel)
	}
	return order
}

// touch takes in what one call did to the file.
func (f *file) touch(a *act, t tool.Touch) {
	if strings.HasPrefix(t.Key, "/") {
		f.path = t.Key
	}
	f.newest = a.number
	switch {
	case t.Class == tool.Read:
		if a.done && !a.failed {
			f.read = a.number
		}
		return
	case !a.done:
		f.open = a.number
		return
	case a.failed:
		f.failed = a.number
		return
	}
	f.failed, f.put = 0, false
	f.alter(a, t)
}

// alter takes in a change that was made.
func (f *file) alter(a *act, t tool.Touch) {
	switch t.Class {
	case tool.Delete:
		f.deleted = a.number
		return
	case tool.Write:
		if f.made == 0 && f.read == 0 && len(f.changed) == 0 && !a.overwrites() || f.deleted > 0 {
			f.made, f.deleted, f.from = a.number, 0, t.From
		} else {
			f.changed = append(f.changed, a.number)
		}
	case tool.Edit:
		f.deleted = 0
		f.changed = append(f.changed, a.number)
		f.put = strings.Contains(a.Command, "git checkout") || strings.Contains(a.Command, "git restore")
	}
	f.diff(a, t)
}

// undone reports whether nothing is left of what was done to the file.
func (f *file) undone() bool { return f.deleted > 0 || f.put }

// altered reports whether something was done to the file but reading it.
func (f *file) altered() bool {
	return f.made+len(f.changed)+f.deleted+f.failed+f.open > 0 || f.past != ""
}

// overwrites reports whether the result of a write says that the file was there before.
func (a *act) overwrites() bool {
	head := a.result[:min(len(a.result), 300)]
	return strings.Contains(head, "has been updated") || strings.Contains(head, "overwr")
}

// diff takes in which names a change adds to the file and which it removes.
func (f *file) diff(a *act, t tool.Touch) {
	added, removed := a.halves(t)
	was := map[string]bool{}
	for _, name := range definitions(removed) {
		was[name] = true
	}
	f.first = ""
	now := definitions(added)
	for _, name := range now {
		if !was[name] {
			f.mark(name, "+", "-")
		}
		delete(was, name)
	}
	for _, name := range definitions(removed) {
		if was[name] {
			f.mark(name, "-", "+")
		}
	}
	if len(f.change) == 0 {
		f.first = firstNew(added, removed)
	}
}

// mark notes that a name was added or removed; the one takes the other back.
func (f *file) mark(name, sign, opposite string) {
	if f.change[name] == opposite {
		delete(f.change, name)
		return
	}
	if f.change[name] == "" {
		f.order = append(f.order, name)
	}
	f.change[name] = sign
}

// halves returns the texts that a call puts into a file and takes out of it.
func (a *act) halves(t tool.Touch) (added, removed string) {
	var in, out strings.Builder
	for _, v := range a.values {
		switch {
		case strings.Contains(v.text, "*** Begin Patch"):
			patched(v.text, t.Path, &in, &out)
		case a.Class == tool.Shell || v.text == t.Path:
		case v.old:
			out.WriteString(v.text + "\n")
		default:
			in.WriteString(v.text + "\n")
		}
	}
	return in.String(), out.String()
}

// patched splits what a patch does to one file.
func patched(patch, path string, in, out *strings.Builder) {
	mine := false
	for ln := range strings.Lines(patch) {
		if strings.HasPrefix(ln, "*** ") {
			mine = strings.HasSuffix(strings.TrimSpace(ln), ": "+path)
			continue
		}
		switch {
		case !mine:
		case ln[0] == '+':
			in.WriteString(ln[1:])
		case ln[0] == '-':
			out.WriteString(ln[1:])
		}
	}
}

// definitions returns the names that a text of source defines for others, each once.
func definitions(text string) (out []string) {
	for ln := range strings.Lines(text) {
		if name, sure := tool.Defines(ln); sure && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// longFirst is the longest line in bytes that is quoted for a change that names nothing.
const longFirst = 100

// firstNew returns the first line of added that removed has not, if it is short.
func firstNew(added, removed string) string {
	for ln := range strings.Lines(added) {
		ln = strings.TrimSpace(ln)
		if len(ln) > 8 && len(ln) <= longFirst && !strings.Contains(removed, ln) {
			return ln
		}
	}
	return ""
}

// mostNames are the names of a change that a line of the trail has room for.
const mostNames = 6

// line describes the file's outcome, and its changes unless their job is finished.
func (f *file) line(over bool) string {
	var parts []string
	say := func(what string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s m%d", what, n))
		}
	}
	switch {
	case f.from != "":
		say("from "+f.from, f.made)
	default:
		say("created", f.made)
	}
	if n := len(f.changed); n > 1 {
		parts = append(parts, fmt.Sprintf("changed %d times, last m%d", n, f.changed[n-1]))
	} else if n == 1 {
		say("changed", f.changed[0])
	}
	if f.put {
		parts = append(parts, "put back as it was")
	}
	say("deleted", f.deleted)
	say("change failed", f.failed)
	say("change without a result", f.open)
	if f.read > max(f.made, f.deleted) && (len(f.changed) == 0 || f.read > f.changed[len(f.changed)-1]) {
		say("read", f.read)
	}
	s := f.path + ": " + strings.Join(append(f.earlier(), parts...), ", ")
	if names := f.names(); names != "" && !over && !f.undone() {
		s += "; " + names
	}
	return s
}

// earlier returns the history that an earlier record gave.
func (f *file) earlier() []string {
	if f.past == "" {
		return nil
	}
	return []string{f.past}
}

// names says what the changes added and removed.
func (f *file) names() string {
	var out []string
	for _, n := range f.order {
		if sign := f.change[n]; sign != "" && len(out) < mostNames {
			out = append(out, sign+n)
		}
	}
	if len(out) == 0 && f.first != "" {
		return "+ " + f.first
	}
	return strings.Join(out, " ")
}
