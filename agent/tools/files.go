package tools

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// largest is how many bytes a file may have that is held as a whole.
const largest = 8 << 20

// A files is the project, which is all that the tools of files see.
type files struct {
	root   *os.Root
	dir    string   // as it was given, absolute
	real   string   // where its symbolic links lead
	hidden []string // patterns of what nobody reads
	most   Amount   // that there may be
}

// protected are the folders that the tools of files do not write to: what stands in them is run, or says what the agent may do.
var protected = []string{".git", ".decant"}

// openFiles opens a project.
func openFiles(dir string, hidden []string, most Amount) (*files, error) {
	if dir == "" {
		return nil, errors.New("tools: Options.Dir is missing")
	}
	f := &files{hidden: hidden, most: most}
	var err error
	if f.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("tools: Options.Dir: %w", err)
	}
	if f.real, err = filepath.EvalSymlinks(f.dir); err != nil {
		return nil, fmt.Errorf("tools: Options.Dir: %w", err)
	}
	for _, p := range []string{"/", "/proc", "/sys", "/dev"} {
		if f.real == p || p != "/" && strings.HasPrefix(f.real, p+"/") {
			return nil, fmt.Errorf("tools: Options.Dir must be the folder of a project: %s", f.real)
		}
	}
	for _, p := range hidden {
		if !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("tools: Options.Hidden: %q is not a pattern such as **/.env", p)
		}
	}
	if f.root, err = os.OpenRoot(f.real); err != nil {
		return nil, fmt.Errorf("tools: Options.Dir: %w", err)
	}
	return f, nil
}

// name returns what a path that the model gave is called in the project, its symbolic links followed. Whatever happens to
// links afterwards, the root lets nothing out.
func (f *files) name(given string) (string, error) {
	if given == "" || strings.ContainsRune(given, 0) {
		return "", fmt.Errorf("%q is not a path", given)
	}
	name := filepath.Clean(filepath.FromSlash(given))
	if filepath.IsAbs(name) {
		name = f.inside(name)
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s is not in the project, which is %s; nothing else can be reached", given, f.dir)
	}
	name, err := f.follow(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", given, err)
	}
	if f.hides(name) {
		return "", fmt.Errorf("%s must not be read", given)
	}
	return name, nil
}

// inside returns an absolute path as it is called in the project, if it lies there.
func (f *files) inside(name string) string {
	for _, dir := range []string{f.dir, f.real} {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// follow follows the symbolic links of a name as far as it exists.
func (f *files) follow(name string) (string, error) {
	for at, rest := name, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		real, err := filepath.EvalSymlinks(filepath.Join(f.real, at))
		if err == nil {
			rel, err := filepath.Rel(f.real, filepath.Join(real, rest))
			if err != nil || !filepath.IsLocal(rel) {
				return "", errors.New("it is a symbolic link that leads out of the project")
			}
			return rel, nil
		}
		if _, err := f.root.Lstat(at); err == nil {
			return "", errors.New("it is a symbolic link that leads nowhere")
		}
		if at == "." {
			return "", err
		}
	}
}

// hides reports whether a file is one that nobody reads. Case does not matter: on some systems it is the same file.
func (f *files) hides(name string) bool {
	name = strings.ToLower(filepath.ToSlash(name))
	for _, p := range f.hidden {
		if doublestar.MatchUnvalidated(strings.ToLower(p), name) {
			return true
		}
	}
	return false
}

// open opens a file to be read. What is not a file on a disk is refused: to read a pipe may take for ever, to open a device may
// already do something.
func (f *files) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, nil, plain(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, plain(name, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = regular(name, info) // it may have been replaced meanwhile
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// regular says why something cannot be read as a file.
func regular(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a folder: glob lists what is in it", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file but %s", name, info.Mode().Type())
	}
	return nil
}

// plain says what went wrong with a file, in words that name it as the model does.
func plain(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", name)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// A content is what a file holds, or that there is none.
type content struct {
	data   []byte
	mode   fs.FileMode // 0: that of a new file
	exists bool
}

// load reads a file as a whole. That there is none is no error.
func (f *files) load(name string) (c content, err error) {
	if _, err := f.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	file, info, err := f.open(name)
	if err != nil {
		return c, err
	}
	defer file.Close()
	if info.Size() > largest {
		return c, fmt.Errorf("%s has %d bytes, more than the %d that can be changed here; use bash", name, info.Size(), largest)
	}
	data, err := io.ReadAll(io.LimitReader(file, largest+1))
	if err != nil {
		return c, plain(name, err)
	}
	if len(data) > largest {
		return c, fmt.Errorf("%s grows while it is read", name)
	}
	return content{data: data, mode: info.Mode().Perm(), exists: true}, nil
}

// store makes a content what a file holds, at once: whoever reads the file sees the old content or the new one.
func (f *files) store(name string, c content) error {
	if !c.exists {
		return f.root.Remove(name)
	}
	if err := f.fits(name, c); err != nil {
		return err
	}
	if err := f.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return plain(name, err)
	}
	temp := filepath.Join(filepath.Dir(name), ".decant-"+rand.Text())
	mode := fs.FileMode(0o666) // less what the umask takes
	if c.mode != 0 {
		mode = 0o600 // until it has its own
	}
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return plain(name, err)
	}
	_, err = file.Write(c.data)
	if c.mode != 0 {
		err = errors.Join(err, file.Chmod(c.mode))
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(plain(name, err), f.root.Remove(temp))
	}
	return nil
}

// writable says why a file must not be written to.
func writable(name string) error {
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		for _, p := range protected {
			if strings.EqualFold(part, p) {
				return fmt.Errorf("%s lies in %s, which is not written to", name, p)
			}
		}
	}
	return nil
}

// binary reports whether the beginning of a file is not text.
func binary(head []byte) bool { return bytes.IndexByte(head[:min(len(head), 8000)], 0) >= 0 }
