package code

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// mostHits is how many lines a search holds before it ends.
const mostHits = 500

// Search returns the lines that a regular expression (RE2) matches in the files of a version. under is a directory, a file or a pattern of
// names such as **/*.go that the search stays in; empty: all of it. Files that are not text, and large ones, are passed over.
func (r *Reader) Search(ctx context.Context, at Version, pattern, under string) (Answer, error) {
	expr, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("pattern: %w", err)
	case pattern == "" || expr.MatchString(""):
		return Answer{}, fmt.Errorf("the pattern %q matches every line: search for something", pattern)
	}
	found, err := remember(ctx, r.cache, key("search", at.Repo, at.SHA, pattern, under), (*findings).cost,
		func(ctx context.Context) (*findings, error) { return r.search(ctx, at, expr, under) })
	if err != nil {
		return Answer{}, err
	}
	return r.found(at, found, pattern, under), nil
}

// findings is what a search has found.
type findings struct {
	hits     []hit
	files    int // that were looked at
	more     bool
	notice   string
	contents map[string]bool // files with hits
}

// A hit is a line that a pattern matches.
type hit struct {
	name string
	n    int
	text string
}

func (f *findings) cost() (n int64) {
	for _, h := range f.hits {
		n += int64(len(h.name)+len(h.text)) + 40
	}
	return n
}

// search looks for a pattern in the files of a version.
func (r *Reader) search(ctx context.Context, at Version, expr *regexp.Regexp, under string) (*findings, error) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return nil, err
	}
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return nil, err
	}
	files, err := t.under(under)
	if err != nil {
		return nil, err
	}
	literal, _ := expr.LiteralPrefix()
	found := &findings{files: len(files), contents: map[string]bool{}}
	if files, found.notice, err = from.narrow(ctx, at.SHA, literal, files); err != nil {
		return nil, err
	}
	err = from.blobs(ctx, at.SHA, files, func(f file, data []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !binary(data) {
			r.match(found, expr, f.name, data)
		}
		return nil
	})
	slices.SortStableFunc(found.hits, func(a, b hit) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.n - b.n
	})
	return found, err
}

// match looks for a pattern in a file. It looks at what may be seen: nobody finds out a secret by searching for its beginning.
func (r *Reader) match(found *findings, expr *regexp.Regexp, name string, data []byte) {
	if !expr.Match(data) && !strings.ContainsAny(expr.String(), "^$\\") {
		return
	}
	for i, l := range r.masked(splitLines(data)) {
		if !expr.MatchString(l) {
			continue
		}
		if len(found.hits) == mostHits {
			found.more = true
			return
		}
		found.contents[name] = true
		found.hits = append(found.hits, hit{name: name, n: i + 1, text: l})
	}
}

// under returns the files that may be searched.
func (t *tree) under(given string) (out []file, err error) {
	given = strings.TrimPrefix(path.Clean("/"+given), "/")
	glob := strings.ContainsAny(given, "*?[{")
	if glob && !doublestar.ValidatePattern(given) {
		return nil, fmt.Errorf("%q is not a pattern such as **/*.go", given)
	}
	if glob && !strings.Contains(given, "/") {
		given = "**/" + given
	}
	for _, f := range t.files {
		switch {
		case f.link || f.size > largest:
		case given == "" || f.name == given || strings.HasPrefix(f.name, given+"/"):
			out = append(out, f)
		case glob && doublestar.MatchUnvalidated(given, f.name):
			out = append(out, f)
		}
	}
	if len(out) == 0 && given != "" {
		return nil, fmt.Errorf("there are no files in %q: use list_directory", given)
	}
	return out, nil
}

// found returns what a search has found as an answer.
func (r *Reader) found(at Version, found *findings, pattern, under string) Answer {
	where := ""
	if under != "" {
		where = " in " + under
	}
	p := page{at: at, most: r.most(MostSearch)}
	p.title = fmt.Sprintf("%d lines of %d files match %s%s (%d files searched)", len(found.hits), len(found.contents), pattern, where, found.files)
	if found.more {
		p.title = fmt.Sprintf("more than %d lines match %s%s; the search was ended there", mostHits, pattern, where)
	}
	if found.notice != "" {
		p.title += "\nNotice: " + found.notice
	}
	p.rest = func(missing []line) string {
		return "To see them: search_code with a narrower pattern or path" + filesOf(missing) + "."
	}
	for i, h := range found.hits {
		if i == 0 || found.hits[i-1].name != h.name {
			p.lines = append(p.lines, line{text: h.name})
		}
		p.lines = append(p.lines, numbered(at.SHA, h.name, h.n, ":", h.text, 1))
	}
	return p.answer()
}

// filesOf names the files of lines.
func filesOf(lines []line) string {
	var names []string
	for _, l := range lines {
		if len(l.of) > 0 && len(l.of[0].path) <= 200 && !slices.Contains(names, l.of[0].path) {
			names = append(names, l.of[0].path)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names[:min(len(names), 5)], ", ")
}
