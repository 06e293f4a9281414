package project

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// A Document is a file of instructions for agents.
type Document struct {
	Name string // of its file, for people and models
	Text string
}

// maxImports is how deep imports may nest.
const maxImports = 5

// names are the files of instructions; the first one in a folder is read.
var names = []string{"AGENTS.md", "CLAUDE.md"}

// instruct reads the instructions.
func (p *Project) instruct(own, theirs tree) {
	r := reader{p: p}
	r.first(own, ".")
	rel, err := filepath.Rel(p.Root, p.Dir)
	if err != nil {
		rel = "."
	}
	at := "."
	r.first(theirs, at)
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		if part != "." {
			at = path.Join(at, part)
			r.first(theirs, at)
		}
	}
}

// A reader reads documents, each once.
type reader struct {
	p    *Project
	size int
}

// first reads the instructions of a folder.
func (r *reader) first(t tree, dir string) {
	for _, name := range names {
		if err := r.read(t, path.Join(dir, name), 0); !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// read reads a document and its imports. Errors become warnings, unless the file does not exist.
func (r *reader) read(t tree, name string, depth int) error {
	shown := t.path(name)
	if slices.ContainsFunc(r.p.Instructions, func(d Document) bool { return d.Name == shown }) {
		return nil
	}
	text, err := t.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		r.p.warn("%s is left out: %v", shown, err)
		return nil
	case r.size+len(text) > mostText:
		r.p.warn("%s is left out: there would be more than %d KB of instructions", shown, mostText>>10)
		return nil
	}
	r.size += len(text)
	r.p.Instructions = append(r.p.Instructions, Document{Name: shown, Text: strings.TrimSpace(text)})
	for _, to := range imports(text) {
		r.follow(t, name, to, depth+1)
	}
	return nil
}

// follow reads the imports of a document. It skips what is not a file: people write @ for other things, too.
func (r *reader) follow(t tree, from, to string, depth int) {
	if strings.HasPrefix(to, "~") || path.IsAbs(to) || !fs.ValidPath(path.Join(path.Dir(from), to)) {
		if path.Ext(to) != "" {
			r.p.warn("%s: @%s is not read: it is outside of %s", t.path(from), to, t.base)
		}
		return
	}
	if depth > maxImports {
		r.p.warn("%s: @%s is not read: it is more than %d imports deep", t.path(from), to, maxImports)
		return
	}
	_ = r.read(t, path.Join(path.Dir(from), to), depth) // an error says that it is no file
}

var (
	imported = lazyregexp.New(`(?m)(?:^|[\s(])@([^\s` + "`" + `()<>"']+)`)
	codeSpan = lazyregexp.New("(`+)[^`\n][^\n]*?`+")
)

// imports returns the files that a document names with @ outside of code, in order, each once.
func imports(text string) (out []string) {
	for _, m := range imported.FindAllStringSubmatch(withoutCode(text), -1) {
		if to := strings.TrimRight(m[1], ".,;:!?*_"); to != "" && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// withoutCode returns Markdown without its code.
func withoutCode(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "" {
				fence = ""
			}
		case mark != "":
			fence = mark
		default:
			b.WriteString(codeSpan.ReplaceAllString(line, " "))
		}
	}
	return b.String()
}

// fenceOf returns the fence that a line begins with, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
