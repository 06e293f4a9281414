package tool

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxNesting bounds how deep shell texts inside shell texts are followed.
const maxNesting = 4

// shellScript gathers what the commands of a shell text come to.
type shellScript struct {
	dir   string
	files []Touch
	test  bool

	path, query, url string // of the first search or download

	reads, writes, edits, deletes, searches, webs, others int // commands by what they do
}

// run takes in the shell text src.
func (s *shellScript) run(src string, depth int) {
	cmds := splitShell(src)
	for len(cmds) > 0 {
		n := 1
		for n < len(cmds) && cmds[n-1].join == '|' {
			n++
		}
		s.pipeline(cmds[:n], depth)
		cmds = cmds[n:]
	}
}

// effect is the class of the whole text: what all its commands do, Shell when they differ.
func (s *shellScript) effect() Class {
	looks := s.reads + s.searches
	changes := s.writes + s.edits + s.deletes
	switch {
	case s.test || s.others > 0 || looks > 0 && changes > 0:
		return Shell
	case s.webs > 0 && looks+changes == 0:
		return Web
	case s.webs > 0:
		return Shell
	case s.searches > 0:
		return Search
	case s.reads > 0:
		return Read
	case s.writes > 0:
		return Write
	case s.edits > 0:
		return Edit
	case s.deletes > 0:
		return Delete
	}
	return Shell
}

// pipeline takes in commands of which each reads the output of the one before.
func (s *shellScript) pipeline(cmds []simple, depth int) {
	if inner := innerScript(&cmds[0]); inner != "" && len(cmds) == 1 && depth < maxNesting {
		dir := s.dir
		s.run(inner, depth+1)
		s.dir = dir
		return
	}
	before := len(s.files)
	kind := s.simple(&cmds[0], depth)
	for i := range cmds[1:] {
		c := &cmds[i+1]
		c.words = unwrap(c.words)
		kind = s.filter(c, kind, before)
		s.redirected(c)
	}
	if kind != Read {
		s.files = keepChanges(s.files, before)
	}
	s.count(kind)
}

// keepChanges drops the reads from files[from:], whose content was printed changed.
func keepChanges(files []Touch, from int) []Touch {
	out := files[:from]
	for _, t := range files[from:] {
		if t.Class != Read {
			out = append(out, t)
		}
	}
	return out
}

func (s *shellScript) count(kind Class) {
	switch kind {
	case Read:
		s.reads++
	case Write:
		s.writes++
	case Edit:
		s.edits++
	case Delete:
		s.deletes++
	case Search:
		s.searches++
	case Web:
		s.webs++
	case Shell:
		s.others++
	}
}

// nothing is the kind of a command that neither shows nor changes anything worth knowing: cd, echo.
const nothing Class = ""

// simple takes in one command and returns what it does: Read when it shows files as they are, Shell
// when it is something else.
func (s *shellScript) simple(c *simple, depth int) Class {
	c.words = unwrap(c.words)
	kind := s.program(c, depth)
	if out := s.redirected(c); out != nothing {
		return out
	}
	return kind
}

// redirected records the file that the output goes to and returns what is done to it, if there is one.
func (s *shellScript) redirected(c *simple) Class {
	if c.out == "" || strings.HasPrefix(c.out, "&") {
		return nothing
	}
	class := Write
	if c.appends {
		class = Edit
	}
	s.touch(class, c.out, 0, 0)
	return class
}

func (s *shellScript) touch(class Class, p string, first, last int) {
	s.files = append(s.files, Touch{Class: class, Path: p, Key: key(s.dir, p), First: first, Last: last})
}

// program takes in the command by its name.
func (s *shellScript) program(c *simple, depth int) Class {
	if len(c.words) == 0 {
		return nothing
	}
	name, args := c.words[0], c.words[1:]
	if step, ok := stepOf(launched(c.words)); ok && step.Kind == "test" {
		s.test = true
		return Shell
	}
	if isShell(name) {
		return s.nested(c, depth)
	}
	switch baseName(name) {
	case "cd", "pushd":
		if len(args) > 0 {
			s.dir = key(s.dir, args[0])
		}
		return nothing
	case "echo", "printf", "true", ":", "set", "export", "pwd", "sleep", "source", ".", "for", "done", "fi", "esac", "{", "}", "unset", "local", "date":
		return nothing
	case "cat", "bat", "batcat", "nl", "less", "more":
		return s.cat(c)
	case "head", "tail":
		return s.headTail(c)
	case "sed":
		return s.sed(args)
	case "tee":
		return s.each(Write, operands(args, ""))
	case "touch":
		return s.each(Write, operands(args, "-d -t -r"))
	case "cp", "ln":
		return s.carry(operands(args, "-S"), false)
	case "mv":
		return s.carry(operands(args, "-S"), true)
	case "rm", "unlink":
		return s.each(Delete, operands(args, ""))
	case "gofmt", "goimports", "gofumpt", "perl", "prettier", "black":
		return s.inPlace(args)
	case "apply_patch", "applypatch":
		return s.applyPatch(c)
	}
	return s.finder(baseName(name), args)
}

