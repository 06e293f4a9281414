package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hmarr/codeowners"
)

// An Owner is who should know of an error in a file.
type Owner struct {
	Names []string // teams, people or addresses as CODEOWNERS names them; or the author of the last change
	Rule  string   // where they are known from, for people: "CODEOWNERS, line 12", "last changed line 40"

	Change *Change // the last one, where nobody is named by CODEOWNERS
}

// ownerFiles are where GitHub looks for the file; the first one counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// Owner returns who owns a file: whom CODEOWNERS names at this version, by its rules (the last one that matches counts, and one without owners takes the
// file from all of them), or else who has changed line n last; n 0: the file. A repository on GitHub does not say who has changed a line.
func (r *Reader) Owner(ctx context.Context, at Version, name string, n int) (Owner, Answer, error) {
	names, err := cleanPaths([]string{name})
	if err != nil {
		return Owner{}, Answer{}, err
	}
	if _, err := r.stat(ctx, at, names[0]); err != nil {
		return Owner{}, Answer{}, err
	}
	o, err := r.named(ctx, at, names[0])
	if err == nil && len(o.Names) == 0 {
		o, err = r.author(ctx, at, names[0], n)
	}
	if err != nil {
		return Owner{}, Answer{}, err
	}
	p := page{at: at, title: names[0] + " belongs to", most: r.most(mostList), rest: func([]line) string { return "" }}
	p.lines = []line{{text: fmt.Sprintf("%s (%s)", strings.Join(o.Names, ", "), o.Rule)}}
	return o, p.answer(), nil
}

// named returns whom CODEOWNERS names; nobody where there is no such file.
func (r *Reader) named(ctx context.Context, at Version, name string) (Owner, error) {
	for _, file := range ownerFiles {
		f, err := r.stat(ctx, at, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Owner{}, err
		}
		data, err := r.blob(ctx, at, f)
		if err != nil {
			return Owner{}, err
		}
		return match(file, data, name)
	}
	return Owner{}, nil
}

// match returns who owns a file by a CODEOWNERS file. As on GitHub, a line that is wrong is passed over.
func match(file string, data []byte, name string) (Owner, error) {
	rules := parseOwners(data)
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].RawPattern() == "/" {
			continue // it matches nothing, and the package does not expect it
		}
		ok, err := rules[i].Match(name)
		if err != nil || !ok {
			continue
		}
		o := Owner{Rule: fmt.Sprintf("%s, line %d", file, rules[i].LineNumber)}
		for _, owner := range rules[i].Owners {
			o.Names = append(o.Names, owner.String())
		}
		return o, nil
	}
	return Owner{}, nil
}

// parseOwners reads a CODEOWNERS file line by line.
func parseOwners(data []byte) (out codeowners.Ruleset) {
	for i, l := range bytes.Split(data, []byte("\n")) {
		rules, err := codeowners.ParseFile(bytes.NewReader(bytes.TrimSuffix(l, []byte("\r"))))
		if err != nil {
			continue
		}
		for _, rule := range rules {
			rule.LineNumber = i + 1
			out = append(out, rule)
		}
	}
	return out
}

// author returns who has changed a line last.
func (r *Reader) author(ctx context.Context, at Version, name string, line int) (Owner, error) {
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return Owner{}, err
	}
	type last struct {
		c     Change
		exact bool
	}
	found, err := remember(ctx, r.cache, key("last", at.Repo, at.SHA, name, fmt.Sprint(line)), func(last) int64 { return 300 },
		func(ctx context.Context) (l last, err error) {
			l.c, l.exact, err = from.last(ctx, at.SHA, name, line)
			return l, err
		})
	if err != nil || found.c.SHA == "" {
		return Owner{Names: []string{"nobody"}, Rule: "no change of the file is known"}, err
	}
	found.c.Repo, found.c.Subject = at.Repo, r.maskLine(found.c.Subject)
	what := "the file"
	if found.exact {
		what = fmt.Sprintf("line %d", line)
	}
	return Owner{Names: []string{found.c.Author}, Change: &found.c,
		Rule: fmt.Sprintf("has changed %s last, in %s of %s: %s", what, shortSHA(found.c.SHA), found.c.Time.Format("2006-01-02"), found.c.Subject)}, nil
}
