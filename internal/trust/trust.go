// Package trust keeps what a user has said yes to: files that name programs, addresses, credentials or other files to
// use with the user's rights.
//
// Such a file may be somebody else's words, as those of a repository are. So a yes is for one file at its place with
// all that it says. What it says later needs another one.
package trust

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/decantdev/decant/internal/plainfile"
)

// most is how many bytes a file may have.
const most = 1 << 20

// A File is a file as it was read. What is trusted is Data: whoever uses the file uses that, and does not read it
// again.
type File struct {
	Name string // absolute, links followed
	Data []byte
}

// Read reads a file. An error that wraps fs.ErrNotExist means that there is none.
func Read(name string) (*File, error) {
	data, err := plainfile.Read(name, most)
	if err != nil {
		return nil, err
	}
	real, err := followed(name)
	return &File{Name: real, Data: data}, err
}

// followed returns the absolute name of what is there, links followed.
func followed(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// A Book is a folder of the user in which each yes is kept.
type Book struct{ Dir string }

// Has reports whether the user has said yes to a file.
func (b Book) Has(f *File) bool {
	_, err := os.Stat(b.page(f))
	return err == nil
}

// Add keeps that the user has said yes to a file.
func (b Book) Add(f *File) error {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(b.page(f), []byte(f.Name+"\n"), 0o600)
}

func (b Book) page(f *File) string { return filepath.Join(b.Dir, sum("", f)) }

// Hash returns what stands for files with all that they say. They are named from a folder on, so that it is the same
// for each copy of the folder.
func Hash(dir string, files ...*File) (string, error) {
	dir, err := followed(dir)
	return sum(dir, files...), err
}

func sum(dir string, files ...*File) string {
	h := sha256.New()
	for _, f := range files {
		name := f.Name
		if rel, err := filepath.Rel(dir, name); err == nil {
			name = filepath.ToSlash(rel)
		}
		fmt.Fprintf(h, "%q %d\n", name, len(f.Data))
		h.Write(f.Data)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Repository returns the top of the repository that a file or a folder lies in, by its name or by where its links lead;
// empty: it lies in none. What it says can change by a pull, without the user.
func Repository(name string) string {
	named, err := filepath.Abs(name)
	if err != nil {
		named = name
	}
	if top := topOf(named); top != "" {
		return top
	}
	if real, err := filepath.EvalSymlinks(named); err == nil {
		return topOf(real)
	}
	return ""
}

func topOf(at string) string {
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