// innerScript returns the shell text that a command hands to a shell with bash -c or a heredoc;
// empty when the command is something else.
func innerScript(c *simple) string {
	c.words = unwrap(c.words)
	if len(c.words) == 0 || !isShell(c.words[0]) {
		return ""
	}
	for i, w := range c.words[1:] {
		if strings.HasPrefix(w, "-") && strings.Contains(w, "c") && i+2 < len(c.words) {
			return c.words[i+2]
		}
	}
	return c.heredoc
}

// nested takes in a shell text whose output goes into a pipe.
func (s *shellScript) nested(c *simple, depth int) Class {
	inner := innerScript(c)
	if inner == "" || depth >= maxNesting {
		return Shell
	}
	sub := shellScript{dir: s.dir}
	sub.run(inner, depth+1)
	s.files = append(s.files, sub.files...)
	s.test = s.test || sub.test
	s.path, s.query, s.url = first(s.path, sub.path), first(s.query, sub.query), first(s.url, sub.url)
	return sub.effect()
}

// cat shows whole files; without any it passes on its input.
func (s *shellScript) cat(c *simple) Class {
	names := operands(c.words[1:], "-r --line-range -l --language --style -n --number-width -w -s -v -i -b")
	if baseName(c.words[0]) == "cat" {
		names = operands(c.words[1:], "")
	}
	if c.in != "" {
		names = append(names, c.in)
	}
	if len(names) == 0 {
		return nothing
	}
	return s.each(Read, names)
}

// headTail shows the first or the last lines of files.
func (s *shellScript) headTail(c *simple) Class {
	first, last, rest := span(c.words)
	names := operands(rest, "-c --bytes")
	if c.in != "" {
		names = append(names, c.in)
	}
	for _, n := range names {
		if expands(n) {
			return Shell
		}
		s.touch(Read, n, first, last)
	}
	if len(names) == 0 {
		return nothing
	}
	return Read
}

// span returns the lines that head or tail lets through and the other arguments.
func span(words []string) (first, last int, rest []string) {
	n := "10"
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case (w == "-n" || w == "--lines") && i+1 < len(words):
			i++
			n = words[i]
		case strings.HasPrefix(w, "-n"):
			n = w[2:]
		case strings.HasPrefix(w, "--lines="):
			n = w[len("--lines="):]
		case len(w) > 1 && (w[0] == '-' || w[0] == '+') && isNumber(w[1:]):
			n = strings.TrimPrefix(w, "-")
		default:
			rest = append(rest, w)
		}
	}
	count := integer(strings.TrimLeft(n, "+-"))
	switch {
	case baseName(words[0]) == "head" && !strings.HasPrefix(n, "-"):
		return 1, max(count, 1), rest
	case baseName(words[0]) == "head":
		return 1, 1, rest // all but the last lines: how many that is cannot be known
	case strings.HasPrefix(n, "+"):
		return max(count, 1), 0, rest
	}
	return -max(count, 1), 0, rest
}

// sed prints a range with -n, or edits in place with -i.
func (s *shellScript) sed(args []string) Class {
	var print, inPlace bool
	var rest []string
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "-i" && i+1 < len(args) && args[i+1] == "":
			inPlace = true
			i++
		case strings.HasPrefix(w, "-i") || w == "--in-place":
			inPlace = true
		case w == "-n" || w == "-ne" || w == "-nE" || w == "-En" || w == "--quiet":
			print = true
		case w == "-e" || w == "-E" || w == "-r":
		default:
			rest = append(rest, w)
		}
	}
	if len(rest) < 2 {
		return Shell
	}
	if inPlace {
		return s.each(Edit, rest[1:])
	}
	return s.printed(print, rest[0], rest[1:])
}

// printed takes in sed -n 'a,bp' FILE.
func (s *shellScript) printed(quiet bool, script string, names []string) Class {
	ranges := sedRanges(script)
	if !quiet || len(ranges) == 0 {
		return Shell
	}
	for _, n := range names {
		if expands(n) {
			return Shell
		}
		for _, r := range ranges {
			s.touch(Read, n, r[0], r[1])
		}
	}
	return Read
}

