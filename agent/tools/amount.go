package tools

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// An Amount is so many bytes, in so many files. Folders and links count as files. As a limit, zero means that there is none.
type Amount struct {
	Bytes int64
	Files int
}

// mostDepth is how deep folders may lie in one another where there is a limit: to measure what lies deeper takes long.
const mostDepth = 100

// ErrTooMuch means that a folder holds more than it may.
var ErrTooMuch = errors.New("there is no more room")

// Measure returns what lies below a folder, by the lengths of its files: those of a sparse file count in full. It stops where that is
// more than most. A folder that nobody may read is made readable first.
func Measure(root *os.Root, most Amount) (sum Amount, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && e != nil && e.IsDir() {
			err = root.Chmod(name, 0o700) // what is in it is counted the next time
			return errors.Join(err, measured(root, name, &sum, most))
		}
		if errors.Is(err, fs.ErrNotExist) || err == nil && name == "." {
			return nil
		}
		if err != nil {
			return err
		}
		return sum.add(name, e, most)
	})
	return sum, err
}

// measured adds what is in a folder that could not be read at first.
func measured(root *os.Root, name string, sum *Amount, most Amount) error {
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if err := sum.add(below, e, most); err != nil {
			return err
		}
		if e.IsDir() {
			if err := root.Chmod(below, 0o700); err != nil {
				return err
			}
			if err := measured(root, below, sum, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// add counts a file.
func (a *Amount) add(name string, e fs.DirEntry, most Amount) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if a.Files++; info.Mode().IsRegular() {
		a.Bytes += info.Size()
	}
	if most != (Amount{}) && strings.Count(name, "/") >= mostDepth {
		return fmt.Errorf("%w: folders lie more than %d deep in one another", ErrTooMuch, mostDepth)
	}
	return a.Within(most)
}

// Within returns an error that wraps ErrTooMuch where the amount is more than a limit.
func (a Amount) Within(most Amount) error {
	switch {
	case most.Bytes > 0 && a.Bytes > most.Bytes:
		return fmt.Errorf("%w: the files have more than %d bytes; remove some", ErrTooMuch, most.Bytes)
	case most.Files > 0 && a.Files > most.Files:
		return fmt.Errorf("%w: there are more than %d files and folders; remove some", ErrTooMuch, most.Files)
	}
	return nil
}

// fits says why a file cannot be given a content: there would be more of everything than there may be.
func (f *files) fits(name string, c content) error {
	if f.most == (Amount{}) {
		return nil
	}
	sum, err := Measure(f.root, f.most)
	if err != nil {
		return err
	}
	for at := name; at != "."; at = filepath.Dir(at) {
		info, err := f.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			sum.Files++
		case err == nil && at == name:
			sum.Bytes -= info.Size()
		}
	}
	if strings.Count(filepath.ToSlash(name), "/") >= mostDepth {
		return fmt.Errorf("%w: folders lie more than %d deep in one another", ErrTooMuch, mostDepth)
	}
	sum.Bytes += int64(len(c.data))
	return sum.Within(f.most)
}

// over says that commands have left more than there may be; empty: they have not. What was too much before they began may stay for
// them: else nothing could be removed any more.
func (s *shell) over(before Amount) string {
	most := s.files.most
	if most == (Amount{}) {
		return ""
	}
	if most.Bytes > 0 {
		most.Bytes = max(most.Bytes, before.Bytes)
	}
	if most.Files > 0 {
		most.Files = max(most.Files, before.Files)
	}
	if _, err := s.holds(most); err != nil {
		return err.Error()
	}
	return ""
}

// holds returns what project and temporary folder hold together.
func (s *shell) holds(most Amount) (sum Amount, err error) {
	if sum, err = Measure(s.files.root, most); err != nil {
		return sum, err
	}
	temp, err := os.OpenRoot(s.plan.Temp)
	if err != nil {
		return sum, err
	}
	defer temp.Close()
	more, err := Measure(temp, most)
	sum.Bytes, sum.Files = sum.Bytes+more.Bytes, sum.Files+more.Files
	return sum, errors.Join(err, sum.Within(most))
}

// ulimit returns the commands by which what commands start is limited: the lengths of files, files open at once, and processes, so that they
// do not come faster than they are counted. Nobody counts those of root.
func (s *shell) ulimit() string {
	most := cmp.Or(s.files.most.Bytes, mostWritten)
	if filepath.Base(s.path) != "bash" {
		return fmt.Sprintf("ulimit -c 0; ulimit -f %d || exit 126; ulimit -n %d 2>/dev/null; ", (most+511)/512, mostOpen)
	}
	return fmt.Sprintf("ulimit -c 0; ulimit -f %d || exit 126; ulimit -n %d 2>/dev/null; ulimit -u %d 2>/dev/null; ",
		(most+1023)/1024, mostOpen, tasks()+2*cmp.Or(s.opts.Processes, defaultProcesses))
}
