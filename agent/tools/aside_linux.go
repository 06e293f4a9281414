package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/decantdev/decant/internal/trust"
)

// mostFolders is how many folders of a project are looked at.
const mostFolders = 200_000

// An aside puts aside what commands have made of what git, editors and agents run or obey, and what no walls could keep them from making:
// such files at the top of the project, and repositories anywhere in it. Whoever wants one names it back after a look at it.
type aside struct {
	top  string
	dirs map[string]folder
	had  map[string]bool // what was there before the command
}

// A folder is what was seen in a folder. It is read anew when it has changed.
type folder struct {
	changed int64 // nanoseconds; 0: it may have changed since without another time
	subs    []string
	holds   []string // names in it by which git takes it for a repository
}

// before looks at what is there before a command.
func (a *aside) before() { a.had, _ = a.find() }

// after puts aside what is new, and says so.
func (a *aside) after() (said string) {
	now, err := a.find()
	var moved []string
	for name := range now {
		if to := name + ".new"; !a.had[name] && rename(filepath.Join(a.top, name), filepath.Join(a.top, to)) {
			moved = append(moved, name)
		}
	}
	slices.Sort(moved)
	if len(moved) > 0 {
		said = fmt.Sprintf("the command has made %s, which git, an editor or an agent would run or obey, so .new was put behind its name", strings.Join(moved, ", "))
	}
	if err != nil {
		said = strings.Join(append(slices.DeleteFunc([]string{said}, func(s string) bool { return s == "" }), err.Error()), "; ")
	}
	return said
}

// rename renames a file, also where one with the new name is there.
func rename(from, to string) bool {
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); err != nil {
			return os.Rename(from, to) == nil
		}
		to = fmt.Sprintf("%s.new%d", from, i)
	}
}

// find returns the names of what is run or obeyed, from the top of the project on.
func (a *aside) find() (map[string]bool, error) {
	found := map[string]bool{}
	for _, name := range slices.Concat(trust.Folders, trust.Files) {
		if a.filled(name) {
			found[name] = true
		}
	}
	seen := make(map[string]folder, len(a.dirs))
	defer func() { a.dirs = seen }()
	for next := []string{"."}; len(next) > 0; {
		dir := next[len(next)-1]
		next = next[:len(next)-1]
		if len(seen) >= mostFolders {
			return found, fmt.Errorf("the project has more than %d folders, so not all were searched for repositories that the command has made", mostFolders)
		}
		f := a.look(dir)
		seen[dir] = f
		for _, name := range f.holds {
			if name = filepath.Join(dir, name); a.filled(name) {
				found[name] = true
			}
		}
		for _, sub := range f.subs {
			next = append(next, filepath.Join(dir, sub))
		}
	}
	return found, nil
}

// filled reports whether something is there, and is no empty folder: that one harms nobody, and may be a placeholder of another command.
func (a *aside) filled(name string) bool {
	name = filepath.Join(a.top, name)
	info, err := os.Lstat(name)
	return err == nil && !(info.IsDir() && isEmpty(name))
}

// look returns what is in a folder.
func (a *aside) look(dir string) (f folder) {
	info, err := os.Lstat(filepath.Join(a.top, dir))
	if err != nil {
		return f
	}
	changed := int64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		changed = s.Ctim.Nano()
	}
	if old, ok := a.dirs[dir]; ok && old.changed != 0 && old.changed == changed {
		return old
	}
	if time.Since(time.Unix(0, changed)) < time.Second { // the clock of files is coarse
		changed = 0
	}
	entries, _ := os.ReadDir(filepath.Join(a.top, dir))
	f.changed = changed
	parts := 0
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.EqualFold(name, ".git"):
			f.holds = append(f.holds, name)
			continue
		case name == "HEAD" || name == "objects" || name == "refs" || name == "commondir":
			parts++
		}
		if e.IsDir() {
			f.subs = append(f.subs, e.Name())
		}
	}
	if parts >= 2 && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "HEAD" }) {
		f.holds = append(f.holds, "HEAD") // git takes a folder with these for its own
	}
	return f
}