// sedRanges reads "a,bp" and several of them joined by semicolons; nil for any other script.
func sedRanges(script string) [][2]int {
	var out [][2]int
	for part := range strings.SplitSeq(script, ";") {
		addr, ok := strings.CutSuffix(strings.TrimSpace(part), "p")
		if !ok {
			return nil
		}
		from, to, two := strings.Cut(addr, ",")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil || a < 1 {
			return nil
		}
		b := a
		switch to = strings.TrimSpace(to); {
		case two && to == "$":
			b = 0
		case two && strings.HasPrefix(to, "+"):
			b = a + integer(to[1:])
		case two:
			if b, err = strconv.Atoi(to); err != nil {
				return nil
			}
			b = max(a, b)
		}
		out = append(out, [2]int{a, b})
	}
	return out
}

// inPlace takes in a program that rewrites files when told to.
func (s *shellScript) inPlace(args []string) Class {
	writes := false
	for _, a := range args {
		writes = writes || a == "-w" || a == "--write" || strings.HasPrefix(a, "-pi") || strings.HasPrefix(a, "-i")
	}
	names := operands(args, "-e -pe -pie -i -pi -0pe -0777pe")
	if !writes || len(names) == 0 {
		return Shell
	}
	s.each(Edit, names)
	return Shell
}

// applyPatch takes in a patch from a heredoc or from an argument.
func (s *shellScript) applyPatch(c *simple) Class {
	patch := c.heredoc
	if patch == "" && len(c.words) > 1 {
		patch = c.words[1]
	}
	s.files = append(s.files, patchFiles(patch, s.dir)...)
	return Edit
}

// each touches the named files. A name that the shell would expand to others makes the command opaque.
func (s *shellScript) each(class Class, names []string) Class {
	for _, n := range names {
		if expands(n) {
			return Shell
		}
		s.touch(class, n, 0, 0)
	}
	return class
}

// carry takes in a copy of all names but the last to the last, which is a folder when there are several
// or it ends like one. When it moves them, they are gone.
func (s *shellScript) carry(names []string, moves bool) Class {
	n := len(names) - 1
	if n < 1 || slices.ContainsFunc(names, expands) {
		return Shell
	}
	folder := n > 1 || strings.HasSuffix(names[n], "/") || names[n] == "."
	for _, from := range names[:n] {
		to := names[n]
		if folder {
			to = path.Join(to, path.Base(from))
		}
		ts := moved(s.dir, from, to)
		if !moves {
			ts = ts[1:]
		}
		s.files = append(s.files, ts...)
	}
	return Write
}

// filter takes in a command that reads the output of a command of the given kind, whose reads are
// files[from:], and returns what both together do.
func (s *shellScript) filter(c *simple, kind Class, from int) Class {
	if len(c.words) == 0 {
		return kind
	}
	name := baseName(c.words[0])
	if kind != Read {
		return s.filterOther(c, name, kind)
	}
	switch name {
	case "cat", "nl", "less", "more", "bat":
		return Read
	case "head", "tail":
		first, last, _ := span(c.words)
		return s.narrow(from, first, last)
	case "sed":
		if rs := sedRanges(lastOf(c.words)); len(rs) == 1 {
			return s.narrow(from, rs[0][0], rs[0][1])
		}
	case "grep", "rg", "egrep", "fgrep", "ag":
		if len(s.files) > from {
			s.path = first(s.path, s.files[from].Path)
		}
		s.finder(name, c.words[1:])
		return Search
	}
	return Shell
}

func (s *shellScript) filterOther(c *simple, name string, kind Class) Class {
	switch name {
	case "tee":
		s.each(Write, operands(c.words[1:], ""))
	case "apply_patch":
		return s.applyPatch(c)
	case "xargs":
		if rest := unwrap(operandsFrom(c.words[1:])); len(rest) > 0 && kind == Search {
			if sub := s.finder(baseName(rest[0]), rest[1:]); sub == Search {
				return Search
			}
			return Shell
		}
	case "bash", "sh", "python", "python3":
		return Shell
	}
	return kind
}

// narrow limits the one read in files[from:] to some of its lines.
func (s *shellScript) narrow(from, first, last int) Class {
	if len(s.files) != from+1 {
		return Shell
	}
	t := &s.files[from]
	switch {
	case t.whole():
		t.First, t.Last = first, last
	case t.First > 0 && first > 0:
		start := t.First
		t.First = start + first - 1
		if last > 0 && (t.Last == 0 || start+last-1 < t.Last) {
			t.Last = start + last - 1
		}
	default:
		return Shell
	}
	return Read
}

func lastOf(words []string) string { return words[len(words)-1] }
