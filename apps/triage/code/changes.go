package code

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// What is looked at of changes.
const (
	mostChanges = 20
	mostPaths   = 10
)

// A Window is a time in which something may have been changed.
type Window struct {
	Good  string    // the release or commit that still worked, whose changes and those before it do not count; empty: nobody knows one
	Since time.Time // what was committed before does not count; zero: all counts
}

// A Change is a commit.
type Change struct {
	Repo    string    `json:"repo"`
	SHA     string    `json:"sha"`
	Author  string    `json:"author"`
	Email   string    `json:"-"` // personal data: for whom notices are sent to, never for a model
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
	Paths   []string  `json:"paths,omitzero"` // that it touches, of those asked for

	parent string // the first one's SHA
}

// A change is a commit with what it has done.
type change struct {
	Change
	files   []patched
	partial bool // there are files that are not listed
}

// Changes returns the commits up to a version that touch one of some files within a window, the newest first, at most 20, and what a model is
// told of them. Of more than ten files the first ten count: give the frames' files, innermost first.
func (r *Reader) Changes(ctx context.Context, at Version, w Window, paths []string) ([]Change, Answer, error) {
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return nil, Answer{}, err
	}
	paths, err = cleanPaths(paths)
	if err != nil {
		return nil, Answer{}, err
	}
	notice := ""
	if w.Good != "" {
		good, err := r.Version(ctx, at.Repo, w.Good)
		if err != nil {
			return nil, Answer{}, err
		}
		if w.Good = good.SHA; good.Notice != "" {
			w.Good, notice = "", fmt.Sprintf("Notice: nobody knows the commit of the release before. %s\n", sinceText(w))
		}
	}
	type result struct {
		all  []Change
		more bool
	}
	found, err := remember(ctx, r.cache, key("changes", at.Repo, at.SHA, w.Good, w.Since.UTC().Format(time.RFC3339), strings.Join(paths, "\x01")),
		func(v result) int64 { return int64(300 * len(v.all)) },
		func(ctx context.Context) (v result, err error) {
			v.all, v.more, err = from.changes(ctx, w, at.SHA, paths, mostChanges)
			return v, err
		})
	if err != nil {
		return nil, Answer{}, err
	}
	all := slices.Clone(found.all)
	for i := range all {
		all[i].Repo = at.Repo
		all[i].Subject = r.maskLine(all[i].Subject)
	}
	return all, r.changesAnswer(at, w, paths, all, found.more, notice), nil
}

// maskLine returns a line without what must not be seen.
func (r *Reader) maskLine(s string) string {
	if r.mask == nil {
		return s
	}
	return strings.ReplaceAll(r.mask(s), "\n", " ")
}

