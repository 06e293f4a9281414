package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/decantdev/decant/apps/notebook/scan"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/wire"
)

// recordedSession returns the session with a file name, an id or the beginning of one; "last" is the newest.
func recordedSession(s *process.Process, name string) (sessionFile, error) {
	if _, err := os.Stat(s.Path(name)); err == nil {
		return sessionFile{path: name}, nil
	}
	home, err := userdir.Home(s.Getenv)
	if err != nil {
		return sessionFile{}, err
	}
	dir, err := s.Abs(".")
	if err != nil {
		return sessionFile{}, err
	}
	f, err := findSession(sessionHomes(s.Getenv, home), name, "", dir)
	if err != nil {
		err = exit.Input(err)
	}
	return f, err
}

// recordedSessions returns the files of the sessions that agents recorded in wanted folders and changed since a time.
func recordedSessions(s *process.Process, wanted func(dir string) bool, since time.Time) (out []sessionFile, err error) {
	home, err := userdir.Home(s.Getenv)
	if err != nil {
		return nil, err
	}
	homes := sessionHomes(s.Getenv, home)
	known := map[string]bool{}
	for i := range homes {
		files, err := homes[i].files()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.changed.Before(since) {
				continue
			}
			dir := f.directory()
			if _, ok := known[dir]; !ok {
				known[dir] = wanted(dir)
			}
			if known[dir] {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// readSessions reads files, as many at a time as there are processors. It reports files that cannot be read
// and leaves them out.
func readSessions(s *process.Process, files []sessionFile) (out []scan.Session) {
	read := make([]*scan.Session, len(files))
	var failed sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range files {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			one, err := readSession(s, &files[i])
			if err != nil {
				failed.Lock()
				defer failed.Unlock()
				s.Warn(err)
				return
			}
			read[i] = &one
		})
	}
	wg.Wait()
	for _, one := range read {
		if one != nil {
			out = append(out, *one)
		}
	}
	return out
}

// readSession reads one file.
func readSession(s *process.Process, f *sessionFile) (scan.Session, error) {
	doc, err := document(s, f.path, string(f.format))
	if err != nil {
		return scan.Session{}, err
	}
	if f.format == "" && !slices.Contains([]wire.Format{wire.ClaudeCode, wire.Codex, wire.Pi}, doc.Format) {
		return scan.Session{}, exit.Input(fmt.Errorf("%s: want an agent's session file, not a request of the %s format", f.path, doc.Format))
	}
	one := scan.Read(doc.Conversation)
	one.File, one.Project = f.path, f.directory()
	one.ID = cmp.Or(one.ID, f.id)
	return one, nil
}
