package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/decantdev/decant/internal/trust"
)

// A placeholder stands for something that is not there, so that commands find it there already and cannot make it. Commands that run at the
// same time, of this process or of another one, share it, and the last of them removes it. It is an empty folder, which git and most others
// pass over, or a file in git's folder that says what holds without it.
type placeholder struct {
	name string
	file *os.File // locked while it is in use
}

// placehold puts placeholders where a project has none of what programs run or obey. What it returns removes them.
func placehold(dir string) (remove func()) {
	var all []placeholder
	put := func(name string, text *string) {
		if p, err := openPlaceholder(filepath.Join(dir, name), text); err == nil {
			all = append(all, p)
		}
	}
	for _, name := range trust.Folders {
		put(name, nil)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git", "HEAD")); err == nil {
		here, empty := ".\n", ""
		put(".git/hooks", nil)
		put(".git/modules", nil)
		put(".git/commondir", &here)
		put(".git/config.worktree", &empty)
	}
	return func() {
		for _, p := range all {
			p.close()
		}
	}
}

// openPlaceholder makes a placeholder or joins those who use it. It fails where something else is there.
func openPlaceholder(name string, text *string) (p placeholder, err error) {
	for range 100 { // another one may be removed meanwhile
		if text == nil {
			err = os.Mkdir(name, 0o755)
		} else {
			err = makeFile(name, *text)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return p, err
		}
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&os.ModeSymlink != 0 {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if isPlaceholder(f, text) && syscall.Flock(int(f.Fd()), syscall.LOCK_SH) == nil {
			mine, err1 := f.Stat()
			now, err2 := os.Lstat(name)
			if err1 == nil && err2 == nil && os.SameFile(mine, now) {
				return placeholder{name, f}, nil
			}
			f.Close()
			continue
		}
		f.Close()
		return p, fs.ErrExist
	}
	return p, fs.ErrExist
}

func makeFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// isPlaceholder reports whether something is an empty folder, or a file with a text.
func isPlaceholder(f *os.File, text *string) bool {
	if text == nil {
		names, err := f.Readdirnames(1)
		return len(names) == 0 && !errors.Is(err, syscall.ENOTDIR)
	}
	b := make([]byte, len(*text)+1)
	n, _ := f.ReadAt(b, 0)
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && string(b[:n]) == *text
}

// close removes a placeholder that nobody else uses.
func (p placeholder) close() {
	if syscall.Flock(int(p.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.Remove(p.name) // a folder with something in it stays
	}
	p.file.Close()
}
