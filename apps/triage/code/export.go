package code

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// mostExported is how many bytes of a commit are written to a folder.
const mostExported = 512 << 20

// Export writes the files of a version to a folder that is there, as they are: nothing is masked. Symbolic links and other repositories are left
// out. It returns how many it has left out.
func (r *Reader) Export(ctx context.Context, at Version, dir string) (left int, err error) {
	_, from, err := r.lookup(at.Repo)
	if err != nil {
		return 0, err
	}
	t, err := r.tree(ctx, at)
	if err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	var all []file
	sum := int64(0)
	for _, f := range t.files {
		if f.link || !fs.ValidPath(f.name) || f.size > largest {
			left++
			continue
		}
		all, sum = append(all, f), sum+max(f.size, 0)
	}
	if sum > mostExported || t.cut {
		return left, fmt.Errorf("%s is too large to be tried: more than %d MB", at.short(), mostExported>>20)
	}
	err = from.blobs(ctx, at.SHA, all, func(f file, data []byte) error {
		if err := root.MkdirAll(path.Dir(f.name), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if f.program {
			mode = 0o755
		}
		return root.WriteFile(filepath.FromSlash(f.name), data, mode)
	})
	return left, err
}

// Programs reports of files of a version whether they are programs.
func (r *Reader) Programs(ctx context.Context, at Version) (map[string]bool, error) {
	t, err := r.tree(ctx, at)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, f := range t.files {
		if f.program {
			out[f.name] = true
		}
	}
	return out, nil
}

// A Touched is what a patch does to one file.
type Touched struct {
	Name  string
	Gone  bool
	Added []string // lines
}

// ReadPatch returns what a unified diff of git does, file by file.
func ReadPatch(text string) (out []Touched) {
	for _, f := range parsePatch(text) {
		t := Touched{Name: f.name, Gone: f.gone}
		for _, r := range f.rows {
			if r.kind == '+' {
				t.Added = append(t.Added, r.text)
			}
		}
		out = append(out, t)
		if f.old != "" && f.old != f.name {
			out = append(out, Touched{Name: f.old, Gone: true})
		}
	}
	return out
}