// cleanPaths returns names of files as git knows them, at most mostPaths.
func cleanPaths(paths []string) (out []string, err error) {
	for _, p := range paths {
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if !fs.ValidPath(p) {
			return nil, fmt.Errorf("%q is not the name of a file in the repository", p)
		}
		if !slices.Contains(out, p) && p != "." {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("name the files whose changes are asked for")
	}
	return out[:min(len(out), mostPaths)], nil
}

// sinceText says what a window without a good commit covers.
func sinceText(w Window) string {
	if w.Since.IsZero() {
		return "These are the newest commits."
	}
	return "These are the commits since " + w.Since.UTC().Format("2006-01-02 15:04") + "."
}

// changesAnswer returns what a model is told of commits.
func (r *Reader) changesAnswer(at Version, w Window, paths []string, all []Change, more bool, notice string) Answer {
	since := ""
	if w.Good != "" {
		since = " since " + shortSHA(w.Good)
	}
	p := page{at: at, most: r.most(MostSearch), rest: func([]line) string { return "To see them: recent_changes of fewer files." }}
	p.title = fmt.Sprintf("%d commits%s touch %s", len(all), since, strings.Join(paths, ", "))
	for _, c := range all {
		p.lines = append(p.lines,
			line{text: fmt.Sprintf("%s %s %s: %s", shortSHA(c.SHA), c.Time.Format("2006-01-02 15:04"), c.Author, c.Subject)},
			line{text: "    " + strings.Join(c.Paths, ", ")})
	}
	if more {
		p.lines = append(p.lines, line{text: "(There are older ones.)"})
	}
	if len(all) > 0 {
		p.lines = append(p.lines, line{text: "(A commit may be called a suspect only after its diff was read: show_change.)"})
	}
	a := p.answer()
	a.Text = notice + a.Text
	return a
}

// Diff returns what a commit has changed in a file, or in all files where name is empty, as a diff with the numbers of its lines. sha may be the
// beginning of one. The Answer names the commit in Change, and the lines that it shows are those of the commit and of its parent.
func (r *Reader) Diff(ctx context.Context, repo, sha, name string) (Answer, error) {
	_, from, err := r.lookup(repo)
	if err != nil {
		return Answer{}, err
	}
	if !shaLike.MatchString(sha) {
		return Answer{}, fmt.Errorf("%q is not the SHA of a commit: at least seven of its hexadecimal digits", sha)
	}
	if sha, err = r.commit(ctx, repo, from, sha); err != nil {
		return Answer{}, err
	}
	if name != "" {
		names, err := cleanPaths([]string{name})
		if err != nil {
			return Answer{}, err
		}
		name = names[0]
	}
	c, err := remember(ctx, r.cache, key("diff", repo, sha, name), (*change).cost,
		func(ctx context.Context) (*change, error) { return from.diff(ctx, sha, name) })
	if err != nil {
		return Answer{}, err
	}
	if len(c.files) == 0 && name != "" {
		return Answer{}, fmt.Errorf("%s does not touch %s: leave the path out to see what it touches", shortSHA(sha), name)
	}
	return r.diffAnswer(repo, c), nil
}

func (c *change) cost() (n int64) {
	for _, f := range c.files {
		for _, row := range f.rows {
			n += int64(len(row.text)) + 60
		}
	}
	return n
}

// diffAnswer returns a commit as an answer.
func (r *Reader) diffAnswer(repo string, c *change) Answer {
	told := c.Change
	told.Repo, told.Subject = repo, r.maskLine(c.Subject)
	p := page{at: Version{Repo: repo, SHA: c.SHA}, most: r.most(MostFile)}
	p.title = fmt.Sprintf("by %s, %s: %s", c.Author, c.Time.Format("2006-01-02 15:04"), told.Subject)
	p.rest = func(missing []line) string {
		return "To see them: show_change with the path of one file" + filesOf(missing) + "."
	}
	for _, f := range c.files {
		p.lines = append(p.lines, line{text: f.heading()})
		p.lines = append(p.lines, r.rows(c, &f)...)
	}
	if c.partial {
		p.lines = append(p.lines, line{text: "(GitHub lists no more files, or no larger diffs: read the files at both commits.)"})
	}
	a := p.answer()
	a.Change = &told
	return a
}

// rows returns the lines of a diff. What must not be seen is taken out of each side as it stood.
func (r *Reader) rows(c *change, f *patched) (out []line) {
	texts := make([]string, len(f.rows))
	for i, row := range f.rows {
		texts[i] = row.text
	}
	texts = r.masked(texts)
	for i, row := range f.rows {
		if row.kind == '@' {
			out = append(out, line{text: texts[i]})
			continue
		}
		n := max(row.new, row.old)
		if row.kind != '-' {
			n = row.new
		}
		l := numbered(c.SHA, f.name, n, string(row.kind), texts[i], 1)
		shown := l.of[0].text
		l.of = nil
		if row.new > 0 {
			l.of = append(l.of, place{path: f.name, sha: c.SHA, n: row.new, text: shown})
		}
		if row.old > 0 && c.parent != "" {
			l.of = append(l.of, place{path: f.old, sha: c.parent, n: row.old, text: shown})
		}
		out = append(out, l)
	}
	return out
}

// A changeList is commits that come file by file.
type changeList struct {
	all []Change
}

// add adds a commit that touches a file.
func (l *changeList) add(c Change, path string) {
	i := slices.IndexFunc(l.all, func(o Change) bool { return o.SHA == c.SHA })
	if i < 0 {
		i, l.all = len(l.all), append(l.all, c)
	}
	l.all[i].Paths = append(l.all[i].Paths, path)
}

// sorted returns the commits, the newest first.
func (l *changeList) sorted() []Change {
	slices.SortStableFunc(l.all, func(a, b Change) int { return b.Time.Compare(a.Time) })
	for i := range l.all {
		slices.Sort(l.all[i].Paths)
	}
	return l.all
}
