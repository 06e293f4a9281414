package trust

import (
	"fmt"
	"path/filepath"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
)

// Yeses returns where each yes of the user is kept.
func Yeses(s *process.Process) (Book, error) {
	home, err := userdir.Config(s.Getenv)
	return Book{Dir: filepath.Join(home, "trusted")}, err
}

// Own reports whether a file that the user names is the user's own: one of the user's settings, or one that lies in no
// repository. What lies in one is the repository's, whoever names it.
func Own(s *process.Process, name string) bool {
	if Repository(name) == "" {
		return true
	}
	home, err := userdir.Config(s.Getenv)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(home, real)
	return err == nil && filepath.IsLocal(rel)
}

// AddWritten keeps a yes to a file that the user has just had written.
func AddWritten(s *process.Process, name string) error {
	f, err := Read(name)
	if err != nil {
		return err
	}
	yeses, err := Yeses(s)
	if err != nil {
		return err
	}
	return yeses.Add(f)
}

// Ask returns an error unless a file is the user's own, or the user has said yes to what it says, or does so now at
// the terminal. path is what decant trust takes for it.
func Ask(s *process.Process, f *File, own bool, path string) error {
	if own {
		return nil
	}
	yeses, err := Yeses(s)
	if err != nil || yeses.Has(f) {
		return err
	}
	if all, err := s.Abs(path); err == nil { // it is read in a message of cron, too
		path = all
	}
	const what = "%s names programs, addresses, files or models to use with your rights and at your cost"
	if s.Asks() && s.Confirm(fmt.Sprintf(what+". Have you looked at it, and do you trust it as it is now?", f.Name)) {
		return yeses.Add(f)
	}
	return exit.Input(fmt.Errorf(what+", and you have not said yes to what it says now: look at it, then say: decant trust %s", f.Name, process.ShellWord(path)))
}
