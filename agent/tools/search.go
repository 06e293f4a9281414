package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/decantdev/decant/agent"
)

// passed are folders that a search does not go into unless it begins in them: nobody looks for anything there.
var passed = []string{".git", "node_modules"}

// A found is a file that a search has come to.
type found struct {
	name string // in the project, with slashes
	size int64
	time time.Time
}

// walk calls f with the files below a folder, or with the file itself. Symbolic links are not followed.
func (f *files) walk(ctx context.Context, given string, do func(found) error) error {
	name, err := f.name(cmp.Or(given, "."))
	if err != nil {
		return err
	}
	top := filepath.ToSlash(name)
	err = fs.WalkDir(f.root.FS(), top, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && p == top:
			return err
		case err != nil:
			return nil // a folder that cannot be read is passed over
		case d.IsDir() && p != top && (slices.Contains(passed, d.Name()) || f.hides(p)):
			return fs.SkipDir
		case !d.Type().IsRegular() || f.hides(p):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // it is gone
		}
		return do(found{name: p, size: info.Size(), time: info.ModTime()})
	})
	if err == nil || err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	return plain(cmp.Or(given, "."), err)
}

// wanted returns whether a file below a folder is one that a pattern names.
func wanted(pattern string) (func(top, name string) bool, error) {
	pattern = path.Clean(filepath.ToSlash(pattern))
	switch {
	case !doublestar.ValidatePattern(pattern):
		return nil, fmt.Errorf("%q is not a pattern such as **/*.go", pattern)
	case pattern == ".." || strings.HasPrefix(pattern, "../"):
		return nil, errors.New("the pattern leads out of the folder: give the folder as path")
	}
	return func(top, name string) bool {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
		return doublestar.MatchUnvalidated(pattern, cmp.Or(rel, path.Base(name)))
	}, nil
}

type globArgs struct {
	Pattern   string `json:"pattern" jsonschema:"such as **/*.go or cmd/*/main.go"`
	Path      string `json:"path,omitzero" jsonschema:"folder to look in; the project unless told"`
	HeadLimit int    `json:"head_limit,omitzero" jsonschema:"how many files; 200 unless told"`
	Offset    int    `json:"offset,omitzero" jsonschema:"how many files to leave out at the beginning"`
}

func (s *Set) globTool() agent.Tool {
	t := agent.Func("glob", "Finds files of the project by their names, those that were changed last first. Folders .git and node_modules are left out unless path begins in them.",
		func(ctx context.Context, _ *agent.Call, a globArgs) (agent.Result, error) { return s.glob(ctx, a) })
	t.ReadOnly = true
	return t
}

func (s *Set) glob(ctx context.Context, a globArgs) (r agent.Result, err error) {
	if filepath.IsAbs(a.Pattern) {
		a.Pattern = s.files.inside(a.Pattern)
	}
	match, err := wanted(a.Pattern)
	if err != nil {
		return r, err
	}
	top, err := s.files.name(cmp.Or(a.Path, "."))
	if err != nil {
		return r, err
	}
	if top = filepath.ToSlash(top); top == "." {
		top = ""
	}
	var all []found
	err = s.files.walk(ctx, a.Path, func(f found) error {
		if match(top, f.name) {
			all = append(all, f)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(b.time.Compare(a.time), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	r.Text = part(names, a.Offset, cmp.Or(a.HeadLimit, 200), "files")
	r.Rest = "ask with offset and head_limit, or for a narrower pattern"
	return r, nil
}

// part returns a part of a list, and says how to get the rest.
func part(all []string, offset, limit int, what string) string {
	offset = min(max(offset, 0), len(all))
	end := offset + min(max(limit, 1), len(all)-offset)
	switch {
	case len(all) == 0:
		return "(no " + what + ")"
	case offset == end:
		return fmt.Sprintf("(there are only %d %s)", len(all), what)
	}
	text := strings.Join(all[offset:end], "\n")
	if end < len(all) {
		text += fmt.Sprintf("\n(%d of %d %s: go on with offset %d.)", end-offset, len(all), what, end)
	}
	return text
}
