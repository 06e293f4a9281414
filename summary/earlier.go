package summary

import (
	"strconv"
	"strings"

	"github.com/decantdev/decant/fact"
	"github.com/decantdev/decant/internal/tool"
)

// continued is how Claude Code begins the summary that it puts in place of earlier messages.
const continued = "This session is being continued from a previous conversation"

// asides are lines of a client's summary that speak to the model about the summary itself.
var asides = []string{continued, "Please continue the conversation from where", "If you need specific details from before compaction", "Continue the conversation from where it left off", "Recent messages are preserved verbatim"}

// fold takes in an earlier summary of this package: each statement goes back to its section, with the
// number of the message that it was made from, to be chosen or left out like any other.
func (r *reader) fold(o origin, text string) {
	f := folder{reader: r, o: o, sec: secSaid, heads: map[string]int32{}}
	for line := range strings.Lines(text) {
		f.line(strings.TrimSpace(line))
	}
}

type folder struct {
	*reader
	o    origin // of what comes next
	sec  section
	open bool // o.group is the file or call that the next lines belong to

	paths []string         // of the files named so far, newest last
	heads map[string]int32 // groups of those files, and of calls by "m12"
}

func (f *folder) line(s string) {
	if rest, ok := strings.CutPrefix(s, mark); ok {
		f.covers(rest)
		return
	}
	if name, ok := strings.CutPrefix(s, "# "); ok {
		if sec, ok := sectionNamed(name); ok {
			f.sec, f.open = sec, false
			f.o.group = -1
			return
		}
	}
	if isMarker(s) {
		return
	}
	n, rest := messageNumber(s)
	switch f.sec {
	case secFiles:
		f.file(s)
	case secErrors, secCommands:
		f.call(s, n)
	case secExcerpts:
		f.excerpt(s)
	case secTools:
		f.reader.toolHead(f.o, s)
	case secNames:
		f.names(s)
	default:
		if n > 0 {
			f.o.number = n
		}
		f.statement(rest)
	}
}

// isMarker reports whether s is a line that a preset puts around a summary: "[END OF SUMMARY]".
func isMarker(s string) bool {
	return strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") && s == strings.ToUpper(s)
}

// covers reads which messages the earlier summary was made from.
func (f *folder) covers(s string) {
	if n, rest := messageNumber(strings.Replace(s, "-", " ", 1)); n > 0 {
		f.from = n
		if to, _ := messageNumber(rest); to > f.to {
			f.to = to
		}
	}
}

// statement takes in a line of prose.
func (f *folder) statement(s string) {
	o := f.o
	o.author = byModel
	if f.sec == secUser {
		o.author = byUser
	}
	o.section, o.forced = f.sec, true
	if f.sec == secLast {
		o.section = secSaid
	}
	if rest, ok := strings.CutPrefix(s, "… "); ok && strings.Contains(rest, "; ") {
		f.list(o, rest, "; ")
		return
	}
	f.pieces(o, unmarked(s))
}

// list takes in the pieces of lines in a list, those that hold a fact.
func (f *folder) list(o origin, s, sep string) {
	for p := range strings.SplitSeq(s, sep) {
		if f.found = fact.Scan(f.found[:0], p); len(f.found) > 0 {
			f.pieces(o, p)
		}
	}
}

// file takes in the head of a file or a line about it.
func (f *folder) file(s string) {
	path, rest, ok := strings.Cut(s, " file ")
	if ok && strings.Contains(rest, " m") && !strings.Contains(path, " ") {
		f.o.author = byCall
		f.o.group = f.history(path, rest)
		f.mention(f.o, path)
		f.open = true
		f.paths = append(f.paths, path)
		f.heads[path] = f.o.group
		return
	}
	f.under(s)
}

// excerpt takes in the short name of a file or a call, or a line of it.
func (f *folder) excerpt(s string) {
	name, ok := strings.CutSuffix(s, ":")
	if !ok || strings.Contains(name, " ") {
		f.under(s)
		return
	}
	if g, ok := f.headed(name); ok {
		f.o.group, f.open = g, true
		return
	}
	f.under(s)
}

// headed returns the group that a short name stands for.
func (f *folder) headed(name string) (int32, bool) {
	if g, ok := f.heads[name]; ok {
		return g, true
	}
	for _, path := range f.paths {
		if strings.HasSuffix(path, "/"+name) {
			return f.heads[path], true
		}
	}
	return 0, false
}

// history reads "created m5, updated m40" back.
func (r *reader) history(path, s string) int32 {
	g := int32(-1)
	for part := range strings.SplitSeq(s, ", ") {
		what, at, _ := strings.Cut(part, " ")
		n, _ := messageNumber(at + " ")
		class := tool.Read
		switch what {
		case "updated":
			class = tool.Edit
		case "created":
			class = tool.Write
		}
		g = r.touch(tool.Touch{Class: class, Path: path}, n)
	}
	return g
}

// call takes in the head of a call or a line of its result.
func (f *folder) call(s string, n int) {
	if n == 0 {
		f.under(s)
		return
	}
	f.o.number, f.o.author = n, byCall
	f.o.group = f.newGroup(group{section: f.sec, number: n, head: s})
	f.mention(f.o, s)
	f.open = true
	f.heads["m"+strconv.Itoa(n)] = f.o.group
}

// under takes in a line, or pieces of lines, of the open file or call.
func (f *folder) under(s string) {
	if !f.open {
		return
	}
	o := f.o
	o.author = byTool
	if rest, ok := strings.CutPrefix(s, "… "); ok {
		f.list(o, rest, "; ")
		return
	}
	f.pieces(o, unmarked(s))
}

// repaired are the sections that the sentences of a repair belong to, by the kind it names.
var repaired = map[string]section{"instruction": secUser, "decision": secDecided, "open": secOpen}

// names takes in the list of names, or what a repair appended.
func (f *folder) names(s string) {
	if kind, rest, ok := strings.Cut(s, ": "); ok {
		if sec, ok := repaired[kind]; ok {
			f.sec = sec
			for p := range strings.SplitSeq(rest, "; ") {
				f.statement(p)
			}
			f.sec = secNames
			return
		}
	}
	o := f.o
	o.author, o.section, o.forced = byTool, secNames, true
	sep := "; "
	if !strings.Contains(s, sep) {
		sep = " " // the line of bare names
	}
	f.list(o, s, sep)
}

// unmarked takes off the marks that say that a line was cut.
func unmarked(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "… "), " …")
}

// messageNumber reads "m12 " at the start of s and returns what follows.
func messageNumber(s string) (int, string) {
	if len(s) < 3 || s[0] != 'm' {
		return 0, s
	}
	i := 1
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == len(s) || s[i] != ' ' && s[i] != ',' {
		return 0, s
	}
	n, err := strconv.Atoi(s[1:i])
	if err != nil {
		return 0, s
	}
	return n, s[i+1:]
}
