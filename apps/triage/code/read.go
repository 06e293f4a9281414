package code

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// largest is how many bytes a file may have to be read, or searched.
const largest = 4 << 20

// ReadFile returns the lines of a file from one to another one, from 1, both included; to 0 is the last one. A file that does not exist is
// fs.ErrNotExist, with the files of similar names.
func (r *Reader) ReadFile(ctx context.Context, at Version, name string, from, to int) (Answer, error) {
	return r.readFrom(ctx, at, name, from, to, 1)
}

// readFrom is ReadFile that begins with a character of the first line, for lines that are longer than an answer shows.
func (r *Reader) readFrom(ctx context.Context, at Version, name string, from, to, column int) (Answer, error) {
	lines, err := r.lines(ctx, at, name)
	if err != nil {
		return Answer{}, err
	}
	name = path.Clean(name)
	from = max(from, 1)
	if to <= 0 || to > len(lines) {
		to = len(lines)
	}
	switch {
	case len(lines) == 0:
		return (&page{at: at, title: name + " is empty", most: r.most(MostFile)}).answer(), nil
	case from > len(lines):
		return Answer{}, fmt.Errorf("%s has only %d lines", name, len(lines))
	case to < from:
		return Answer{}, fmt.Errorf("to, %d, is in front of from, %d", to, from)
	}
	p := page{at: at, title: fmt.Sprintf("%s, lines %d to %d of %d", name, from, to, len(lines)), most: r.most(MostFile)}
	for n := from; n <= to; n++ {
		p.lines = append(p.lines, numbered(at.SHA, name, n, ":", lines[n-1], column))
		column = 1
	}
	p.rest = func(missing []line) string {
		first := from
		if len(missing) > 0 && len(missing[0].of) > 0 {
			first = missing[0].of[0].n
		}
		return fmt.Sprintf("To read them: read_file with from %d and to %d, in parts of about 100 lines.", first, first+len(missing)-1)
	}
	return p.answer(), nil
}

// numbered returns a line of a file with its number.
func numbered(sha, name string, n int, mark, text string, column int) line {
	part, more := shorten(text, column)
	shown := fmt.Sprintf("%5d%s\t%s", n, mark, part)
	if more > 0 {
		shown += fmt.Sprintf(" [+%d characters: read_file with from %d and column %d]", more, n, max(column, 1)+mostLine)
	}
	return line{text: shown, of: []place{{path: name, sha: sha, n: n, text: part}}}
}

// lines returns the lines of a file, with what must not be seen taken out.
func (r *Reader) lines(ctx context.Context, at Version, name string) ([]string, error) {
	f, err := r.stat(ctx, at, name)
	if err != nil {
		return nil, err
	}
	data, err := r.blob(ctx, at, f)
	if err != nil {
		return nil, err
	}
	if binary(data) {
		return nil, fmt.Errorf("%s is not text: %d bytes", name, len(data))
	}
	return r.masked(splitLines(data)), nil
}

// stat returns a file of a version.
func (r *Reader) stat(ctx context.Context, at Version, name string) (f file, err error) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return f, err
	}
	clean := path.Clean(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./"))
	f, ok := t.file(clean)
	switch {
	case ok && f.link:
		return f, fmt.Errorf("%s is a link or another repository, not a file", name)
	case ok && f.size > largest:
		return f, fmt.Errorf("%s has %d bytes: more than %d are not read", name, f.size, largest)
	case ok:
		return f, nil
	}
	return f, &fs.PathError{Op: "read", Path: name, Err: notFound{t.advice(clean)}}
}

// A notFound is fs.ErrNotExist with advice.
type notFound struct{ advice string }

func (e notFound) Error() string        { return "no such file at this commit" + e.advice }
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// advice names files that may be meant by a name that is none.
func (t *tree) advice(name string) string {
	var near []string
	for _, f := range t.files {
		switch {
		case strings.HasPrefix(f.name, name+"/"):
			return ": it is a directory, use list_directory"
		case path.Base(f.name) == path.Base(name):
			near = append(near, f.name)
		}
	}
	if len(near) == 0 {
		return ": use list_directory or search_code to find it"
	}
	return ": there is " + strings.Join(near[:min(len(near), 5)], ", ")
}

// blob returns the contents of a file.
func (r *Reader) blob(ctx context.Context, at Version, f file) ([]byte, error) {
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return nil, err
	}
	return remember(ctx, r.cache, key("blob", at.Repo, f.blob), func(b []byte) int64 { return int64(len(b)) },
		func(ctx context.Context) (data []byte, err error) {
			found := false
			err = from.blobs(ctx, at.SHA, []file{f}, func(_ file, b []byte) error {
				data, found = slices.Clone(b), true
				return nil
			})
			if err == nil && !found {
				err = errors.New(f.name + " could not be read")
			}
			return data, err
		})
}

// binary reports whether data is not text.
func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// splitLines returns the lines of a text, without their ends.
func splitLines(data []byte) []string {
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// masked returns lines without what must not be seen. All of them are looked at together, since a key may have several; if that changes
// their number, each one is looked at by itself.
func (r *Reader) masked(lines []string) []string {
	if r.mask == nil || len(lines) == 0 {
		return lines
	}
	if out := strings.Split(r.mask(strings.Join(lines, "\n")), "\n"); len(out) == len(lines) {
		return out
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.ReplaceAll(r.mask(l), "\n", " ")
	}
	return out
}

// List returns what a directory holds: its files with their sizes, and its directories with how many files are below them. "" and "."
// are the top of the repository.
func (r *Reader) List(ctx context.Context, at Version, dir string) (Answer, error) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	dir = path.Clean("/" + strings.ReplaceAll(dir, `\`, "/"))[1:]
	p := page{at: at, title: "files in " + cmp.Or(dir, "the top directory"), most: r.most(mostList),
		rest: func([]line) string {
			return "To see them: list_directory of a directory below, or search_code with a path."
		}}
	below := map[string]int{}
	var names []string
	for _, f := range t.files {
		rest, ok := f.name, true
		if dir != "" {
			rest, ok = strings.CutPrefix(f.name, dir+"/")
		}
		if !ok {
			continue
		}
		if sub, _, deeper := strings.Cut(rest, "/"); deeper {
			if below[sub]++; below[sub] == 1 {
				names = append(names, sub)
			}
			continue
		}
		p.lines = append(p.lines, line{text: rest + sizeOf(f)})
	}
	var folders []line
	for _, name := range names {
		folders = append(folders, line{text: fmt.Sprintf("%s/ (%d files)", name, below[name])})
	}
	p.lines = append(folders, p.lines...)
	switch {
	case len(p.lines) == 0 && dir != "":
		return Answer{}, &fs.PathError{Op: "list", Path: dir, Err: notFound{t.advice(dir)}}
	case t.cut:
		p.lines = append(p.lines, line{text: "(The repository has more files than GitHub lists.)"})
	}
	return p.answer(), nil
}

// sizeOf returns the size of a file in brackets.
func sizeOf(f file) string {
	switch {
	case f.link:
		return " (link)"
	case f.size < 0:
		return ""
	}
	return fmt.Sprintf(" (%d bytes)", f.size)
}
