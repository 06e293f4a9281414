// Package workspace keeps folders for the sessions of a service: each session has one of its own, with a name that nobody can guess,
// within limits. Agents work in it with the tools of agent/tools; its user lists, gets, puts and removes files.
//
// Folders lie below one of their own for each service, so that several services may share a place. In a folder are "files", which is what
// agent and user see, and "kept", which is what files were before they were changed. Whoever keeps the sessions also keeps the names of their
// folders, and writes a name down before the folder is made: what no session names is left over, and Collect removes it.
package workspace

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
)

// Options configures a Store. Dir and Service are required.
type Options struct {
	Dir     string       // where the folders of all services lie; it is made if there is none
	Service string       // whose folders they are: a name of a folder
	Shell   bool         // agents may run commands, which bubblewrap confines
	Most    tools.Amount // that one session may hold; zero: 256 MB in 10,000 files
	Hide    []string     // further files that commands must not read, absolute
}

const (
	defaultBytes = 256 << 20
	defaultFiles = 10_000
)

// What is in a folder.
const (
	filesName = "files"
	keptName  = "kept"
)

// A Store has the folders of a service. It is safe for concurrent use, as long as a folder is not removed while it is used.
type Store struct {
	opts  Options
	dir   string       // of this service
	tools []agent.Tool // as they are in any folder
}

// Open returns the folders of a service. An error names the option that is wrong, or says that bubblewrap cannot confine commands where
// Options.Shell wants them.
func Open(o Options) (*Store, error) {
	o.Most.Bytes = cmp.Or(o.Most.Bytes, defaultBytes)
	o.Most.Files = cmp.Or(o.Most.Files, defaultFiles)
	if o.Dir == "" || !filepath.IsLocal(o.Service) || strings.ContainsAny(o.Service, `/\`) {
		return nil, errors.New("workspace: Options.Dir and Options.Service are required")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: Options.Dir: %w", err)
	}
	s := &Store{opts: o, dir: filepath.Join(dir, "decant-"+o.Service)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("workspace: Options.Dir: %w", err)
	}
	if s.dir, err = filepath.EvalSymlinks(s.dir); err != nil {
		return nil, fmt.Errorf("workspace: Options.Dir: %w", err)
	}
	if err := os.Chmod(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("workspace: Options.Dir: %w", err)
	}
	return s, s.try()
}

// try finds out whether agents can work in a folder here.
func (s *Store) try() (err error) {
	name := NewName()
	defer func() { err = errors.Join(err, s.Remove(name)) }()
	set, err := s.Tools(name, s.opts.Shell)
	if err != nil {
		return err
	}
	if s.opts.Shell && set.Confined() != "bubblewrap" { // Landlock hides neither processes nor their arguments, and lets modes of files be changed
		err = errors.New("workspace: commands of several users need namespaces of their own, which bubblewrap makes: install it, or do without commands; docs/RUNNING.md says how an image has it")
	}
	s.tools = set.Tools()
	return errors.Join(err, set.Close())
}

// Describe returns the tools as Tools has them, for models to be told of. They cannot be called.
func (s *Store) Describe() []agent.Tool { return slices.Clone(s.tools) }

// Shell reports whether agents may run commands.
func (s *Store) Shell() bool { return s.opts.Shell }

// Most returns what one session may hold.
func (s *Store) Most() tools.Amount { return s.opts.Most }

// NewName returns a name for a folder that is not made yet.
func NewName() string { return rand.Text() }

// at returns where a folder lies.
func (s *Store) at(name string) string { return filepath.Join(s.dir, name) }

// Files returns where the files of a folder lie. The folder is made if there is none.
func (s *Store) Files(name string) (string, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\.`) {
		return "", fmt.Errorf("workspace: %q is no name of a folder", name)
	}
	dir := filepath.Join(s.at(name), filesName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return dir, nil
}

// Tools returns the tools for a folder, which is made if there is none: those of files, and with shell the one of commands. The caller closes them.
func (s *Store) Tools(name string, shell bool) (*tools.Set, error) {
	dir, err := s.Files(name)
	if err != nil {
		return nil, err
	}
	return tools.New(tools.Options{
		Dir: dir, Keep: filepath.Join(s.at(name), keptName), Most: s.opts.Most, Fetch: tools.Fetch{Off: true},
		Shell: tools.Shell{Off: !shell || !s.opts.Shell, Apart: true, Env: environment(dir), Hide: append([]string{s.dir}, s.opts.Hide...)},
	})
}

// environment returns that of commands: nothing of what the service has.
func environment(home string) []string {
	path := cmp.Or(os.Getenv("PATH"), "/usr/local/bin:/usr/bin:/bin")
	return []string{"PATH=" + path, "HOME=" + home, "LANG=C.UTF-8"}
}

// Remove removes a folder with all that is in it. That there is none is no error.
func (s *Store) Remove(name string) error {
	if name == "" || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("workspace: %q is no name of a folder", name)
	}
	err := os.RemoveAll(s.at(name))
	if errors.Is(err, fs.ErrPermission) { // a command has taken its own rights away
		err = errors.Join(unlock(s.at(name)), os.RemoveAll(s.at(name)))
	}
	if err != nil {
		return fmt.Errorf("workspace: remove folder %s: %w", name, err)
	}
	return nil
}

// unlock makes folders readable.
func unlock(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = tools.Measure(root, tools.Amount{})
	return errors.Join(err, fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = root.Chmod(name, 0o700)
		}
		return err
	}))
}

// Collect removes folders that no session names. names returns those that sessions name; it is asked after the folders were listed, so that
// one that is made meanwhile stays.
func (s *Store) Collect(names func() (map[string]bool, error)) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	used, err := names()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !used[e.Name()] {
			err = errors.Join(err, s.Remove(e.Name()))
		}
	}
	return err
}
