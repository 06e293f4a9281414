package code

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// changeFormat is what git log prints of a commit: lines, of which none can hold another one.
const changeFormat = "--format=%x01%n%H%n%P%n%an%n%ae%n%ct%n%s%n"

func (l *local) changes(ctx context.Context, w Window, head string, paths []string, most int) (out []Change, more bool, err error) {
	args := []string{"log", "--no-color", "--no-ext-diff", "--no-textconv", "--no-merges", "--name-only", changeFormat, "--max-count=" + strconv.Itoa(most+1)}
	if !w.Since.IsZero() {
		args = append(args, "--since="+w.Since.UTC().Format(time.RFC3339))
	}
	args = append(args, head)
	if w.Good != "" {
		args = append(args, "^"+w.Good)
	}
	for _, sha := range []string{head, w.Good} {
		if err := checkSHA(sha); err != nil && sha != "" {
			return nil, false, err
		}
	}
	text, err := l.output(ctx, append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, false, err
	}
	out = parseChanges(string(text))
	return out[:min(len(out), most)], len(out) > most, nil
}

// parseChanges reads what git log prints with changeFormat.
func parseChanges(text string) (out []Change) {
	for part := range strings.SplitSeq("\n"+text, "\n\x01\n") {
		lines := strings.Split(part, "\n")
		if len(lines) < 6 || !fullSHA.MatchString(lines[0]) {
			continue
		}
		c := Change{SHA: lines[0], Author: lines[2], Email: lines[3], Subject: lines[5]}
		c.parent, _, _ = strings.Cut(lines[1], " ")
		if n, err := strconv.ParseInt(lines[4], 10, 64); err == nil {
			c.Time = time.Unix(n, 0).UTC()
		}
		for _, name := range lines[6:] {
			if name != "" {
				c.Paths = append(c.Paths, name)
			}
		}
		out = append(out, c)
	}
	return out
}

func (l *local) diff(ctx context.Context, sha, path string) (*change, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	text, err := l.output(ctx, "log", "-1", "--no-color", "--no-patch", changeFormat, sha)
	if err != nil {
		return nil, err
	}
	found := parseChanges(string(text))
	if len(found) != 1 {
		return nil, fmt.Errorf("git log knows nothing of %s", sha)
	}
	args := []string{"diff-tree", "-p", "-r", "--no-commit-id", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "-U3", "--src-prefix=a/", "--dst-prefix=b/"}
	if found[0].parent == "" {
		args = append(args, "--root", sha)
	} else {
		args = append(args, found[0].parent, sha)
	}
	if args = append(args, "--"); path != "" {
		args = append(args, path)
	}
	patch, err := l.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	c := &change{Change: found[0], files: parsePatch(string(patch))}
	c.Paths = nil
	for _, f := range c.files {
		c.Paths = append(c.Paths, f.name)
	}
	return c, nil
}

// last asks for the line in the file as it is at the commit.
func (l *local) last(ctx context.Context, sha, path string, line int) (c Change, exact bool, err error) {
	if err := checkSHA(sha); err != nil {
		return c, false, err
	}
	if line <= 0 {
		found, _, err := l.changes(ctx, Window{}, sha, []string{path}, 1)
		if err == nil && len(found) == 1 {
			c = found[0]
		}
		return c, false, err
	}
	at := strconv.Itoa(line)
	text, err := l.output(ctx, "blame", "--porcelain", "--no-textconv", "-L", at+","+at, sha, "--", path)
	if err != nil {
		return c, false, err
	}
	for row := range strings.SplitSeq(string(text), "\n") {
		word, rest, _ := strings.Cut(row, " ")
		switch {
		case c.SHA == "" && fullSHA.MatchString(word):
			c.SHA = word
		case word == "author":
			c.Author = rest
		case word == "author-mail":
			c.Email = strings.Trim(rest, "<>")
		case word == "committer-time":
			if n, err := strconv.ParseInt(rest, 10, 64); err == nil {
				c.Time = time.Unix(n, 0).UTC()
			}
		case word == "summary":
			c.Subject = rest
		}
	}
	return c, true, nil
}
