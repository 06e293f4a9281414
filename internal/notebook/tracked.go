package notebook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tracked returns which of some files git has, by their names from the top of the working tree: they came with a commit, or go out with one.
// A folder that is a submodule is one of them. Without git there are none.
func (r repository) Tracked(ctx context.Context, names []string) (out []string, err error) {
	if _, err := os.Lstat(filepath.Join(r.Root, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var asked, tops []string
	for _, name := range names {
		for name = filepath.ToSlash(name); name != "."; name = path.Dir(name) {
			asked = append(asked, name)
		}
		tops = append(tops, ":(icase,literal)"+asked[len(asked)-1])
	}
	// Nothing that the settings of the repository name is run.
	args := []string{"-C", r.Root, "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "ls-files", "-z", "--"}
	c := exec.CommandContext(ctx, "git", append(args, slices.Compact(tops)...)...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GIT_") { // such as a hook of git has, for another repository or index
			c.Env = append(c.Env, e)
		}
	}
	c.Env = append(c.Env, "LC_ALL=C")
	var said bytes.Buffer
	c.Stderr = &said
	list, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) || bytes.Contains(said.Bytes(), []byte("not a git repository")) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask git which files of %s it has: %w: %s", r.Root, err, bytes.TrimSpace(said.Bytes()))
	}
	for has := range strings.SplitSeq(string(list), "\x00") {
		same := func(name string) bool { return strings.EqualFold(name, has) } // on some systems it is the same file
		if slices.ContainsFunc(asked, same) {
			out = append(out, has)
		}
	}
	return out, nil
}
